import Foundation
import FormStreamMultipart
import FormStreamReceiver
import FormStreamTestSupport
import Testing

/// Resumable uploads by tus 1.0.0.
@Suite struct TusTests {
  /// `filename` is "a b.txt", `filetype` is text/plain.
  private static let metadata = "Upload-Metadata: filename YSBiLnR4dA==,filetype dGV4dC9wbGFpbg=="

  @Test func `an upload arrives in parts`() async throws {
    let server = try UploadServer { $0.minimumSize = 1000 }
    let creation = try await server.createByTus(length: 6, Self.metadata)
    #expect(creation.status == 201, "\(creation)")
    #expect(creation.headers("Tus-Resumable") == ["1.0.0"])
    #expect(creation.headers("Upload-Expires").count == 1)
    let path = try #require(creation.headers("Location").first)
    let part = try await server.patchByTus(path, "abc", at: 0)
    #expect(part.status == 204, "\(part)")
    #expect(part.headers("Upload-Offset") == ["3"])
    let state = try await server.headByTus(path)
    #expect(state.status == 200)
    #expect(state.headers("Upload-Offset") == ["3"])
    #expect(state.headers("Upload-Length") == ["6"])
    #expect(state.headers("Cache-Control") == ["no-store"])
    #expect(state.headers("Upload-Metadata") == [String(Self.metadata.dropFirst(17))])
    let last = try await server.patchByTus(path, "def", at: 3)
    #expect(last.status == 204, "\(last)")
    #expect(last.headers("Upload-Offset") == ["6"])
    #expect(last.headers("Tus-Resumable") == ["1.0.0"])
    #expect(server.storedNames == ["a b.txt"])
    #expect(try server.server.text("a b.txt") == "abcdef")
    #expect(await eventually { server.server.reportedRequests.count == 1 })
    let record = try #require(server.server.reportedRequests.first)
    #expect(record.json.contains(#""content_type":"text/plain""#), "\(record.json)")
    #expect(record.json.contains(#""method":"POST","target":"/files""#), "\(record.json)")
    #expect(record.json.contains(#""status":204"#), "\(record.json)")
    // A client that lost the response asks, or sends the empty rest again.
    #expect(try await server.headByTus(path).headers("Upload-Offset") == ["6"])
    #expect(try await server.patchByTus(path, "", at: 6).status == 204)
    #expect(server.storedNames == ["a b.txt"])
  }

