import FormStream
import FormStreamPlatform
import FormStreamTestSupport
import FormStreamTransfer
import Foundation
import Glibc
import Testing

/// Servers that lie about uploads, lose them, or would keep a client busy for ever. Each run ends, and no byte goes to somebody
/// else.
struct HostileUploadTests {
  private static let bytes = noise(3_000_000)
  private static let interop = ("Upload-Draft-Interop-Version", "8")
  /// After so many requests, a test's server gives up, so that a client that never ends is only a failed test.
  private static let patience = 60

  private func request(
    _ server: ScriptedServer, _ resumption: UploadResumption, attempts: Int = 3
  ) throws -> TransferRequest {
    var request = try makeRequest(.post, server.url, .bytes(Self.bytes), attempts: attempts)
    request.options.resumption = resumption
    request.options.expectation = .never
    return request
  }

  /// A server that creates uploads and appends what `piece` says.
  private func server(
    offset: Int = 0, piece: @escaping @Sendable (RecordedRequest) -> [ScriptedStep]
  ) throws -> ScriptedServer {
    try ScriptedServer { request in
      guard request.number < Self.patience else { return [.readBody, .respond(400)] }
      switch request.method {
      case "POST": return [.readBody, .respond(201, headers: [("Location", "/u/1")])]
      case "HEAD": return [.respond(204, headers: ResumingServer.offset(offset, false))]
      default: return piece(request)
      }
    }
  }

  // MARK: Runs that never ended

  /// The same piece was sent again at once, for ever.
  @Test(arguments: [UploadResumption.tus, .httpCreatedFirst])
  func `a server that appends nothing ends the upload`(resumption: UploadResumption) async throws {
    let server = try server { _ in [.readBody, .respond(204, headers: ResumingServer.offset(0, false))] }
    var request = try request(server, resumption)
    request.options.resumption.pieceSize = 100_000
    let result = try await makeSession().result(of: request)
    #expect(result.outcome == .retryable)
    #expect(result.error?.code == .resumptionFailed)
    #expect(result.attempts == 3)
    #expect(server.requests.map(\.method) == ["POST", "PATCH", "HEAD", "PATCH", "HEAD", "PATCH"])
  }

  /// Each upload that was created gave all attempts back.
  @Test(arguments: [UploadResumption.tus, .httpCreatedFirst])
  func `a server that loses each upload that it creates ends the upload`(resumption: UploadResumption) async throws {
    let server = try server { _ in [.readBody, .respond(404)] }
    let result = try await makeSession().result(of: request(server, resumption))
    #expect(result.outcome == .retryable)
    #expect(result.attempts == 3)
    #expect(server.requests.count == 6)
  }

  /// Each upload that had some bytes gave all attempts back.
  @Test func `what was lost and sent again is no progress`() async throws {
    let server = try ScriptedServer { request in
      guard request.number < Self.patience else { return [.readBody, .respond(400)] }
      switch request.method {
      case "POST":
        return [
          .informational(104, headers: [("Location", "/u/1"), Self.interop]), .readBody(upTo: 1000), .reset,
        ]
      case "HEAD": return [.respond(204, headers: ResumingServer.offset(10, false))]
      default: return [.readBody, .respond(404)]
      }
    }
    let result = try await makeSession().result(of: request(server, .http))
    #expect(result.outcome == .retryable, "\(String(describing: result.error))")
    #expect(server.requests.count < 15)
  }

  /// Offsets that can't be true were progress, of which there was no end.
  @Test func `interim responses that can't be true are counted`() async throws {
    let server = try ScriptedServer { request in
      let lies = (0..<200).map { count in
        ScriptedStep.informational(104, headers: [("Upload-Offset", "\(5_000_000 + count)"), Self.interop])
      }
      return [.informational(104, headers: [("Location", "/u/1"), Self.interop]), .readBody] + lies + [.respond(201)]
    }
    let result = try await makeSession().result(of: request(server, .http, attempts: 1))
    #expect(result.outcome == .unknown)
    #expect(result.error?.code == .malformedResponse)
  }

  /// Each confirmed byte was a line in the journal, and a thread to write it.
  @Test func `a server that confirms each byte doesn't fill the disk`() async throws {
    let confirmations = (1...2500).map { "HTTP/1.1 104 \r\nUpload-Draft-Interop-Version: 8\r\nUpload-Offset: \($0)\r\n\r\n" }
    let server = try ScriptedServer { _ in
      [.informational(104, headers: [("Location", "/u/1"), Self.interop]), .readBody]
        + confirmations.map { .send($0) } + [.respond(201, headers: [("Upload-Complete", "?1")])]
    }
    let notes = Guarded(0)
    var request = try request(server, .http)
    request.options.noteResumeData = { _ in notes.withLock { $0 += 1 } }
    let result = try await makeSession().result(of: request)
    #expect(result.outcome == .ok, "\(String(describing: result.error))")
    // One line for each 4096th of the upload is enough.
    #expect(notes.withLock(\.self) <= 10)
  }

