import FormStreamTestSupport
import Testing

/// What cancelled requests leave behind.
@Suite struct LeftoverTests {
  @Test func `a thousand cancelled requests leave no thread, no descriptor and no memory`() throws {
    let rounds = 1000
    let said = try run("formstream-cancel-probe", ["\(rounds)"])
    #expect(said.exit == 0, "\(said.stderr)")
    var figures: [Substring: [Int]] = [:]
    for line in said.output.split(separator: "\n") {
      let words = line.split(separator: " ")
      figures[words[0]] = words.dropFirst().compactMap { Int($0) }
    }
    let outcomes = try #require(figures["outcomes"])
    #expect(outcomes.reduce(0, +) == rounds)
    let sources = try #require(figures["sources"])
    #expect(sources.count == 2)
    #expect(sources[0] > 0)
    #expect(sources[0] == sources[1], "each source that was opened is closed")
    for name in ["threads", "descriptors"] {
      let (before, after) = try #require(
        figures[name[...]].flatMap { $0.count == 2 ? ($0[0], $0[1]) : nil })
      #expect(after <= before, "\(name): \(said.output)")
    }
    for thread in ["net", "work"] {
      #expect(!said.output.contains("formstream-\(thread)"), "a thread is left: \(said.output)")
    }
    // One leaked buffer in each round would be 128 MiB or more. The rest is the heap's own.
    // A sanitizer keeps freed memory.
    if sanitizer != nil { return }
    let resident = try #require(figures["resident"])
    #expect(resident[1] - resident[0] < 16 * 1024, "\(said.output)")
  }
}
