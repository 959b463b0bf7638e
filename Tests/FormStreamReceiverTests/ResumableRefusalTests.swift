import FormStreamReceiver
import FormStreamTestSupport
import Foundation
import Testing

/// Requests about resumable uploads that are refused, and what protects the store of uploads.
@Suite struct ResumableRefusalTests {
  @Test func `a part at another offset is told the right one`() async throws {
    let server = try UploadServer()
    let path = try await server.beginAndBreak("abc", of: 6)
    for offset in [0, 2, 4, 6, 7, 999_999_999_999_999] {
      let response = try await server.patch(path, "x", at: offset, completes: false)
      #expect(response.status == 409, "\(response)")
      #expect(response.headers("Content-Type") == ["application/problem+json"])
      #expect(response.headers("Upload-Offset") == ["3"])
      #expect(response.headers("Upload-Complete") == ["?0"])
      #expect(
        response.text.contains(
          #""type":"https://iana.org/assignments/http-problem-types#mismatching-upload-offset""#))
      #expect(
        response.text.contains(#""expected-offset":3,"provided-offset":\#(offset)"#), "\(response)")
    }
    #expect(try await server.offset(path) == 3)
  }

  @Test(arguments: [
    "Upload-Offset: -1", "Upload-Offset: 1.0", "Upload-Offset: x", "Upload-Offset: 1000000000000000",
    "Upload-Offset:", "Upload-Offset: \"3\"", "Upload-Offset: 3, 3", "Upload-Offset: ?1",
    "X: y", "Upload-Offset: 3\r\nUpload-Offset: 3",
  ])
  func `a part without a valid offset is refused`(_ line: String) async throws {
    let server = try UploadServer()
    let path = try await server.beginAndBreak("abc", of: 6)
    let response = try await server.response(
      to:
        "PATCH \(path) HTTP/1.1\r\nHost: h\r\nContent-Type: application/partial-upload\r\nContent-Length: 1\r\n"
        + "Upload-Complete: ?0\r\n\(line)\r\n\r\nx")
    #expect(response.status == 400, "\(response)")
    #expect(try await server.offset(path) == 3)
  }

  @Test(arguments: [
    "Upload-Complete: 1", "Upload-Complete: ?2", "Upload-Complete: true", "X: y", "Upload-Complete:",
  ])
  func `a part must say whether it is the last`(_ line: String) async throws {
    let server = try UploadServer()
    let path = try await server.beginAndBreak("abc", of: 6)
    let response = try await server.response(
      to:
        "PATCH \(path) HTTP/1.1\r\nHost: h\r\nContent-Type: application/partial-upload\r\nContent-Length: 1\r\n"
        + "Upload-Offset: 3\r\n\(line)\r\n\r\nx")
    #expect(response.status == 400, "\(response)")
    #expect(try await server.offset(path) == 3)
  }

  @Test func `a part has a type of its own`() async throws {
    let server = try UploadServer()
    let path = try await server.beginAndBreak("abc", of: 6)
    let response = try await server.response(
      to:
        "PATCH \(path) HTTP/1.1\r\nHost: h\r\nContent-Type: text/plain\r\nContent-Length: 1\r\nUpload-Offset: 3\r\n"
        + "Upload-Complete: ?0\r\n\r\nx")
    #expect(response.status == 415, "\(response)")
    #expect(response.headers("Accept-Patch") == ["application/partial-upload"])
  }

  @Test(arguments: [
    // The part doesn't end where the upload does, or another length is announced.
    ("x", true, ""), ("wxyz", true, ""), ("wxyz", false, ""), ("xyz", true, "Upload-Length: 7"),
    ("x", false, "Upload-Length: 5"),
  ])
  func `lengths must agree`(_ body: String, _ completes: Bool, _ header: String) async throws {
    let server = try UploadServer()
    let path = try await server.beginAndBreak("abc", of: 6)
    let response =
      try await
      (header.isEmpty
      ? server.patch(path, body, at: 3, completes: completes)
      : server.patch(path, body, at: 3, completes: completes, header))
    #expect(response.status == 400, "\(response)")
    #expect(response.text.contains("#inconsistent-upload-length"), "\(response)")
    #expect(response.headers("Upload-Complete") == ["?0"])
    #expect(try await server.patch(path, "def", at: 3, completes: true).status == 200)
  }

  @Test func `a creation with two lengths is refused`() async throws {
    let server = try UploadServer()
    let response = try await server.response(
      to:
        "PUT /a HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nUpload-Length: 4\r\nUpload-Complete: ?1\r\n"
        + "Upload-Draft-Interop-Version: 8\r\n\r\nabc")
    #expect(response.status == 400, "\(response)")
    #expect(response.text.contains("#inconsistent-upload-length"), "\(response)")
    #expect(server.uploadFiles == [])
  }

  @Test func `an upload that gets too many bytes is over`() async throws {
    let server = try UploadServer()
    let path = try await server.beginAndBreak("abc", of: 6)
    let response = try await server.response(
      to:
        "PATCH \(path) HTTP/1.1\r\nHost: h\r\nContent-Type: application/partial-upload\r\nUpload-Offset: 3\r\n"
        + "Upload-Complete: ?0\r\nTransfer-Encoding: chunked\r\n\r\n4\r\ndefg\r\n0\r\n\r\n")
    #expect(response.status == 400, "\(response)")
    #expect(try await server.head(path).status == 404)
    #expect(server.uploadFiles == [])
  }

  @Test(arguments: ["HEAD", "GET", "PATCH", "DELETE", "OPTIONS", "PUT", "POST"])
  func `a guessed URL leads to nothing`(_ method: String) async throws {
    let server = try UploadServer()
    _ = try await server.beginAndBreak("abc", of: 6)
    for name in [String(repeating: "0", count: 32), "", "x", "../a", String(repeating: "A", count: 32)] {
      let response = try await server.response(
        to: "\(method) /.formstream-uploads/\(name) HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n",
        toHead: method == "HEAD")
      #expect(response.status == 404, "\(response)")
    }
    #expect(server.storedNames == [])
    #expect(server.uploadFiles.count == 2)
  }

  @Test func `other methods are refused at an upload`() async throws {
    let server = try UploadServer()
    let path = try await server.beginAndBreak("abc", of: 6)
    for method in ["PUT", "POST", "TRACE"] {
      let response = try await server.response(
        to: "\(method) \(path) HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n")
      #expect(response.status == 405, "\(response)")
      #expect(response.headers("Allow") == ["DELETE, GET, HEAD, OPTIONS, PATCH"])
    }
    #expect(try await server.offset(path) == 3)
  }

  @Test func `the token is asked for with each request`() async throws {
    let server = try UploadServer(configure: { $0.token = "secret" })
    let token = "Authorization: Bearer secret"
    let path = try await server.beginAndBreak("abc", of: 6, token)
    #expect(try await server.head(path).status == 401)
    #expect(try await server.patch(path, "def", at: 3, completes: true).status == 401)
    let wrong = "Authorization: Bearer another"
    #expect(try await server.patch(path, "def", at: 3, completes: true, wrong).status == 401)
    let cancelled = try await server.response(to: "DELETE \(path) HTTP/1.1\r\nHost: h\r\n\r\n")
    #expect(cancelled.status == 401)
    // The secret isn't written to the disk.
    for name in server.uploadFiles {
      let text = try server.server.text(".formstream-uploads/\(name)")
      #expect(!text.contains("secret"), "\(text)")
    }
    #expect(try await server.patch(path, "def", at: 3, completes: true, token).status == 200)
  }

  @Test func `the limits are announced`() async throws {
    let server = try UploadServer {
      $0.minimumSize = 7
    } configure: {
      $0.limits.body = 100
    }
    for target in ["/", "/a", "*"] {
      let response = try await server.response(to: "OPTIONS \(target) HTTP/1.1\r\nHost: h\r\n\r\n")
      #expect(response.status == 204, "\(response)")
      #expect(response.headers("Upload-Limit") == ["max-size=100, min-size=7, max-age=86400"])
    }
    let tooLarge = try await server.response(
      to:
        "PUT /a HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\nUpload-Length: 101\r\nUpload-Complete: ?0\r\n"
        + "Upload-Draft-Interop-Version: 8\r\n\r\n")
    #expect(tooLarge.status == 413, "\(tooLarge)")
  }

  @Test func `creations without a byte are bounded`() async throws {
    let server = try UploadServer { $0.count = 5 }
    var statuses: [Int: Int] = [:]
    for _ in 0..<20 {
      let response = try await server.response(to: Self.creation(ofLength: 10))
      statuses[response.status, default: 0] += 1
    }
    #expect(statuses == [201: 5, 503: 15])
    #expect(server.uploadFiles.count == 10)
    // Who doesn't need to resume isn't refused.
    let ordinary = try await server.responses(
      to:
        "PUT /a HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nUpload-Complete: ?1\r\nConnection: close\r\n"
        + "Upload-Draft-Interop-Version: 8\r\n\r\nabc")
    #expect(ordinary.map(\.status) == [200])
  }

  @Test func `the bytes of all uploads are bounded`() async throws {
    let server = try UploadServer { $0.store = 25 }
    #expect(try await server.response(to: Self.creation(ofLength: 10)).status == 201)
    let second = try await server.response(to: Self.creation(ofLength: 10))
    #expect(second.status == 201)
    #expect(try await server.response(to: Self.creation(ofLength: 6)).status == 507)
    // There will never be room for this one.
    #expect(try await server.response(to: Self.creation(ofLength: 26)).status == 413)
    let path = try #require(second.headers("Location").first)
    _ = try await server.response(to: "DELETE \(path) HTTP/1.1\r\nHost: h\r\n\r\n")
    #expect(try await server.response(to: Self.creation(ofLength: 6)).status == 201)
  }

  private static func creation(ofLength length: Int) -> String {
    "PUT /a HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\nUpload-Length: \(length)\r\nUpload-Complete: ?0\r\n"
      + "Upload-Draft-Interop-Version: 8\r\n\r\n"
  }

  @Test func `an upload that is too old is removed, without any request`() async throws {
    let server = try UploadServer { $0.age = .seconds(1) }
    let path = try await server.beginAndBreak("abc", of: 6)
    #expect(await eventually { server.uploadFiles == [] })
    #expect(try await server.head(path).status == 404)
    // The next one is removed, too, after there was none.
    _ = try await server.beginAndBreak("abc", of: 6)
    #expect(await eventually { server.uploadFiles == [] })
  }

  @Test func `an upload that must be new is refused before its body, and again at its end`()
    async throws
  {
    let server = try UploadServer()
    let path = try await server.beginAndBreak("abc", of: 6, "If-None-Match: *")
    #expect(try await server.server.put("first").status == 200)
    let late = try await server.patch(path, "def", at: 3, completes: true)
    #expect(late.status == 412, "\(late)")
    #expect(late.headers("Upload-Complete") == ["?1"])
    let early = try await server.responses(
      to:
        "PUT /a HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nUpload-Complete: ?1\r\nIf-None-Match: *\r\n"
        + "Upload-Draft-Interop-Version: 8\r\n\r\n")
    #expect(early.map(\.status) == [412], "\(early)")
    #expect(server.storedNames == ["a"])
    #expect(try server.server.text("a") == "first")
  }

  @Test func `the digest of a part is compared with the part`() async throws {
    let server = try UploadServer()
    let wrong = "Content-Digest: sha-256=:ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=:"
    // That is the digest of "abc".
    let creation = try await server.response(
      to:
        "PUT /a HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nUpload-Complete: ?0\r\n\(wrong)\r\n"
        + "Upload-Draft-Interop-Version: 8\r\n\r\nabc")
    #expect(creation.status == 201, "\(creation)")
    let path = try #require(creation.headers("Location").first)
    for completes in [true, false] {
      let response = try await server.patch(path, "def", at: 3, completes: completes, wrong)
      #expect(response.status == 400, "\(response)")
      #expect(response.text.contains("about:blank"), "\(response)")
      #expect(response.headers("Upload-Complete") == ["?0"])
      #expect(try await server.offset(path) == 3)
    }
    let response = try await server.patch(path, "abc", at: 3, completes: true, wrong)
    #expect(response.status == 200, "\(response)")
    #expect(try server.server.text("a") == "abcabc")
  }

  @Test func `the digest of the whole is compared with the whole`() async throws {
    let server = try UploadServer()
    for isRight in [false, true] {
      let path = try await server.beginAndBreak(
        "a", of: 3, "Repr-Digest: sha-256=:ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=:")
      let response = try await server.patch(path, isRight ? "bc" : "xx", at: 1, completes: true)
      #expect(response.status == (isRight ? 200 : 400), "\(response)")
      #expect(response.headers("Upload-Complete") == ["?1"])
      #expect(server.storedNames == (isRight ? ["a"] : []))
    }
  }

  @Test func `another receiver at the same directory can't go on with an upload in use`()
    async throws
  {
    let directory = try TemporaryDirectory()
    let first = try UploadServer(in: directory)
    let (client, path) = try first.begin("abc", of: 6)
    #expect(await eventually { first.bodySize(path) == 3 })
    let second = try UploadServer(in: directory)
    // Not 404, with which the client would begin again.
    #expect(try await second.head(path).status == 503)
    try client.send("def")
    #expect(try client.response().status == 200)
    #expect(try first.server.text("a") == "abcdef")
  }

  @Test func `an upload that became too old meanwhile is removed at the start`() async throws {
    let directory = try TemporaryDirectory()
    do {
      let server = try UploadServer(in: directory)
      _ = try await server.beginAndBreak("abc", of: 6)
      for name in server.uploadFiles {
        try FileManager.default.setAttributes(
          [.modificationDate: Date(timeIntervalSinceNow: -100_000)],
          ofItemAtPath: directory.path(".formstream-uploads/\(name)"))
      }
    }
    let second = try UploadServer(in: directory)
    #expect(second.uploadFiles == [])
  }

  @Test func `a link in place of the directory is refused`() throws {
    let (directory, other) = (try TemporaryDirectory(), try TemporaryDirectory())
    try FileManager.default.createSymbolicLink(
      atPath: directory.path(".formstream-uploads"), withDestinationPath: other.path)
    #expect(throws: ReceiverError.self) { _ = try UploadServer(in: directory) }
    #expect(other.names == [])
  }

  @Test func `links in place of an upload's files are not followed`() async throws {
    let server = try UploadServer()
    let victim = try server.directory.write("victim", "victim")
    let path = try await server.beginAndBreak("abc", of: 6)
    let file = server.directory.path(String(path.dropFirst()))
    try FileManager.default.removeItem(atPath: file)
    try FileManager.default.createSymbolicLink(atPath: file, withDestinationPath: "\(victim)")
    #expect(try await server.head(path).status == 404)
    #expect(try await server.patch(path, "def", at: 6, completes: true).status == 404)
    try FileManager.default.removeItem(atPath: file)
    try FileManager.default.linkItem(atPath: "\(victim)", toPath: file)
    #expect(try await server.head(path).status == 404)
    #expect(try server.server.text("victim") == "victim")
  }

  @Test func `a page of another site can't go on with an upload`() async throws {
    let server = try UploadServer()
    let path = try await server.beginAndBreak("abc", of: 6)
    let response = try await server.patch(
      path, "def", at: 3, completes: true, "Origin: http://evil.example")
    #expect(response.status == 403, "\(response)")
  }

  /// Regression: the compressed bytes were appended.
  @Test(arguments: [
    ("Content-Encoding: gzip", 415), ("If-Match: \"x\"", 501), ("If-None-Match: *", 501),
    ("Content-Range: bytes 3-5/6", 400),
  ])
  func `a part with a header that can't be kept to is refused`(_ header: String, _ status: Int)
    async throws
  {
    let server = try UploadServer()
    let path = try await server.beginAndBreak("abc", of: 6)
    let response = try await server.patch(path, "def", at: 3, completes: true, header)
    #expect(response.status == status, "\(response)")
    #expect(try await server.offset(path) == 3)
    #expect(try await server.patch(path, "def", at: 3, completes: true).status == 200)
  }

  /// Regression: the connection was closed without a response.
  @Test(arguments: ["DELETE", "HEAD", "OPTIONS"])
  func `a method that is meant has no body either`(_ method: String) async throws {
    let server = try UploadServer()
    let path = try await server.beginAndBreak("abc", of: 6)
    let response = try await server.response(
      to:
        "POST \(path) HTTP/1.1\r\nHost: h\r\nTus-Resumable: 1.0.0\r\nX-HTTP-Method-Override: \(method)\r\n"
        + "Content-Length: 3\r\n\r\nabc")
    #expect(response.status == 400, "\(response)")
    #expect(try await server.offset(path) == 3)
  }

  @Test func `a record doesn't show the name in an absolute target either`() async throws {
    let server = try UploadServer()
    let path = try await server.beginAndBreak("abc", of: 6)
    let response = try await server.patch("http://h\(path)", "d", at: 2, completes: false)
    #expect(response.status == 409, "\(response)")
    #expect(await eventually { server.server.reportedRequests.count == 2 })
    let id = String(try #require(path.split(separator: "/").last))
    for record in server.server.reportedRequests {
      #expect(!record.json.contains(id), "\(record.json)")
    }
  }

  /// Regression: the client learned it when all of its bytes had arrived.
  @Test(arguments: [
    "PUT /a HTTP/1.1\r\nUpload-Complete: ?1\r\nUpload-Draft-Interop-Version: 8\r\nContent-Length: 6\r\n",
    "PUT /a HTTP/1.1\r\nUpload-Complete: ?0\r\nUpload-Draft-Interop-Version: 8\r\nContent-Length: 0\r\n",
    "POST / HTTP/1.1\r\nTus-Resumable: 1.0.0\r\nUpload-Length: 6\r\nContent-Length: 0\r\n",
  ])
  func `a digest that can't be read is refused before the body`(_ head: String) async throws {
    let server = try UploadServer()
    let responses = try await server.responses(
      to: head + "Host: h\r\nRepr-Digest: sha-256=:abc:\r\n\r\n")
    #expect(responses.map(\.status) == [400], "\(responses)")
    #expect(server.uploadFiles == [])
  }
}
