import FormStreamTestSupport
import Testing

/// Every integer, duration and range of the public API with its extreme values, in a process of its own, so that a trap ends
/// that process and not the tests.
@Suite(.timeLimit(.minutes(5))) struct ExtremeValueTests {
  /// `FileRange(Int64.min..<0)` and a fixed delay of `Int64.max` seconds ended the process; so did a dozen others.
  @Test func `no value of a setting ends the process`() async throws {
    var (next, cells) = (0, 0)
    var traps: [String] = []
    while true {
      let number = next
      let run: Invocation = try await onNewThread { () throws -> Invocation in
        try FormStreamTestSupport.run(
          "formstream-extremes-probe", ["\(number)"],
          environment: ["SWIFT_BACKTRACE": "enable=no"])
      }
      let lines = run.output.split(separator: "\n")
      if let last = lines.last, last.hasPrefix("done ") {
        cells = Int(last.dropFirst(5)) ?? 0
        break
      }
      let cell = try #require(lines.last { !$0.hasPrefix(" ") }, "\(run.stderr)")
      traps.append("\(cell): signal \(run.signal ?? 0)")
      next = try #require(cell.split(separator: " ").first.flatMap { Int($0) }) + 1
    }
    #expect(traps.isEmpty, "\(traps.joined(separator: "\n"))")
    #expect(cells > 1500)
  }
}
