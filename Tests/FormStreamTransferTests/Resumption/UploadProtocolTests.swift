import FormStream
import FormStreamPlatform
import FormStreamTestSupport
import FormStreamTransfer
import Testing

/// The protocols by which uploads go on, how they begin, and pieces.
struct UploadProtocolTests {
  private static let bytes = noise(3_000_000)

  private func request(
    _ server: ResumingServer, _ resumption: UploadResumption, method: HTTPMethod = .post, attempts: Int = 3
  ) throws -> TransferRequest {
    var request = try makeRequest(method, server.url, .bytes(Self.bytes), attempts: attempts)
    request.options.resumption = resumption
    request.options.expectation = .never
    return request
  }

  @Test func `tus creates an upload, and goes on with it`() async throws {
    let server = try ResumingServer(cuts: [.init(after: 1_000_000), .init(after: 0), .init(after: 500_000)])
    var resumption = UploadResumption.tus
    resumption.metadata = ["bucketName": "photos", "empty": ""]
    let result = try await makeSession().result(of: request(server, resumption))
    #expect(result.outcome == .ok, "\(String(describing: result.error))")
    #expect(result.status == 204)
    #expect(server.kept == Self.bytes)
    #expect(
      server.methods == ["POST", "PATCH", "HEAD", "PATCH", "HEAD", "PATCH", "HEAD", "PATCH"])
    #expect(Set(server.values(of: "Tus-Resumable")) == ["1.0.0"])
    #expect(server.values(of: "Tus-Resumable").count == server.methods.count)
    #expect(server.values(of: "Upload-Length") == ["3000000"])
    // base64 of "photos", and of "application/octet-stream"
    #expect(
      server.values(of: "Upload-Metadata") == [
        "bucketName cGhvdG9z,empty,filetype YXBwbGljYXRpb24vb2N0ZXQtc3RyZWFt"
      ])
    #expect(server.values(of: "Upload-Offset") == ["0", "1000000", "1000000", "1500000"])
    #expect(
      Set(
        server.server.requests.filter { $0.method == "PATCH" }.flatMap(\.headers).filter { $0.name == "Content-Type" }.map(
          \.value))
        == ["application/offset+octet-stream"])
  }

  @Test func `to tus, an upload with all its bytes is complete`() async throws {
    let server = try ResumingServer(cuts: [.init(end: .reset)])
    let result = try await makeSession().result(of: request(server, .tus))
    #expect(result.outcome == .ok, "\(String(describing: result.error))")
    #expect(server.methods == ["POST", "PATCH", "HEAD"])
    #expect(result.status == 204)
    #expect(result.bytesSent == 3_000_000)
  }

  /// On a machine under load, a piece took too long for the server, and the upload ended with "responded 408".
  @Test(arguments: [UploadResumption.http, .httpCreatedFirst, .tus], [408, 425])
  func `a piece that was too slow, or too early, goes on`(by resumption: UploadResumption, status: Int) async throws {
    let refusal = ScriptedStep.respond(status, headers: [("Connection", "close")])
    let server = try ResumingServer(cuts: [
      .init(after: 1_000_000, end: refusal), .init(after: 500_000, end: refusal),
    ])
    let result = try await makeSession().result(of: request(server, resumption))
    #expect(result.outcome == .ok, "\(String(describing: result.error))")
    #expect(server.kept == Self.bytes)
  }

  @Test func `a PUT by tus is to an upload that was created before`() async throws {
    let server = try ResumingServer(cuts: [.init(after: 1_000_000)])
    let result = try await makeSession().result(of: request(server, .tus, method: .put))
    #expect(result.outcome == .ok, "\(String(describing: result.error))")
    #expect(server.methods == ["HEAD", "PATCH", "HEAD", "PATCH"])
    #expect(server.kept == Self.bytes)
  }

  /// The bytes could be those of another file.
  @Test func `a PUT by tus adds nothing to bytes that it has not sent`() async throws {
    let server = try ResumingServer(answer: { _, _ in .respond(200, headers: [("Upload-Offset", "5")]) })
    let result = try await makeSession().result(of: request(server, .tus, method: .put))
    #expect(result.outcome == .failed)
    #expect(result.error?.code == .resumptionFailed)
    #expect(server.methods == ["HEAD"])
  }

  /// It said that the upload might go on later, and a loop that believed it never ended.
  @Test func `a PUT by tus to an upload that never was is refused for good`() async throws {
    let server = try ResumingServer(answer: { _, _ in .respond(404) })
    let result = try await makeSession().result(of: request(server, .tus, method: .put))
    #expect(result.outcome == .failed)
    #expect(result.error?.code == .resumptionFailed)
    #expect(result.attempts == 1)
    #expect(server.methods == ["HEAD"])
  }

  @Test(arguments: [
    [("Upload-Limit", "max-size=2999999")], [("Tus-Version", "1.0.0"), ("Tus-Max-Size", "2999999")],
  ])
  func `a body that is too long for an upload is sent as ever`(options: [(String, String)]) async throws {
    let server = try ResumingServer(options: options)
    let result = try await makeSession().result(of: request(server, .automatic))
    #expect(result.outcome == .ok)
    #expect(server.methods == ["OPTIONS", "POST"])
  }

  @Test func `questions in vain are attempts`() async throws {
    var request = try makeRequest("http://127.0.0.1:1/", .bytes(Self.bytes), attempts: 3)
    request.options.resumption = .automatic
    let seen = Guarded<[Int]>([])
    request.options.willRetry = { retry in seen.withLock { $0.append(retry.attempt) } }
    let result = try await makeSession().result(of: request)
    #expect(result.outcome == .retryable)
    #expect(result.attempts == 3)
    #expect(seen.withLock(\.self) == [2, 3])
  }

  @Test func `an empty file is complete when tus has created it`() async throws {
    let server = try ResumingServer()
    var request = try request(server, .tus)
    request.body = .bytes([])
    let result = try await makeSession().result(of: request)
    #expect(result.outcome == .ok)
    #expect(server.methods == ["POST"])
  }

  @Test func `tus takes no body of unknown length`() async throws {
    let server = try ResumingServer()
    var request = try request(server, .tus)
    request.body = .part(.stream { ScriptedSource([1]) })
    let result = try await makeSession().result(of: request)
    #expect(result.outcome == .failed)
    #expect(result.error?.code == .resumptionFailed)
    #expect(server.methods == [])
  }

  @Test func `an upload can be created before its bytes are sent`() async throws {
    let server = try ResumingServer(cuts: [.init(after: 1_000_000)])
    var request = try request(server, .httpCreatedFirst)
    request.options.sendsDigest = true
    let result = try await makeSession().result(of: request)
    #expect(result.outcome == .ok, "\(String(describing: result.error))")
    #expect(result.response?.text == "stored")
    #expect(server.kept == Self.bytes)
    #expect(server.methods == ["POST", "PATCH", "HEAD", "PATCH"])
    #expect(server.values(of: "Upload-Complete") == ["?0", "?1", "?1"])
    #expect(server.values(of: "Content-Length").first == "0")
    #expect(server.values(of: "Repr-Digest").count == 1)
    #expect(server.values(of: "Content-Digest") == [])
    #expect(result.attempts == 2)
  }

  /// Such a server has taken the request for an empty upload.
  @Test(arguments: [UploadResumption.httpCreatedFirst, .tus])
  func `a server that creates no upload is an error`(resumption: UploadResumption) async throws {
    let server = try ScriptedServer(requests: [.good(200)])
    var request = try makeRequest(server.url, .bytes(Self.bytes), attempts: 3)
    request.options.resumption = resumption
    let result = try await makeSession().result(of: request)
    #expect(result.outcome == .failed)
    #expect(result.error?.code == .resumptionFailed)
    #expect(server.requests.count == 1)
  }

  @Test(arguments: [
    ([("Upload-Limit", "max-age=60")], ["OPTIONS", "POST", "PATCH"], ["?0", "?1"]),
    ([("Tus-Version", "1.0.0,0.2.2")], ["OPTIONS", "POST", "PATCH"], []),
    ([("Tus-Version", "0.2.2")], ["OPTIONS", "POST"], ["?1"]),
    ([("Upload-Limit", "max-age=60"), ("Tus-Version", "1.0.0")], ["OPTIONS", "POST", "PATCH"], ["?0", "?1"]),
    ([("Allow", "POST")], ["OPTIONS", "POST"], ["?1"]),
    (nil, ["OPTIONS", "POST"], ["?1"]),
  ])
  func `the server is asked which protocol it knows`(
    options: [(String, String)]?, methods: [String], complete: [String]
  ) async throws {
    let server = try ResumingServer(options: options)
    let result = try await makeSession().result(of: request(server, .automatic))
    #expect(result.outcome == .ok, "\(String(describing: result.error))")
    #expect(result.attempts == 1)
    #expect(server.methods == methods)
    #expect(server.values(of: "Upload-Complete") == complete)
    #expect(server.kept == Self.bytes)
  }

  @Test(arguments: [UploadResumption.httpCreatedFirst, .tus])
  func `a long upload goes in pieces`(resumption: UploadResumption) async throws {
    let server = try ResumingServer(cuts: [.init(end: nil), .init(after: 400_000)])
    var request = try request(server, resumption)
    request.options.resumption.pieceSize = 1_000_000
    // tus has no header for a digest.
    (request.options.computesDigest, request.options.sendsDigest) = (true, resumption != .tus)
    let result = try await makeSession().result(of: request)
    #expect(result.outcome == .ok, "\(String(describing: result.error))")
    #expect(server.kept == Self.bytes)
    #expect(server.methods == ["POST", "PATCH", "PATCH", "HEAD", "PATCH", "PATCH"])
    #expect(server.values(of: "Upload-Offset") == ["0", "1000000", "1400000", "2400000"])
    #expect(
      server.values(of: "Upload-Complete") == (resumption == .tus ? [] : ["?0", "?0", "?0", "?0", "?1"]))
    #expect(result.attempts == 2)
    #expect(result.bytesSent == 3_000_000)
    #expect(result.sha256?.description == (try sha256(Self.bytes)))
  }

  @Test(arguments: [UploadResumption.http, .httpCreatedFirst])
  func `the server's limit for a request is kept to`(resumption: UploadResumption) async throws {
    let server = try ResumingServer(largestPiece: 1_000_000)
    let result = try await makeSession().result(of: request(server, resumption))
    #expect(result.outcome == .ok, "\(String(describing: result.error))")
    #expect(server.kept == Self.bytes)
    #expect(server.values(of: "Content-Length").compactMap { Int($0) }.dropFirst().max() ?? 0 <= 1_000_000)
  }

  @Test(arguments: ["", "a b", "a,b", "ä"])
  func `names of metadata that can't be sent are refused`(name: String) async throws {
    let server = try ResumingServer()
    var resumption = UploadResumption.tus
    resumption.metadata = [name: "x"]
    let result = try await makeSession().result(of: request(server, resumption))
    #expect(result.outcome == .failed)
    #expect(result.error?.code == .invalidSetting)
    #expect(server.methods == [])
  }

  /// What the other side's system has acknowledged may be lost with the server, or never have reached it.
  @Test func `acknowledged is what the server has confirmed`() async throws {
    let server = try ResumingServer(cuts: [.init(after: 1_000_000)])
    var request = try request(server, .tus)
    request.options.progressPace = .all
    let task = try makeSession().start(request)
    var seen: Set<Int64?> = []
    for await progress in task.progress { seen.insert(progress.acknowledged) }
    #expect(await task.result.outcome == .ok)
    #expect(seen.contains(1_000_000) && seen.isSubset(of: [nil, 0, 1_000_000, 3_000_000]), "\(seen)")
  }
}
