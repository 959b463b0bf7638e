import Foundation
import FormStreamReceiver
import FormStreamTestSupport
import Testing

/// Uploads that go on after their connection broke: draft-ietf-httpbis-resumable-upload, interop version 8.
@Suite struct ResumableUploadTests {
  @Test func `an upload that is not interrupted is told its URL first, and gets the usual response`()
    async throws
  {
    let server = try UploadServer()
    let responses = try await server.responses(
      to:
        "PUT /a HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nUpload-Complete: ?1\r\nUpload-Draft-Interop-Version: 8\r\n"
        + "Connection: close\r\n\r\nabc")
    #expect(responses.map(\.status) == [104, 200], "\(responses)")
    let interim = try #require(responses.first)
    let path = try #require(interim.headers("Location").first)
    #expect(path.wholeMatch(of: /\/\.formstream-uploads\/[0-9a-f]{32}/) != nil, "\(path)")
    #expect(interim.headers("Upload-Draft-Interop-Version") == ["8"])
    #expect(interim.headers("Upload-Limit") == ["min-size=0, max-age=86400"])
    let last = try #require(responses.last)
    #expect(last.headers("Upload-Complete") == ["?1"])
    #expect(last.text.contains(#""stored_as":"a""#), "\(last)")
    #expect(
      last.text.contains(
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"), "\(last)")
    #expect(server.storedNames == ["a"])
    #expect(try server.server.text("a") == "abc")
    #expect(server.uploadFiles == ["\(path.split(separator: "/").last ?? "").json"])
  }

  @Test func `an upload goes on after its connection broke`() async throws {
    let server = try UploadServer()
    let path = try await server.beginAndBreak("abc", of: 6)
    let head = try await server.head(path)
    #expect(head.status == 204)
    #expect(head.headers("Upload-Offset") == ["3"])
    #expect(head.headers("Upload-Complete") == ["?0"])
    #expect(head.headers("Upload-Length") == ["6"])
    #expect(head.headers("Cache-Control") == ["no-store"])
    #expect(head.headers("Upload-Limit").count == 1)
    #expect(server.storedNames == [])
    let response = try await server.patch(path, "def", at: 3, completes: true)
    #expect(response.status == 200, "\(response)")
    #expect(response.headers("Upload-Complete") == ["?1"])
    #expect(response.text.contains(#""method":"PUT","target":"/a""#), "\(response)")
    #expect(response.text.contains(#""body_bytes":6"#), "\(response)")
    #expect(
      response.text.contains(
        "bef57ec7f53a6d40beb640a780a639c83bc29ac8a9816f1fc6c5c6dcd93c4721"), "\(response)")
    #expect(server.storedNames == ["a"])
    #expect(try server.server.text("a") == "abcdef")
    #expect(await eventually { server.server.reportedRequests.count == 2 })
    let records = server.server.reportedRequests
    #expect(records.last?.json == response.text)
  }

  @Test func `an upload in parts is created without a byte`() async throws {
    let server = try UploadServer()
    let creation = try await server.response(
      to:
        "POST /b?x=1 HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\nUpload-Complete: ?0\r\nUpload-Length: 4\r\n"
        + "Upload-Draft-Interop-Version: 8\r\n\r\n")
    #expect(creation.status == 201, "\(creation)")
    #expect(creation.headers("Upload-Complete") == ["?0"])
    #expect(creation.headers("Upload-Offset") == ["0"])
    let path = try #require(creation.headers("Location").first)
    let part = try await server.patch(path, "ab", at: 0, completes: false)
    #expect(part.status == 204, "\(part)")
    #expect(part.headers("Upload-Complete") == ["?0"])
    #expect(part.headers("Upload-Offset") == ["2"])
    #expect(try await server.patch(path, "cd", at: 2, completes: false).status == 204)
    #expect(try await server.head(path).headers("Upload-Complete") == ["?0"])
    let last = try await server.patch(path, "", at: 4, completes: true)
    #expect(last.status == 200, "\(last)")
    #expect(last.text.contains(#""target":"/b?x=1""#), "\(last)")
    #expect(server.storedNames == ["file"])
    #expect(try server.server.text("file") == "abcd")
  }

