import FormStreamMultipart
import FormStreamReceiver
import FormStreamTestSupport
import Foundation
import Testing

/// Clients of resumable uploads that mean harm, or are broken, and what else may be in the directory of uploads.
@Suite struct HostileUploadTests {
  private static let creation =
    "PUT /a HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\nUpload-Complete: ?0\r\nUpload-Draft-Interop-Version: 8\r\n\r\n"

  @Test(arguments: [
    "/.formstream-uploads/evil", "//.formstream-uploads/evil", "/x/../.formstream-uploads/evil",
    "/%2eformstream-uploads/evil", "/./.formstream-uploads/evil", "/.formstream-uploads%2fevil",
    "/.formstream-uploads", "http://h/.formstream-uploads/evil",
  ])
  func `no upload gets into the directory of uploads by its target`(_ target: String)
    async throws
  {
    let server = try UploadServer()
    _ = try await server.beginAndBreak("abc", of: 6)
    let before = server.uploadFiles
    let response = try await server.server.put("evil", to: target)
    #expect([200, 404].contains(response.status), "\(response)")
    #expect(server.uploadFiles == before)
  }

  @Test func `nor by its file name`() async throws {
    let server = try UploadServer(overwrites: true)
    let path = try await server.beginAndBreak("abc", of: 6)
    let before = server.uploadFiles
    for name in [String(path.dropFirst()), "x/../\(path.dropFirst())", ".formstream-uploads"] {
      let form =
        "--b\r\nContent-Disposition: form-data; name=\"f\"; filename=\"\(name)\"\r\n\r\nevil\r\n--b--\r\n"
      let response = try await server.server.put(
        form, "Content-Type: multipart/form-data; boundary=b", method: "POST")
      #expect(response.status == 200, "\(response)")
      let coded = Data(name.utf8).base64EncodedString()
      let other = try await server.createByTus(
        length: 4, body: "evil", "Upload-Metadata: filename \(coded)")
      #expect(other.status == 201, "\(other)")
      let tus = try #require(other.headers("Location").first)
      _ = try await server.response(
        to: "DELETE \(tus) HTTP/1.1\r\nHost: h\r\nTus-Resumable: 1.0.0\r\n\r\n")
    }
    #expect(server.uploadFiles == before)
    #expect(try await server.offset(path) == 3)
  }

  @Test func `many appends at once leave one right file`() async throws {
    let server = try UploadServer()
    let body = (0..<30_000).map { String($0 + 1_000_000) }.joined()
    let path = try await server.beginAndBreak("", of: body.utf8.count)
    let statuses = await withTaskGroup(of: Int?.self) { group in
      for _ in 0..<8 {
        group.addTask { try? await server.patch(path, body, at: 0, completes: true).status }
      }
      return await group.reduce(into: [Int]()) { all, status in
        if let status { all.append(status) }
      }
    }
    #expect(statuses.allSatisfy { [200, 400, 409].contains($0) }, "\(statuses)")
    if try await server.head(path).headers("Upload-Complete") == ["?0"] {
      let offset = try #require(try await server.offset(path))
      let rest = String(decoding: body.utf8.dropFirst(offset), as: UTF8.self)
      #expect(try await server.patch(path, rest, at: offset, completes: true).status == 200)
    }
    #expect(server.storedNames == ["a"])
    #expect(try server.server.text("a") == body)
  }

  @Test func `a client that never reads is served all the same`() async throws {
    let server = try UploadServer()
    let client = try RawClient(.ip("127.0.0.1", port: server.port), receiveBuffer: 1024)
    let body = String(repeating: "x", count: 1_000_000)
    try client.send(
      "PUT /a HTTP/1.1\r\nHost: h\r\nContent-Length: 4000000\r\nUpload-Complete: ?1\r\n"
        + "Upload-Draft-Interop-Version: 8\r\n\r\n")
    for _ in 0..<4 { try client.send(body) }
    #expect(await eventually { server.storedNames == ["a"] })
  }

  @Test func `a link that turns up later in place of the directory is not followed`()
    async throws
  {
    let (server, elsewhere) = (try UploadServer(), try TemporaryDirectory())
    try FileManager.default.createSymbolicLink(
      atPath: server.directory.path(".formstream-uploads"), withDestinationPath: elsewhere.path)
    let response = try await server.response(to: Self.creation)
    #expect(response.status == 500, "\(response)")
    #expect(response.headers("Upload-Complete") == ["?0"])
    #expect(elsewhere.names == [])
    // Who doesn't need to resume isn't refused.
    let ordinary = try await server.responses(
      to:
        "PUT /a HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nUpload-Complete: ?1\r\nConnection: close\r\n"
        + "Upload-Draft-Interop-Version: 8\r\n\r\nabc")
    #expect(ordinary.map(\.status) == [200], "\(ordinary)")
  }

  @Test(arguments: ["a.json", "state", "\(String(repeating: "a", count: 32)).json", ".formstream-x"])
  func `rubbish in the directory does no harm`(_ name: String) async throws {
    let directory = try TemporaryDirectory()
    let path = try await UploadServer(in: directory).beginAndBreak("abc", of: 6)
    try directory.write(".formstream-uploads/\(name)", "{rubbish")
    let server = try UploadServer(in: directory)
    #expect(try await server.patch(path, "def", at: 3, completes: true).status == 200)
    #expect(try server.server.text("a") == "abcdef")
    #expect(server.uploadFiles.contains(name))
  }

  @Test func `a pipe in place of an upload's files is not opened`() async throws {
    let directory = try TemporaryDirectory()
    let path = try await UploadServer(in: directory).beginAndBreak("abc", of: 6)
    let file = directory.path(String(path.dropFirst()))
    try FileManager.default.removeItem(atPath: file)
    #expect(mkfifo(file, 0o600) == 0)
    let server = try UploadServer(in: directory)
    #expect(try await server.head(path).status == 404)
    try FileManager.default.removeItem(atPath: "\(file).json")
    #expect(mkfifo("\(file).json", 0o600) == 0)
    let second = try UploadServer(in: directory)
    #expect(try await second.head(path).status == 404)
  }

  @Test func `over TLS an upload goes on by tus, too`() async throws {
    let identity = try Receiver.TLSIdentity.forTests()
    let server = try UploadServer(configure: { $0.tls = identity })
    let url = "https://127.0.0.1:\(server.port)"
    let common = [
      "-sSk", "-i", "-H", "Tus-Resumable: 1.0.0", "-H", "Content-Type: application/offset+octet-stream",
    ]
    let creation = try await onNewThread {
      try curl(common + ["-H", "Upload-Length: 6", "--data-binary", "abc", "\(url)/"])
    }
    let path = try #require(
      creation.output.firstMatch(of: /Location: (\/[^\r]+)/).map { String($0.1) })
    // A refusal in the middle of the body.
    let wrong = try await onNewThread {
      try curl(
        common + ["-X", "PATCH", "-H", "Upload-Offset: 2", "--data-binary", "def", "\(url)\(path)"])
    }
    #expect(wrong.output.hasPrefix("HTTP/1.1 409 "), "\(wrong)")
    let last = try await onNewThread {
      try curl(
        common + ["-X", "PATCH", "-H", "Upload-Offset: 3", "--data-binary", "def", "\(url)\(path)"])
    }
    #expect(last.output.hasPrefix("HTTP/1.1 204 "), "\(last)")
    #expect(try server.server.text("file") == "abcdef")
  }
}
