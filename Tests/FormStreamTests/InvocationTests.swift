import FormStreamTestSupport
import Testing

/// Tests `run`, which the tests of the command depend on.
@Suite struct InvocationTests {
  private func shell(
    _ script: String, standardInput: [UInt8]? = nil, environment: [String: String] = [:]
  ) throws -> Invocation {
    try run(
      program: "/bin/sh", ["-c", script], standardInput: standardInput, environment: environment)
  }

  @Test func `exit codes and signals are distinguished`() throws {
    let exited = try shell("exit 143")
    #expect((exited.exit, exited.signal) == (143, nil))
    let killed = try shell("kill -TERM $$")
    #expect((killed.exit, killed.signal) == (nil, 15))
  }

  @Test func `both outputs are read completely, however large they are`() throws {
    let said = try shell("head -c 1000000 /dev/zero; head -c 1000000 /dev/zero | tr '\\0' e >&2")
    #expect(said.stdout == [UInt8](repeating: 0, count: 1_000_000))
    #expect(said.stderr == String(repeating: "e", count: 1_000_000))
    #expect(said.exit == 0)
  }

  @Test func `standard input is written while output is read`() throws {
    let bytes = noise(3_000_000)
    #expect(try run(program: "/bin/cat", [], standardInput: bytes).stdout == bytes)
    #expect(try run(program: "/bin/cat", [], standardInput: []).stdout == [])
    #expect(try run(program: "/bin/cat", []).stdout == [])
  }

  @Test func `a program that does not read its input is no error`() throws {
    #expect(try shell("exit 4", standardInput: noise(3_000_000)).exit == 4)
  }

  @Test func `arguments are passed as bytes`() throws {
    let odd: [UInt8] = [0x61, 0xFF, 0x20, 0x0A, 0xFE]
    let said = try run(program: "/usr/bin/printf", rawArguments: [Array("%s".utf8), odd])
    #expect(said.stdout == odd)
  }

  @Test func `each runs in a fresh directory, or in the one given`() throws {
    let first = try shell("pwd; ls -A").output
    #expect(first.split(separator: "\n").count == 1)
    #expect(try shell("pwd").output != first)
    let directory = try TemporaryDirectory()
    try directory.write("here", "")
    let said = try run(program: "/bin/ls", [], in: directory)
    #expect(said.output == "here\n")
  }

  @Test func `the environment is that of the test runner, with changes`() throws {
    let said = try shell(
      "echo \"$FORMSTREAM_TEST ${PATH:+path}\"", environment: ["FORMSTREAM_TEST": "x"])
    #expect(said.output == "x path\n")
  }

  @Test func `signals have their default actions`() throws {
    #expect(try shell("yes | head -n 1; kill -PIPE $$").signal == 13)
  }

  @Test func `a program that does not exist is an error`() {
    #expect(throws: (any Error).self) { try run(program: "/none", []) }
  }

  @Test func `a binary of this package is found beside the test runner`() throws {
    let said = try run("formstream-drain-probe", [])
    #expect(said.signal != nil)
    #expect(said.stderr.contains("usage: formstream-drain-probe"))
  }

  @Test(.disabled(if: sanitizer != nil, "a child inherits the peak of a runner that is large"))
  func `the memory use of a program is measured`() throws {
    // The dd has one block of 200 MB; the shell that waits for it is small.
    let said = try run(
      program: "/bin/dd", ["if=/dev/zero", "of=/dev/null", "bs=200M", "count=1"])
    #expect(said.peakResidentKiB > 190_000)
    #expect(said.peakResidentKiB < 250_000)
  }
}
