import FormStream
import FormStreamTestSupport
import Glibc
import Testing
import FormStreamTransfer

/// Files that block, as with NFS, FUSE and failing disks, beside other requests on the same engine.
@Suite(.enabled(if: BlockingFile.isAllowed, "a file system can't be mounted here"))
struct BlockingFileTests {
  private static let size = 1_000_000

  /// Sends other requests, from memory and from files, and expects that they succeed.
  private func expectNeighbours(
    on session: TransferSession, sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    let server = try ScriptedServer { _ in .good() }
    let place = try TemporaryDirectory()
    let file = try place.write("file", noise(100_000))
    let tasks = try (0..<50).map { index in
      session.start(
        try TransferRequest(
          .post, server.url, body: index % 2 == 0 ? .file(file) : .bytes(noise(100_000))))
    }
    for task in tasks {
      #expect(await task.result.outcome == .ok, sourceLocation: sourceLocation)
    }
    #expect(server.faults.isEmpty, sourceLocation: sourceLocation)
  }

  @Test(arguments: BlockingFile.Operation.allCases)
  func `a file that blocks holds up no other request, and no cancelling`(
    operation: BlockingFile.Operation
  ) async throws {
    let file = try BlockingFile(size: Self.size, operation)
    let server = try ScriptedServer { _ in [.continueIfExpected, .readBody, .stall] }
    let session = try makeSession()
    let held = session.start(try TransferRequest(.post, server.url, body: .file(file.path)))
    try await onNewThread { try file.waitUntilBlocked() }
    try await expectNeighbours(on: session)
    held.cancel()
    let result = await held.result
    // The file is released only now.
    file.release()
    #expect(result.error?.code == .cancelled)
    #expect(result.response == nil)
    try await expectNeighbours(on: session)
  }

  @Test(arguments: [BlockingFile.Operation.status, .open, .read])
  func `a file that blocks doesn't stop the clock`(operation: BlockingFile.Operation) async throws {
    let file = try BlockingFile(size: Self.size, operation)
    let server = try ScriptedServer { _ in .good() }
    var request = try TransferRequest(.post, server.url, body: .file(file.path))
    request.options.timeLimits.attempt = .milliseconds(500)
    let result = try await makeSession().result(of: request)
    file.release()
    #expect(result.error?.code == .timedOut)
    #expect(result.outcome == .retryable)
  }

  @Test(arguments: BlockingFile.Operation.allCases)
  func `a file that was blocked is sent completely`(operation: BlockingFile.Operation) async throws {
    let file = try BlockingFile(size: Self.size, operation)
    let server = try ScriptedServer { _ in .good() }
    let form = Form {
      Part.text("note", "hello")
      Part.file("file", file.path)
    }
    var request = try TransferRequest(.post, server.url, body: .form(form))
    // Waiting for a file is not a stall.
    request.options.timeLimits.stall = .milliseconds(100)
    let task = try makeSession().start(request)
    try await onNewThread { try file.waitUntilBlocked() }
    if operation == .read { try await waitForStall(longerThan: .milliseconds(100)) }
    file.release()
    let result = await task.result
    #expect(result.outcome == .ok)
    #expect(result.bytesSent == result.contentLength)
    #expect(server.requests.first?.body.count { $0 == 7 } == Self.size)
    #expect(server.faults.isEmpty)
  }

  /// Each program closes the file when it starts, although it doesn't inherit it.
  @Test func `only the process that made a blocking file is held up by it`() throws {
    let file = try BlockingFile(size: 1, .close)
    let descriptor = open(file.path.description, O_RDONLY | O_CLOEXEC)
    try #require(descriptor >= 0)
    let invocation = try run(program: "/bin/true", [])
    #expect(invocation.exit == 0)
    file.release()
    close(descriptor)
  }

  /// libcurl doesn't read such a body, so opening the file is a step of its own.
  @Test func `an empty file that blocks can be cancelled`() async throws {
    let file = try BlockingFile(size: 0, .open)
    let server = try ScriptedServer { _ in .good() }
    let session = try makeSession()
    let held = session.start(try TransferRequest(.put, server.url, body: .file(file.path)))
    try await onNewThread { try file.waitUntilBlocked() }
    try await expectNeighbours(on: session)
    held.cancel()
    let result = await held.result
    file.release()
    #expect(result.outcome == .cancelled)
    #expect(server.requests.isEmpty)
  }
}