  @Test func `an upload in parts whose length nobody knows`() async throws {
    let server = try UploadServer()
    let creation = try await server.response(
      to:
        "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nUpload-Complete: ?0\r\n"
        + "Upload-Draft-Interop-Version: 8\r\n\r\n2\r\nab\r\n0\r\n\r\n")
    #expect(creation.status == 201, "\(creation)")
    let path = try #require(creation.headers("Location").first)
    #expect(try await server.head(path).headers("Upload-Length") == [])
    let last = try await server.response(
      to:
        "PATCH \(path) HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nUpload-Complete: ?1\r\nUpload-Offset: 2\r\n"
        + "Content-Type: application/partial-upload\r\n\r\n1\r\nc\r\n0\r\n\r\n")
    #expect(last.status == 200, "\(last)")
    #expect(try server.server.text("a") == "abc")
  }

  @Test func `a form goes on in the middle of a part`() async throws {
    let server = try UploadServer()
    let form =
      "--b\r\nContent-Disposition: form-data; name=\"f\"; filename=\"x.txt\"\r\n\r\nhello\r\n--b\r\n"
      + "Content-Disposition: form-data; name=\"t\"\r\n\r\nv\r\n--b--\r\n"
    let size = form.utf8.count
    let path = try await server.beginAndBreak(
      String(form.prefix(75)), of: size, method: "POST",
      "Content-Type: multipart/form-data; boundary=b")
    let offset = try #require(try await server.offset(path))
    let rest = String(decoding: form.utf8.dropFirst(offset), as: UTF8.self)
    let response = try await server.patch(path, rest, at: offset, completes: true)
    #expect(response.status == 200, "\(response)")
    #expect(response.text.contains(#""value":"v""#), "\(response)")
    #expect(server.storedNames == ["x.txt"])
    #expect(try server.server.text("x.txt") == "hello")
    #expect(server.uploadFiles.count == 1)
  }

  @Test func `a form that is malformed is refused as any form, and not processed again`()
    async throws
  {
    let server = try UploadServer()
    let path = try await server.beginAndBreak(
      "rub", of: 7, method: "POST", "Content-Type: multipart/form-data; boundary=b")
    for _ in 0..<2 {
      let offset = try #require(try await server.offset(path))
      let response = try await server.patch(
        path, String("rubbish".dropFirst(offset)), at: offset, completes: true)
      #expect(response.status == 400, "\(response)")
      #expect(response.headers("Upload-Complete") == ["?1"])
    }
    #expect(server.storedNames == [])
  }

  @Test func `a client whose response was lost gets it again, and the upload is stored once`()
    async throws
  {
    let server = try UploadServer()
    let path = try await server.beginAndBreak("abc", of: 6)
    let first = try await server.patch(path, "def", at: 3, completes: true)
    let head = try await server.head(path)
    #expect(head.headers("Upload-Complete") == ["?1"])
    #expect(head.headers("Upload-Offset") == ["6"])
    for _ in 0..<3 {
      let again = try await server.patch(path, "", at: 6, completes: true)
      #expect(again.status == first.status)
      #expect(again.body == first.body)
      #expect(again.headers("Upload-Complete") == ["?1"])
    }
    #expect(server.storedNames == ["a"])
    #expect(await eventually { server.server.reportedRequests.count == 2 })
    // Nothing can be appended.
    #expect(try await server.patch(path, "x", at: 6, completes: true).status == 400)
    #expect(try await server.patch(path, "", at: 6, completes: false).status == 400)
    #expect(try await server.patch(path, "f", at: 5, completes: true).status == 409)
  }