  // MARK: Attempts

  /// Only the answer to a question counted as progress, and an interim response had already told it.
  @Test func `what interim responses confirm is progress`() async throws {
    let cuts = (1...10).map { count in
      ResumingServer.Cut(
        after: 100_000,
        end: .decide { _ in
          [.informational(104, headers: [("Upload-Offset", "\(count * 100_000)"), Self.interop]), .finish]
        })
    }
    let server = try ResumingServer(cuts: cuts)
    let result = try await makeSession().result(of: request(server.server, .http, attempts: 2))
    #expect(result.outcome == .ok, "\(String(describing: result.error))")
    #expect(server.kept == Self.bytes)
  }

  /// The second upload is incomplete, but the first request may have been carried out.
  @Test func `an incomplete upload says nothing about an earlier request`() async throws {
    let server = try ScriptedServer { request in
      switch (request.method, request.number) {
      case ("POST", 0): [.readBody, .reset]
      case ("POST", _):
        [.informational(104, headers: [("Location", "/u/1"), Self.interop]), .readBody(upTo: 1000), .reset]
      case ("HEAD", _): [.respond(204, headers: ResumingServer.offset(10, false))]
      default: [.readBody, .respond(503)]
      }
    }
    var request = try request(server, .http, attempts: 3)
    request.options.retry.retriesUnsafe = true
    let result = try await makeSession().result(of: request)
    #expect(result.outcome == .unknown)
  }

  // MARK: Success

  /// After a 303 to the first of many pieces, the upload was a success.
  @Test(arguments: [UploadResumption.tus, .httpCreatedFirst], [303, 404, 422])
  func `only the last piece can be a success`(resumption: UploadResumption, status: Int) async throws {
    let server = try server { _ in [.readBody, .respond(status, headers: [("Location", "/page")])] }
    var request = try request(server, resumption)
    request.options.resumption.pieceSize = 100_000
    request.options.acceptedStatuses = [201, 204, 404, 422]
    let result = try await makeSession().result(of: request)
    #expect([.failed, .retryable].contains(result.outcome))
  }

  /// A 303 to the last piece was a success, although the server didn't say that it is about the request.
  @Test func `a redirect to a page is a success only if the upload is complete`() async throws {
    for isComplete in [true, false] {
      let server = try server { request in
        guard request.method == "PATCH" else { return [.respond(200)] }
        let complete = isComplete ? [("Upload-Complete", "?1")] : []
        return [.readBody, .respond(303, headers: [("Location", "/page")] + complete)]
      }
      let result = try await makeSession().result(of: request(server, .httpCreatedFirst, attempts: 2))
      #expect(result.outcome == (isComplete ? .ok : .unknown))
    }
  }

  /// Regression: the upload was `failed`, to be sent again from its start.
  @Test(arguments: [UploadResumption.tus, .httpCreatedFirst], ["0", "5"])
  func `nothing is known after a complete body and offsets that can't be true`(
    resumption: UploadResumption, offset: String
  ) async throws {
    let server = try ScriptedServer { request in
      switch request.method {
      case "POST": [.readBody, .respond(201, headers: [("Location", "/u")])]
      case "HEAD": [.respond(204, headers: [("Upload-Offset", "777777777"), ("Upload-Complete", "?0")])]
      default: [.readBody, .respond(204, headers: [("Upload-Offset", offset)])]
      }
    }
    let result = try await makeSession().result(of: request(server, resumption, attempts: 3))
    #expect(result.outcome == .unknown, "\(String(describing: result.error))")
    #expect(result.error?.description.contains("Send it again from its start") == false)
  }

  // MARK: What is kept

  /// Another run asked for the upload again, and never began it again.
  @Test(arguments: [true, false]) func `an upload that the server has lost is not kept`(isInDoubt: Bool) async throws {
    let server = try ScriptedServer { request in
      switch request.method {
      case "POST": [.readBody, .respond(201, headers: [("Location", "/u/1")])]
      case "HEAD": [.respond(404)]
      default: isInDoubt ? [.readBody, .reset] : [.readBody(upTo: 1000), .reset]
      }
    }
    var request = try request(server, .httpCreatedFirst, attempts: 2)
    if !isInDoubt { request.options.resumption.pieceSize = 100_000 }
    let result = try await makeSession().result(of: request)
    #expect(result.outcome == (isInDoubt ? .unknown : .retryable))
    #expect((result.resumeData == nil) == !isInDoubt)
    #expect(result.resumeData?.uploadURL == nil)
  }

