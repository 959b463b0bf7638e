import FormStream
import FormStreamTestSupport
import FormStreamTransfer
import Testing

/// An idempotency key goes with each request that creates an upload or sends bytes of it. Regression: tus didn't send it, but it
/// permitted to send the upload again.
struct KeyedUploadTests {
  private static let bytes = noise(3000)

  private func request(_ url: String, _ resumption: UploadResumption) throws -> TransferRequest {
    var request = try makeRequest(url, .bytes(Self.bytes), attempts: 3)
    request.options.resumption = resumption
    request.options.resumption.pieceSize = 1000
    request.options.idempotencyKey = IdempotencyKey("the-key")
    return request
  }

  @Test(arguments: [UploadResumption.tus, .httpCreatedFirst])
  func `the key is sent with the creation and with each piece, and not with questions`(
    resumption: UploadResumption
  ) async throws {
    let server = try ResumingServer(cuts: [.init(end: nil), .init(after: 400)])
    let result = try await makeSession().result(of: request(server.url, resumption))
    #expect(result.outcome == .ok, "\(String(describing: result.error))")
    #expect(server.kept == Self.bytes && result.idempotencyKey?.value == "the-key")
    let sent = server.server.requests.map { "\($0.method) \($0.header("Idempotency-Key") ?? "-")" }
    let key = #""the-key""#
    #expect(
      sent == ["POST \(key)", "PATCH \(key)", "PATCH \(key)", "HEAD -", "PATCH \(key)", "PATCH \(key)"])
  }

  /// A key that another server doesn't get permits nothing, and nobody is advised to use it again.
  @Test(arguments: [UploadResumption.tus, .httpCreatedFirst])
  func `an upload at another server has no key`(resumption: UploadResumption) async throws {
    let there = try ScriptedServer { request in
      request.method == "HEAD" ? [.respond(404)] : [.readBody, .reset]
    }
    let here = try ScriptedServer { [url = there.url] _ in [.readBody, .respond(201, headers: [("Location", "\(url)/u")])] }
    var request = try request(here.url, resumption)
    request.options.resumption.pieceSize = nil
    request.options.redirects.allowsOtherOrigins = true
    let result = try await makeSession().result(of: request)
    #expect(result.outcome == .unknown && result.idempotencyKey == nil && !result.mayBeSentAgain)
    #expect(result.error?.description.contains("the-key") == false, "\(String(describing: result.error))")
    #expect(there.requests.map(\.method) == ["PATCH", "HEAD"])
    #expect(there.requests.allSatisfy { $0.header("Idempotency-Key") == nil })
    // The next run doesn't take for keyed what was sent without the key.
    request.options.resuming = result.resumeData
    let again = try await makeSession().result(of: request)
    #expect(again.outcome == .unknown && here.requests.count == 1 && there.requests.count == 2)
  }

  /// The server knows the earlier request by another key.
  @Test func `a second run with another key doesn't repeat what may be done`() async throws {
    let server = try ScriptedServer { request in
      switch request.method {
      case "POST": [.readBody, .respond(201, headers: [("Location", "/u")])]
      case "HEAD": [.respond(404)]
      default: [.readBody, .reset]
      }
    }
    var request = try request(server.url, .httpCreatedFirst)
    (request.options.resumption.pieceSize, request.options.retry.attempts) = (nil, 1)
    request.options.resuming = try await makeSession().result(of: request).resumeData
    #expect(request.options.resuming?.uploadURL != nil)
    var left: UploadResumeData?
    for key in [nil, "other-key"] {
      request.options.retry.attempts = 3
      request.options.idempotencyKey = key.flatMap { IdempotencyKey($0) }
      let result = try await makeSession().result(of: request)
      #expect(result.outcome == .unknown && result.idempotencyKey == nil, "\(String(describing: result.error))")
      left = result.resumeData
    }
    // The third run has the key of the second one, but the first one had another.
    #expect(left != nil)
    request.options.resuming = left
    #expect(try await makeSession().result(of: request).outcome == .unknown)
    #expect(server.requests.map(\.method) == ["POST", "PATCH", "HEAD", "HEAD"])
  }
}