  @Test func `an upload goes on at a receiver that was started again`() async throws {
    let directory = try TemporaryDirectory()
    let path: String
    do {
      let server = try UploadServer(in: directory)
      path = try await server.beginAndBreak("abc", of: 6)
    }
    let second = try UploadServer(in: directory)
    #expect(try await second.offset(path) == 3)
    let response = try await second.patch(path, "def", at: 3, completes: true)
    #expect(response.status == 200, "\(response)")
    #expect(try second.server.text("a") == "abcdef")
    #expect(
      response.text.contains(
        "bef57ec7f53a6d40beb640a780a639c83bc29ac8a9816f1fc6c5c6dcd93c4721"), "\(response)")
    let third = try UploadServer(in: directory)
    let again = try await third.patch(path, "", at: 6, completes: true)
    #expect(again.body == response.body)
    #expect(third.storedNames == ["a"])
  }

  @Test func `an upload that was not moved yet when the receiver was killed is stored once`()
    async throws
  {
    let directory = try TemporaryDirectory()
    let path: String
    do {
      let server = try UploadServer(in: directory)
      path = try await server.beginAndBreak("abcdef", of: 7)
      let name = String(path.dropFirst()) + ".json"
      let state = try server.server.text(name)
      try directory.write(
        name, state.replacingOccurrences(of: #""phase":"open""#, with: #""phase":"moving""#))
    }
    let second = try UploadServer(in: directory)
    #expect(try await second.head(path).headers("Upload-Complete") == ["?0"])
    let response = try await second.patch(path, "g", at: 6, completes: true)
    #expect(response.status == 200, "\(response)")
    #expect(second.storedNames == ["a"])
    #expect(try second.server.text("a") == "abcdefg")
  }

  /// A receiver that is killed while it stores an upload can't know whether it has. It never stores the upload again by itself.
  @Test func `an upload that was being stored when the receiver was killed has an unknown outcome`()
    async throws
  {
    let directory = try TemporaryDirectory()
    let path: String
    do {
      let server = try UploadServer(in: directory)
      path = try await server.beginAndBreak("abcdef", of: 7)
      let name = String(path.dropFirst()) + ".json"
      let state = try server.server.text(name)
      #expect(state.contains(#""phase":"open""#), "\(state)")
      try directory.write(
        name, state.replacingOccurrences(of: #""phase":"open""#, with: #""phase":"processing""#))
    }
    let second = try UploadServer(in: directory)
    let head = try await second.head(path)
    #expect(head.headers("Upload-Complete") == ["?1"])
    #expect(head.headers("Upload-Offset") == ["7"])
    let response = try await second.patch(path, "", at: 7, completes: true)
    #expect(response.status == 500, "\(response)")
    #expect(response.headers("Upload-Complete") == ["?1"])
    #expect(response.text.contains("may be stored or not"), "\(response)")
    #expect(second.storedNames == [])
    #expect(second.uploadFiles.count == 1)
  }

  @Test func `a request for the offset ends the request that appends`() async throws {
    let server = try UploadServer()
    let (client, path) = try server.begin("abc", of: 6)
    #expect(await eventually { server.bodySize(path) == 3 })
    let offset = try #require(try await server.offset(path))
    #expect(client.canReceive(within: .seconds(10)))
    #expect(try client.receive() == "")
    let response = try await server.patch(path, "def", at: offset, completes: true)
    #expect(response.status == 200, "\(response)")
    #expect(try server.server.text("a") == "abcdef")
  }

  @Test func `a second request that appends ends the first`() async throws {
    let server = try UploadServer()
    let path = try await server.beginAndBreak("", of: 6)
    let first = try server.client()
    try first.send(UploadServer.patchHead(path, 6, at: 0, completes: true) + "abc")
    #expect(await eventually { server.bodySize(path) == 3 })
    let response = try await server.patch(path, "DEF", at: 3, completes: true)
    #expect(response.status == 200, "\(response)")
    try? first.send("def")
    #expect(try first.receive() == "")
    #expect(try server.server.text("a") == "abcDEF")
    #expect(server.storedNames == ["a"])
  }

  @Test func `an upload is cancelled`() async throws {
    let server = try UploadServer()
    let path = try await server.beginAndBreak("abc", of: 6)
    let response = try await server.response(
      to: "DELETE \(path) HTTP/1.1\r\nHost: h\r\n\r\n")
    #expect(response.status == 204)
    #expect(try await server.head(path).status == 404)
    #expect(try await server.patch(path, "def", at: 3, completes: true).status == 404)
    #expect(server.uploadFiles == [])
  }

  @Test func `the interim response comes before 100 Continue`() async throws {
    let server = try UploadServer()
    let statuses = try await onNewThread {
      let client = try server.client()
      try client.send(
        "PUT /a HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nExpect: 100-continue\r\nUpload-Complete: ?1\r\n"
          + "Upload-Draft-Interop-Version: 8\r\n\r\n")
      var statuses = [try client.response().status, try client.response().status]
      try client.send("abc")
      statuses.append(try client.response().status)
      return statuses
    }
    #expect(statuses == [104, 100, 200])
  }

  @Test(arguments: [
    "PUT /a HTTP/1.1\r\nHost: h\r\nUpload-Complete: ?1\r\n",
    "PUT /a HTTP/1.1\r\nHost: h\r\nUpload-Complete: ?1\r\nUpload-Draft-Interop-Version: 7\r\n",
    "PUT /a HTTP/1.1\r\nHost: h\r\nUpload-Draft-Interop-Version: 8\r\n",
    "PUT /a HTTP/1.0\r\nHost: h\r\nUpload-Complete: ?1\r\nUpload-Draft-Interop-Version: 8\r\n",
    "PUT /a HTTP/1.1\r\nHost: h\r\nUpload-Complete: 1\r\nUpload-Draft-Interop-Version: 8\r\n",
  ])
  func `other uploads are ordinary`(_ head: String) async throws {
    let server = try UploadServer()
    let responses = try await server.responses(to: head + "Content-Length: 3\r\n\r\nabc")
    // A value that is no boolean may be a part, so it is refused as before.
    #expect(responses.map(\.status) == [head.contains(": 1\r\n") ? 400 : 200], "\(responses)")
    #expect(server.uploadFiles == [])
  }

  @Test func `the client is told now and then how much has arrived`() async throws {
    let server = try UploadServer()
    let size = 64 << 20
    let piece = String(repeating: "x", count: 256 << 10)
    let (client, path) = try server.begin(piece, of: size)
    // No interim response comes in the first second.
    while !client.canReceive(within: .milliseconds(50)) { try client.send(piece) }
    let interim = try client.response()
    #expect(interim.status == 104, "\(interim)")
    #expect(interim.headers("Upload-Draft-Interop-Version") == ["8"])
    #expect(interim.headers("Location") == [])
    let told = try #require(interim.headers("Upload-Offset").first.flatMap { Int($0) })
    client.reset()
    let offset = try #require(try await server.offset(path))
    #expect((1...offset).contains(told))
  }

  /// So long that it is hashed on a thread of its own.
  @Test func `a long upload with many breaks has the right digest`() async throws {
    let server = try UploadServer()
    let body = (0..<700_000).map { String($0 + 1_000_000) }.joined()
    let size = body.utf8.count
    let path = try await server.beginAndBreak(String(body.prefix(1_500_000)), of: size)
    var offset = try #require(try await server.offset(path))
    #expect(offset == 1_500_000)
    while size - offset > 1_100_000 {
      let part = String(decoding: body.utf8.dropFirst(offset).prefix(1_100_000), as: UTF8.self)
      #expect(try await server.patch(path, part, at: offset, completes: false).status == 204)
      offset += part.utf8.count
    }
    let rest = String(decoding: body.utf8.dropFirst(offset), as: UTF8.self)
    let response = try await server.patch(path, rest, at: offset, completes: true)
    #expect(response.status == 200, "\(response)")
    let digest = try await onNewThread {
      try run(program: "/usr/bin/sha256sum", [server.directory.path("a")], in: server.directory)
    }
    #expect(response.text.contains(#""sha256":"\#(digest.output.prefix(64))""#), "\(response)")
  }

  @Test func `over TLS an upload is created without a byte`() async throws {
    let identity = try Receiver.TLSIdentity.forTests()
    let server = try UploadServer(configure: { $0.tls = identity })
    let url = "https://127.0.0.1:\(server.port)"
    let common = ["-sSk", "-i", "-H", "Upload-Draft-Interop-Version: 8"]
    let creation = try await onNewThread {
      try curl(
        common + ["-X", "PUT", "-H", "Content-Length: 0", "-H", "Upload-Complete: ?0", "\(url)/a"])
    }
    #expect(creation.output.hasPrefix("HTTP/1.1 201 "), "\(creation)")
    let path = try #require(
      creation.output.firstMatch(of: /Location: (\/[^\r]+)/).map { String($0.1) })
    let last = try await onNewThread {
      try curl(
        common + [
          "-X", "PATCH", "-H", "Upload-Complete: ?1", "-H", "Upload-Offset: 0", "-H",
          "Content-Type: application/partial-upload", "--data-binary", "abc", "\(url)\(path)",
        ])
    }
    #expect(last.output.hasPrefix("HTTP/1.1 200 "), "\(last)")
    #expect(try server.server.text("a") == "abc")
    // Without a URL, the client sends the whole again if it must.
    let whole = try await onNewThread {
      try curl(common + ["-X", "PUT", "-H", "Upload-Complete: ?1", "--data-binary", "x", "\(url)/b"])
    }
    #expect(whole.output.hasPrefix("HTTP/1.1 200 "), "\(whole)")
  }

  @Test func `a short upload is an ordinary one`() async throws {
    let server = try UploadServer { $0.minimumSize = 4 }
    let head =
      "PUT /a HTTP/1.1\r\nHost: h\r\nUpload-Complete: ?1\r\nUpload-Draft-Interop-Version: 8\r\nConnection: close\r\n"
    let short = try await server.responses(to: head + "Content-Length: 3\r\n\r\nabc")
    #expect(short.map(\.status) == [200])
    let long = try await server.responses(to: head + "Content-Length: 4\r\n\r\nabcd")
    #expect(long.map(\.status) == [104, 200])
  }
}