  /// The last line was cut off, and a file of one line was replaced.
  @Test(arguments: ["my thesis", "my\nthesis", "{", #"{"schema":"formstream.record/2","url":"x"}"#])
  func `a file that is something else stays as it is, even without a line feed`(text: String) async throws {
    let place = try TemporaryDirectory()
    let file = try place.write("resume", text)
    let server = try server { _ in [.readBody, .respond(204, headers: [("Upload-Complete", "?1")])] }
    var request = try request(server, .httpCreatedFirst)
    request.options.resumeFile = file
    let result = try await makeSession().result(of: request)
    // A resume file can be torn after its first byte.
    guard text != "{" else { return #expect(result.outcome == .ok) }
    #expect(result.error?.code == .resumeFileUnusable)
    #expect(try Data(contentsOf: URL(filePath: place.path("resume"))) == Data(text.utf8))
    #expect(server.requests.count == 0)
  }

  /// The resume file of root at `/dev/null` removed the device.
  @Test func `what is no regular file is no resume file, and is not removed`() async throws {
    let place = try TemporaryDirectory()
    let pipe = place.local("pipe")
    try #require(mkfifo(place.path("pipe"), 0o600) == 0)
    let server = try server { _ in [.readBody, .respond(204, headers: [("Upload-Complete", "?1")])] }
    var request = try request(server, .httpCreatedFirst)
    request.options.resumeFile = pipe
    let result = try await makeSession().result(of: request)
    #expect(result.error?.code == .resumeFileUnusable)
    #expect(result.error?.description.contains("is not a resume file") == true)
    #expect(access(place.path("pipe"), F_OK) == 0)
    #expect(server.requests.count == 0)
  }

  @Test func `nobody else can read a resume file that others could read before`() async throws {
    let place = try TemporaryDirectory()
    let file = try place.write("resume", "")
    try #require(chmod(place.path("resume"), 0o644) == 0)
    let modes = Guarded<[mode_t]>([])
    let path = place.path("resume")
    let server = try server { _ in
      [
        .call {
          var status = stat()
          _ = stat(path, &status)
          modes.withLock { $0.append(status.st_mode & 0o777) }
        }, .readBody, .respond(204, headers: [("Upload-Complete", "?1")]),
      ]
    }
    var request = try request(server, .httpCreatedFirst)
    request.options.resumeFile = file
    #expect(try await makeSession().result(of: request).outcome == .ok)
    #expect(modes.withLock(\.self) == [0o600])
  }

  // MARK: Other servers

  /// A response that names an upload at another server.
  enum Naming: CaseIterable {
    case interimToRequest, interimToPiece, responseToPiece, responseToQuestion
  }

  /// The rules for redirects were kept to only in the response to a creation.
  @Test(arguments: Naming.allCases)
  func `no byte goes to a server that another one names`(naming: Naming) async throws {
    let other = try ScriptedServer { request in
      request.method == "HEAD"
        ? [.respond(204, headers: ResumingServer.offset(0, false))]
        : [.readBody, .respond(201, headers: [("Upload-Complete", "?1")])]
    }
    let location = ("Location", "\(other.url)/u/1")
    let interim = [ScriptedStep.informational(104, headers: [location, Self.interop]), .readBody(upTo: 1000), .reset]
    let server = try ScriptedServer { request in
      switch (request.method, naming) {
      case ("POST", .interimToRequest): return interim
      case ("POST", _): return [.readBody, .respond(201, headers: [("Location", "/u/1")])]
      case ("HEAD", .responseToQuestion):
        return [.respond(201, headers: ResumingServer.offset(0, false) + [location])]
      case ("HEAD", _): return [.respond(204, headers: ResumingServer.offset(0, false))]
      case (_, .interimToPiece): return interim
      case (_, .responseToPiece): return [.readBody, .respond(201, headers: [location])]
      default: return [.readBody(upTo: 1000), .reset]
      }
    }
    let result = try await makeSession().result(
      of: request(server, naming == .interimToRequest ? .http : .httpCreatedFirst))
    #expect(result.outcome != .ok)
    #expect(other.connectionCount == 0)
  }
}
