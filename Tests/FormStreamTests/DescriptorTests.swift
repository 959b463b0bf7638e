import FormStream
import FormStreamTestSupport
import Testing

/// What a form does with its files, observed with strace: `formstream-drain-probe`.
@Suite struct DescriptorTests {
  private let directory: TemporaryDirectory
  private let files: [String]
  init() throws {
    directory = try TemporaryDirectory()
    files = ["one", "two", "three"].map(directory.path)
    try directory.write("one", noise(700))
    try directory.write("two", noise(9000))
    try directory.write("three", noise(5000))
  }

  struct Sight {
    let trace: SystemCallTrace
    let left: Int?
    let bytes: Int?
  }

  private func watch(chunk: Int, _ mode: String) throws -> Sight {
    let log = directory.path("trace")
    let invocation = try run(
      program: "/usr/bin/strace",
      [
        "-f", "-qq", "-a", "1", "-o", log, "-s", "0", "-e", "trace=openat,read,pread64,close", "-e",
        "signal=none", builtBinary("formstream-drain-probe"), "chunk=\(chunk)", mode,
      ] + files, in: directory, environment: underStrace)
    #expect(invocation.exit == 0, "\(invocation.stderr)")
    let figures = invocation.output.split(separator: "\n").map { line in
      line.split(separator: " ").last.flatMap { Int($0) }
    }
    try #require(figures.count == 2, "\(invocation.output)")
    let text = try Form { Part.file("a", LocalPath(log)) }.layout()
    let trace = String(decoding: try text.bytes(limit: 1 << 26), as: UTF8.self)
    return Sight(
      trace: SystemCallTrace(trace, files: files), left: figures[0], bytes: figures[1])
  }

  @Test(arguments: [1, 7, 4096])
  func `a form reads no more than it is asked for, one file at a time`(chunk: Int)
    throws
  {
    let sight = try watch(chunk: chunk, "end")
    #expect(sight.trace.opens == 3)
    #expect(sight.trace.mostOpen == 1)
    #expect(sight.trace.leftOpen == [])
    #expect(sight.left == 0)
    #expect(!sight.trace.readSizes.isEmpty)
    #expect(sight.trace.readSizes.allSatisfy { (1...chunk).contains($0) })
    #expect(sight.trace.readSizes.count >= 14_700 / chunk)
    #expect(sight.bytes ?? 0 > 14_700)
    #expect(
      sight.trace.flags.allSatisfy { $0.contains("O_CLOEXEC") && $0.contains("O_NONBLOCK") })
  }

  @Test(arguments: ["close-early", "drop-early", "error"], [1, 7, 4096])
  func `a form that is not read to its end leaves nothing open`(mode: String, chunk: Int) throws {
    let sight = try watch(chunk: chunk, mode)
    #expect(sight.trace.opens == 3)
    #expect(sight.trace.mostOpen == 1)
    #expect(sight.trace.leftOpen == [])
    #expect(sight.left == 0)
    #expect(sight.trace.readSizes.allSatisfy { (1...chunk).contains($0) })
    // All of the first two files, at least a byte of the third, and not all of it.
    #expect((9_701...14_700 + 600).contains(sight.bytes ?? 0))
  }
}
