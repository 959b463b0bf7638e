import FormStream
import Foundation
import FormStreamTestSupport
import FormStreamTransfer
import Testing

/// Bodies that are compressed while they are sent.
@Suite struct CompressedUploadTests {
  private func request(
    _ url: String, _ body: TransferBody, attempts: Int = 1
  ) throws -> TransferRequest {
    var request = try makeRequest(url, body, attempts: attempts)
    request.options.bodyCoding = .gzip
    return request
  }

  /// What Python's gzip makes of bytes.
  private func decompressed(_ bytes: [UInt8]) throws -> [UInt8] {
    let place = try TemporaryDirectory()
    try place.write("body", bytes)
    let result = try run(
      program: "/usr/bin/env",
      ["python3", "-c", "import gzip; open('plain', 'wb').write(gzip.open('body').read())"],
      in: place)
    #expect(result.exit == 0, "\(result.stderr)")
    return Array(try Data(contentsOf: URL(fileURLWithPath: place.path("plain"))))
  }

  @Test func `bodies of all sizes arrive compressed and unchanged`() async throws {
    let server = try ScriptedServer { _ in .good() }
    let session = try makeSession()
    let text = Array(repeating: Array("all the same ".utf8), count: 300_000).flatMap(\.self)
    for bytes in [[], [1], noise(65_536), noise(1_000_001), text] {
      let result = try await session.result(of: request(server.url, .bytes(bytes)))
      #expect(result.outcome == .ok, "\(String(describing: result.error))")
      let got = try #require(server.requests.last)
      #expect(got.header("Content-Encoding") == "gzip")
      #expect(got.framing == .chunked)
      #expect(result.contentLength == nil && result.framing == .chunked)
      #expect(Int64(got.bodyCount) == result.bytesSent)
      #expect(try decompressed(got.body) == bytes)
    }
    #expect(server.requests.last.map { $0.bodyCount < text.count / 100 } == true)
    #expect(server.faults == [])
  }

  @Test
  func `a form is compressed with its boundary in the type, and digests are those of what is sent`()
    async throws
  {
    let server = try ScriptedServer { _ in .good() }
    let form = Form(boundary: try Boundary("B")) { Part.text("a", "1") }
    var post = try request(server.url, .form(form))
    post.options.computesDigest = true
    post.options.sendsDigest = true
    let updates = ReceivedText()
    let result = try await makeSession().result(of: post) { updates.append("\($0.total ?? -1) ") }
    #expect(result.outcome == .ok, "\(String(describing: result.error))")
    let got = try #require(server.requests.last)
    #expect(got.header("Content-Type") == "multipart/form-data; boundary=B")
    #expect(try decompressed(got.body) == form.layout().bytes(limit: 1000))
    let place = try TemporaryDirectory()
    try place.write("body", got.body)
    let sum = try run(
      program: "/bin/sh",
      ["-c", "sha256sum body | cut -d' ' -f1; openssl dgst -sha256 -binary body | base64"],
      in: place
    ).output.split(separator: "\n")
    #expect(result.sha256.map { $0.description[...] } == sum.first)
    #expect(got.header("Content-Digest") == "sha-256=:\(sum.last ?? ""):")
    #expect(!updates.text.contains(where: { $0 != "-" && $0 != "1" && $0 != " " }))
  }

  @Test func `a retry sends the same bytes again, and a stream is sent once`() async throws {
    let server = try ScriptedServer { request in request.number == 0 ? .good(503) : .good() }
    let place = try TemporaryDirectory()
    try place.write("file", noise(400_000))
    let result = try await makeSession().result(
      of: request(server.url, .file(place.path("file")), attempts: 2))
    #expect(result.outcome == .ok && result.attempts == 2)
    #expect(server.requests[0].body == server.requests[1].body)
    #expect(try decompressed(server.requests[1].body) == noise(400_000))
    let busy = try ScriptedServer { _ in .good(503) }
    let once = try await makeSession().result(
      of: request(busy.url, oneShot(noise(1000)), attempts: 2))
    #expect(once.outcome == .retryable && once.attempts == 1)
    #expect(server.faults + busy.faults == [])
  }

  @Test func `a file that changes is still noticed`() async throws {
    let place = try TemporaryDirectory()
    try place.write("file", noise(10_000_000))
    let path = place.path("file")
    let server = try ScriptedServer { _ in
      [
        .readBody(upTo: 100_000),
        .call { _ = truncate(path, 9_000_000) },
        .readBody, .respond(200),
      ]
    }
    var put = try request(server.url, .file(path))
    put.options.expectation = .never
    let result = try await makeSession().result(of: put)
    #expect(result.outcome == .sourceChanged, "\(String(describing: result.error))")
    #expect(server.waitForEnds())
    #expect(server.completeBodyCount == 0)
  }

  @Test func `a server that accepts no compressed bodies is named as the cause`() async throws {
    let server = try ScriptedServer { _ in .good(415) }
    let result = try await makeSession().result(of: request(server.url, .bytes("a".utf8)))
    #expect(result.outcome == .failed)
    #expect("\(String(describing: result.error))".contains("may not take compressed bodies"))
    var twice = try request(server.url, .bytes("a".utf8))
    twice.headers.append("Content-Encoding", "br")
    let refused = try await makeSession().result(of: twice)
    #expect(refused.error?.code == .invalidHeader)
    #expect(server.requests.count == 1)
  }
}