  /// The last response is 204, and has no body. Without the record, a client would not know under which name its file is stored.
  @Test func `the response to the last part brings the record`() async throws {
    let server = try UploadServer()
    let path = try #require(
      try await server.createByTus(length: 3, Self.metadata).headers("Location").first)
    #expect(try await server.patchByTus(path, "a", at: 0).headers("Upload-Record") == [])
    let last = try await server.patchByTus(path, "bc", at: 1)
    #expect(await eventually { server.server.reportedRequests.count == 1 })
    let record = try #require(server.server.reportedRequests.first)
    #expect(last.headers("Upload-Record") == [Data(record.line).base64EncodedString()])
    #expect(record.json.contains(#""stored_as":"a b.txt""#), "\(record.json)")
    // A client that lost the response gets the record, too.
    let repeated = try await server.patchByTus(path, "", at: 3)
    #expect(repeated.headers("Upload-Record") == last.headers("Upload-Record"))
  }

  /// Regression: nginx allows 4 KiB of headers by default. A record of 3 KiB had 5,462 bytes in base 64, so the client got 502 for an
  /// upload that was stored, again and again.
  @Test(arguments: [200, 3000, 60_000])
  func `a larger record is not in a header, and can be asked for`(_ size: Int) async throws {
    let server = try UploadServer()
    // Parts of a form, because the record has no room for a longer name of a file.
    let form =
      "--b\r\nContent-Disposition: form-data; name=a\r\n\r\n\(String(repeating: "x", count: size))\r\n--b--\r\n"
    let type = Data("multipart/form-data; boundary=b".utf8).base64EncodedString()
    let path = try #require(
      try await server.createByTus(length: form.utf8.count, "Upload-Metadata: filetype \(type)")
        .headers("Location").first)
    let last = try await server.patchByTus(path, form, at: 0)
    #expect(last.status == 204, "\(last)")
    #expect(await eventually { server.server.reportedRequests.count == 1 })
    let record = try #require(server.server.reportedRequests.first)
    #expect(
      last.headers("Upload-Record")
        == (size < 1000 ? [Data(record.line).base64EncodedString()] : []))
    #expect(last.headers.allSatisfy { $0.value.utf8.count <= 2048 })
    let get = try await server.response(to: "GET \(path) HTTP/1.1\r\nHost: h\r\n\r\n")
    #expect(get.status == 200, "\(get)")
    #expect(get.headers("Content-Type") == ["application/json"])
    #expect(get.text == record.json)
  }

  @Test func `a response of the handler hides the record`() async throws {
    let directory = try TemporaryDirectory()
    let path = LocalPath(directory.path)
    var configuration = Receiver.Configuration()
    configuration.resumableUploads = Receiver.ResumableUploads(in: path)
    let receiver = try Receiver.start(
      configuration,
      handler: DirectoryHandler(path).responding { _ in try UploadResponse(status: 200, text: "Thanks.") })
    let response = try await onNewThread {
      let client = try RawClient(.ip("127.0.0.1", port: receiver.port))
      try client.send(
        "POST / HTTP/1.1\r\nHost: h\r\nTus-Resumable: 1.0.0\r\nUpload-Length: 1\r\n"
          + "Content-Type: application/offset+octet-stream\r\nContent-Length: 1\r\n\r\na")
      return try client.response()
    }
    #expect(response.status == 201, "\(response)")
    #expect(response.headers("Upload-Record") == [])
    let get = try await onNewThread {
      let client = try RawClient(.ip("127.0.0.1", port: receiver.port))
      try client.send("GET \(response.headers("Location").first ?? "") HTTP/1.1\r\nHost: h\r\n\r\n")
      return try client.response()
    }
    #expect((get.status, get.text) == (204, ""), "\(get)")
    #expect(directory.names.contains("file"))
  }

  @Test func `an upload may come with its creation`() async throws {
    let server = try UploadServer()
    let whole = try await server.createByTus(length: 3, body: "abc", Self.metadata)
    #expect(whole.status == 201, "\(whole)")
    #expect(whole.headers("Upload-Offset") == ["3"])
    #expect(whole.headers("Location").count == 1)
    #expect(try server.server.text("a b.txt") == "abc")
    let part = try await server.createByTus(length: 3, body: "ab")
    #expect(part.headers("Upload-Offset") == ["2"])
    let path = try #require(part.headers("Location").first)
    // Clients behind proxies that don't let PATCH through.
    let last = try await server.patchByTus(
      path, "c", at: 2, "X-HTTP-Method-Override: PATCH", method: "POST")
    #expect(last.status == 204, "\(last)")
    #expect(server.storedNames == ["a b.txt", "file"])
  }

  @Test func `an empty upload is complete at once`() async throws {
    let server = try UploadServer()
    #expect(try await server.createByTus(length: 0, Self.metadata).status == 201)
    #expect(try server.server.text("a b.txt") == "")
  }

  @Test func `a length may come later`() async throws {
    let server = try UploadServer()
    let creation = try await server.response(
      to:
        "POST / HTTP/1.1\r\nHost: h\r\nTus-Resumable: 1.0.0\r\nUpload-Defer-Length: 1\r\nContent-Length: 0\r\n\r\n"
    )
    #expect(creation.status == 201, "\(creation)")
    let path = try #require(creation.headers("Location").first)
    #expect(try await server.patchByTus(path, "ab", at: 0).status == 204)
    #expect(try await server.headByTus(path).headers("Upload-Defer-Length") == ["1"])
    #expect(server.storedNames == [])
    #expect(try await server.patchByTus(path, "c", at: 2, "Upload-Length: 3").status == 204)
    #expect(server.storedNames == ["file"])
  }

  @Test func `the server says what it supports`() async throws {
    let server = try UploadServer(configure: { $0.limits.body = 100 })
    let options = try await server.response(to: "OPTIONS / HTTP/1.1\r\nHost: h\r\n\r\n")
    #expect(options.status == 204)
    #expect(options.headers("Tus-Version") == ["1.0.0"])
    #expect(options.headers("Tus-Max-Size") == ["100"])
    #expect(options.headers("Tus-Extension").first?.contains("creation-with-upload") == true)
    #expect(try await server.createByTus(length: 101).status == 413)
    // Regression: a file was refused that was larger than a part may be, and not announced as too large.
    let parts = try UploadServer(configure: {
      $0.limits.body = 100
      $0.limits.form.partBytes = 50
    })
    let less = try await parts.response(to: "OPTIONS / HTTP/1.1\r\nHost: h\r\n\r\n")
    #expect(less.headers("Tus-Max-Size") == ["50"], "\(less)")
    #expect(try await parts.createByTus(length: 51).status == 413)
  }

  @Test func `requests that don't fit are refused`() async throws {
    let server = try UploadServer()
    let path = try #require(
      try await server.createByTus(length: 6, body: "abc").headers("Location").first)
    let wrong = try await server.patchByTus(path, "d", at: 2)
    #expect(wrong.status == 409, "\(wrong)")
    #expect(wrong.headers("Tus-Resumable") == ["1.0.0"])
    #expect(try await server.patchByTus(path, "defg", at: 3).status == 400)
    let old = try await server.response(
      to: "HEAD \(path) HTTP/1.1\r\nHost: h\r\nTus-Resumable: 0.2.2\r\n\r\n", toHead: true)
    #expect(old.status == 412)
    #expect(old.headers("Tus-Version") == ["1.0.0"])
    let type = try await server.response(
      to:
        "PATCH \(path) HTTP/1.1\r\nHost: h\r\nTus-Resumable: 1.0.0\r\nUpload-Offset: 3\r\nContent-Length: 1\r\n\r\nd"
    )
    #expect(type.status == 415, "\(type)")
    let none = try await server.response(
      to: "POST / HTTP/1.1\r\nHost: h\r\nTus-Resumable: 1.0.0\r\nContent-Length: 0\r\n\r\n")
    #expect(none.status == 400, "\(none)")
    #expect(try await server.headByTus(path).headers("Upload-Offset") == ["3"])
    let end = try await server.response(
      to: "DELETE \(path) HTTP/1.1\r\nHost: h\r\nTus-Resumable: 1.0.0\r\n\r\n")
    #expect(end.status == 204)
    #expect(end.headers("Tus-Resumable") == ["1.0.0"])
    #expect(try await server.headByTus(path).status == 404)
    #expect(server.storedNames == [])
  }
}
