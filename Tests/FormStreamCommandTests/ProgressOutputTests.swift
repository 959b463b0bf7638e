import FormStreamCommand
import Testing

@Suite struct ProgressOutputTests {
  @Test(
    arguments: [
      (.auto, true, false, .bar(isColored: true)), (.auto, false, false, .heartbeat),
      (.auto, true, true, .silence), (.auto, false, true, .silence),
      (.bar, true, true, .bar(isColored: true)), (.bar, false, false, .heartbeat),
      (.json, true, true, .records), (.json, false, false, .records),
      (.none, true, false, .silence), (.none, false, false, .silence),
    ] as [(ProgressMode, Bool, Bool, ProgressOutput)])
  func `the output depends on --progress, the terminal and -q`(
    _ mode: ProgressMode, _ isTerminal: Bool, _ isQuiet: Bool, _ style: ProgressOutput
  ) {
    #expect(
      ProgressOutput(mode, isTerminal: isTerminal, isQuiet: isQuiet) { ["TERM": "xterm"][$0] }
        == style)
  }

  @Test(
    arguments: [
      (.auto, ["TERM": "dumb"], .heartbeat), (.auto, [:], .heartbeat),
      (.bar, ["TERM": "dumb"], .bar(isColored: true)),
      (.auto, ["TERM": "xterm", "NO_COLOR": "1"], .bar(isColored: false)),
      (.auto, ["TERM": "xterm", "NO_COLOR": ""], .bar(isColored: true)),
    ] as [(ProgressMode, [String: String], ProgressOutput)])
  func `TERM and NO_COLOR change the output`(
    _ mode: ProgressMode, _ environment: [String: String], _ style: ProgressOutput
  ) {
    #expect(
      ProgressOutput(mode, isTerminal: true, isQuiet: false) { environment[$0] } == style)
  }
}
