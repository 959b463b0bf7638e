import FormStream
import Foundation
import FormStreamTestSupport
import Testing
import FormStreamTransfer

/// Bodies that aren't forms, and their headers.
@Suite struct RequestBodyTests {
  private func send(
    _ body: TransferBody, change: (inout TransferRequest) throws -> Void = { _ in }
  ) async throws -> (TransferResult, RecordedRequest?) {
    let server = try ScriptedServer { _ in .good() }
    var request = try makeRequest(server.url, body)
    try change(&request)
    let result = try await makeSession().result(of: request)
    expectConsistency(result, at: server, bodies: result.outcome == .ok ? 1 : 0)
    return (result, server.requests.first)
  }

  /// WHATWG URL, application/x-www-form-urlencoded serializing.
  @Test(
    arguments: [
      ([], ""), ([("a", "1")], "a=1"), ([("a", "1"), ("a", "2"), ("b", "")], "a=1&a=2&b="),
      ([("a b", "c+d")], "a+b=c%2Bd"), ([("ä", "€😀")], "%C3%A4=%E2%82%AC%F0%9F%98%80"),
      ([("*-._", "~!'()")], "*-._=%7E%21%27%28%29"), ([("a", "\r\n\0")], "a=%0D%0A%00"),
      ([("a&b=c", "d&e=f")], "a%26b%3Dc=d%26e%3Df"),
    ] as [([(String, String)], String)])
  func `names and values are encoded as in browsers`(fields: [(String, String)], text: String)
    async throws
  {
    let (result, request) = try await send(
      .urlEncoded(fields.map { URLEncodedField($0.0, $0.1) }))
    #expect(result.outcome == .ok)
    #expect(request?.bodyText == text)
    #expect(request?.header("Content-Type") == "application/x-www-form-urlencoded")
  }

  @Test func `a value is sent as JSON`() async throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    let (result, request) = try await send(.json(["b": "ä/", "a": "\n"], encoder: encoder))
    #expect(result.outcome == .ok)
    #expect(request?.bodyText == #"{"a":"\n","b":"ä/"}"#)
    #expect(request?.header("Content-Type") == "application/json")
  }

  @Test func `a value that can't be JSON fails before anything is sent`() async throws {
    let (result, request) = try await send(.json([Double.infinity]))
    #expect(result.outcome == .failed)
    #expect(result.error?.code == .invalidJSON)
    #expect(result.attempts == 0)
    #expect(request == nil)
  }

  @Test func `a missing file fails before anything is sent`() async throws {
    let (result, request) = try await send(.file("/no/such/file"))
    #expect(result.outcome == .failed)
    #expect(result.attempts == 0)
    #expect(result.error?.subject.contains("/no/such/file") == true)
    #expect(request == nil)
  }

  @Test func `only the range of a file is sent`() async throws {
    let place = try TemporaryDirectory()
    let file = try place.write("file", "0123456789")
    let (result, request) = try await send(
      .file(file, type: "text/plain", range: FileRange(3..<7)))
    #expect(result.contentLength == 4)
    #expect(request?.bodyText == "3456")
    #expect(request?.header("Content-Type") == "text/plain")
  }

  /// FIPS 180-2, appendix B: the digests of "abc" and of nothing.
  @Test(arguments: [
    ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
  ])
  func `the digest is that of the bytes`(text: String, digest: String) async throws {
    let bytes = Array(text.utf8)
    for body in [
      TransferBody.bytes(bytes), .stream { InputStream(data: Data(bytes)) }, oneShot(bytes),
    ] {
      let (result, _) = try await send(body) { $0.options.computesDigest = true }
      #expect(result.sha256 == SHA256Digest(digest))
    }
    let (without, _) = try await send(.bytes(bytes))
    #expect(without.sha256 == nil)
  }

  @Test func `the digest is that of the last attempt, and missing if it is incomplete`()
    async throws
  {
    let server = try ScriptedServer(requests: [
      [.readBody(upTo: 1000), .reset], .good(), .good(), [.readBody(upTo: 1000), .reset],
    ])
    let bytes = noise(8_000_000)
    var request = try makeRequest(.put, server.url, .bytes(bytes), attempts: 2)
    request.options.expectation = .never
    request.options.computesDigest = true
    let session = try makeSession()
    let twice = await session.result(of: request)
    let plain = await session.result(of: request)
    #expect(twice.outcome == .ok)
    #expect(twice.sha256 != nil)
    #expect(twice.sha256 == plain.sha256)
    request.options.retry.attempts = 1
    let cut = await session.result(of: request)
    #expect(cut.outcome == .retryable)
    #expect(cut.sha256 == nil)
  }

  /// RFC 9530, appendix D: the digest of `{"hello": "world"}` and a line break.
  @Test func `Content-Digest is that of the body`() async throws {
    let (result, request) = try await send(.bytes(Array("{\"hello\": \"world\"}\n".utf8))) {
      $0.options.sendsDigest = true
    }
    #expect(result.outcome == .ok)
    #expect(
      request?.values(of: "Content-Digest")
        == ["sha-256=:RK/0qy18MlBSVnWgjwz6lZEWjP/lF5HF9bvEF8FabDg=:"])
  }

  @Test func `a Content-Digest of a stream that can be read once is refused`() async throws {
    let (result, request) = try await send(oneShot("a".utf8)) { $0.options.sendsDigest = true }
    #expect(result.outcome == .failed)
    #expect(result.error?.code == .notReplayable)
    #expect(result.error?.description.contains("TransferOptions.spoolsBody") == true)
    #expect(request == nil)
  }

  @Test(arguments: [0, 3, 5, 100_000], [Int64(4), 99_999])
  func `a stream with a wrong announced length is not sent completely`(size: Int, promised: Int64)
    async throws
  {
    guard Int64(size) != promised else { return }
    let server = try ScriptedServer { _ in .good() }
    let bytes = noise(size)
    let result = try await makeSession().result(
      of: makeRequest(server.url, .stream(length: promised) { InputStream(data: Data(bytes)) }))
    #expect(result.outcome == .failed)
    #expect(
      result.error?.code == (Int64(size) < promised ? .streamTooShort : .streamTooLong))
    #expect(await onNewThread { server.waitForEnds() })
    expectConsistency(result, at: server, bodies: 0, but: [.cutShort])
  }

  @Test(arguments: [Int64(0), -1])
  func `a rate below 1 is refused`(rate: Int64) async throws {
    let (result, request) = try await send(.bytes(Array("b".utf8))) {
      $0.options.maximumRate = rate
    }
    #expect(result.outcome == .failed)
    #expect(result.error?.code == .invalidSetting)
    #expect(request == nil)
  }
}
