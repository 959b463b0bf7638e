import FormStreamPlatform
import FormStreamTestSupport
import Glibc
import Testing

/// Limits of `send` that are changed while it runs: SIGHUP reads the file of `-K` again.
@Suite struct SendLimitTests {
  private let place: TemporaryDirectory
  private let go: Gate
  private let server: ScriptedServer

  init() throws {
    place = try TemporaryDirectory()
    let go = try Gate()
    self.go = go
    server = try ScriptedServer { _ in [.readBody, .waitFor(go), .respond(200)] }
    _ = try shell("mkdir in; for n in 1 2 3 4 5 6 7 8; do echo $n > in/$n; done", in: place)
  }

  private func start(_ flags: String) throws -> RunningProgram {
    try RunningProgram(
      program: builtBinary("formstream"),
      rawArguments: (["send"] + flags.split(separator: " ").map(String.init) + [server.url, "in"])
        .map { Array($0.utf8) }, in: place)
  }

  @Test func `a hang-up signal reads the number of requests again`() throws {
    try place.write("limits", "-j 1\n")
    let program = try start("-K limits --json")
    #expect(server.waitForRequests(1))
    try place.write("limits", "# More by night.\njobs = 5\nmax-rate 1000\n")
    program.signal(SIGHUP)
    #expect(server.waitForRequests(5))
    // A file with a mistake changes nothing.
    try place.write("limits", "-j many\n")
    program.signal(SIGHUP)
    go.open()
    let end = try program.wait()
    #expect(end.exit == 0 && server.requests.count == 8, "\(end.stderr)")
    #expect(end.output.contains(#""ok":8,"#) && end.output.contains(#""jobs":5,"#), "\(end.output)")
  }

  @Test func `flags on the command line override the file that is read again`() throws {
    try place.write("limits", "-j 1\n")
    let program = try start("-j 2 -K limits --json")
    #expect(server.waitForRequests(2))
    try place.write("limits", "-j 6\n")
    program.signal(SIGHUP)
    go.open()
    let end = try program.wait()
    #expect(end.exit == 0 && end.output.contains(#""jobs":2,"#), "\(end.output)")
  }

  @Test func `a file with a mistake is named, and the limits stay`() throws {
    try place.write("limits", "-j 1\n")
    let program = try start("-K limits")
    #expect(server.waitForRequests(1))
    _ = try shell("rm limits", in: place)
    program.signal(SIGHUP)
    // SIGTERM arrives after it, and ends the run when the request has ended.
    program.signal(SIGTERM)
    go.open()
    let end = try program.wait()
    #expect(end.stderr.contains("The limits stay as they are: "), "\(end.stderr)")
    #expect(end.stderr.contains("\"limits\""), "\(end.stderr)")
  }

  @Test func `without a file, a hang-up signal ends the run`() throws {
    let program = try start("-j 1")
    #expect(server.waitForRequests(1))
    program.signal(SIGHUP)
    go.open()
    let end = try program.wait()
    // On a busy machine, the signal may be handled when all files are sent.
    #expect((end.exit, end.signal) == (nil, SIGHUP), "\(end.stderr)")
  }
}
