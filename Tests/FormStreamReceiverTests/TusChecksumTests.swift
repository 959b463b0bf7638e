import FormStreamReceiver
import FormStreamTestSupport
import Testing

/// The extension "checksum" of tus 1.0.0.
@Suite struct TusChecksumTests {
  /// printf abc | sha1sum | xxd -r -p | base64
  private static let sha1 = "Upload-Checksum: sha1 qZk+NkcGgWq6PiVxeFDCbJzQ2J0="
  /// printf abc | sha256sum | xxd -r -p | base64
  private static let sha256 =
    "Upload-Checksum: sha256 ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0="

  @Test(arguments: [sha1, sha256])
  func `a part is kept only if it has its checksum`(_ checksum: String) async throws {
    let server = try UploadServer()
    let path = try #require(
      try await server.createByTus(length: 6, body: "abc", checksum).headers("Location").first)
    for body in ["xyz", "a", ""] {
      let wrong = try await server.patchByTus(path, body, at: 3, checksum)
      #expect(wrong.status == 460, "\(wrong)")
      #expect(wrong.headers("Tus-Resumable") == ["1.0.0"])
      #expect(try await server.headByTus(path).headers("Upload-Offset") == ["3"])
    }
    #expect(server.storedNames == [])
    #expect(try await server.patchByTus(path, "abc", at: 3, checksum).status == 204)
    #expect(try server.server.text("file") == "abcabc")
    #expect(await eventually { server.server.reportedRequests.count == 4 })
    let record = try #require(server.server.reportedRequests.last)
    // printf abcabc | sha256sum
    #expect(
      record.json.contains("bbb59da3af939f7af5f360f2ceb80a496e3bae1cd87dde426db0ae40677e1c2c"),
      "\(record.json)")
  }

  @Test func `a creation whose checksum is wrong creates nothing`() async throws {
    let server = try UploadServer()
    let response = try await server.createByTus(length: 3, body: "xyz", Self.sha1)
    #expect(response.status == 460, "\(response)")
    #expect(response.headers("Location") == [])
    #expect(server.uploadFiles == [])
    #expect(server.storedNames == [])
  }

  @Test(arguments: [
    "md5 1B2M2Y8AsgTpgAmY7PhCfg==", "sha1", "sha1 ", "sha1 qZk+", "sha1 !", "SHA1 x y",
    "sha256 qZk+NkcGgWq6PiVxeFDCbJzQ2J0=", "",
    "sha1 qZk+NkcGgWq6PiVxeFDCbJzQ2J0=\r\nUpload-Checksum: sha1 qZk+NkcGgWq6PiVxeFDCbJzQ2J0=",
  ])
  func `a checksum that can't be checked is refused`(_ value: String) async throws {
    let server = try UploadServer()
    let path = try #require(
      try await server.createByTus(length: 3).headers("Location").first)
    let response = try await server.patchByTus(path, "abc", at: 0, "Upload-Checksum: \(value)")
    #expect(response.status == 400, "\(response)")
    #expect(try await server.headByTus(path).headers("Upload-Offset") == ["0"])
    let creation = try await server.createByTus(
      length: 3, body: "abc", "Upload-Checksum: \(value)")
    #expect(creation.status == 400, "\(creation)")
    #expect(server.uploadFiles.count == 2)
  }

  /// What came of such a part was never compared.
  @Test func `a part with a checksum that breaks is not kept`() async throws {
    let server = try UploadServer()
    let path = try #require(
      try await server.createByTus(length: 9, body: "abc").headers("Location").first)
    try await onNewThread {
      let client = try server.client()
      try client.send(UploadServer.tusPatchHead(path, 3, at: 3, [Self.sha1]) + "xy")
      client.closeWrite()
      _ = try? client.responsesToEnd()
    }
    #expect(try await server.headByTus(path).headers("Upload-Offset") == ["3"])
    // Nor does a newer request find it.
    let client = try server.client()
    try client.send(UploadServer.tusPatchHead(path, 3, at: 3, [Self.sha1]) + "xy")
    #expect(await eventually { server.bodySize(path) == 5 })
    #expect(try await server.headByTus(path).headers("Upload-Offset") == ["3"])
    #expect(try await server.patchByTus(path, "abcabc", at: 3).status == 204)
    #expect(try server.server.text("file") == "abcabcabc")
  }

  @Test func `nor is one kept whose receiver was killed`() async throws {
    let directory = try TemporaryDirectory()
    let first = try UploadServer(in: directory)
    let path = try #require(
      try await first.createByTus(length: 6, body: "abc").headers("Location").first)
    let client = try first.client()
    try client.send(UploadServer.tusPatchHead(path, 3, at: 3, [Self.sha1]) + "xy")
    #expect(await eventually { first.bodySize(path) == 5 })
    // The files as a kill would leave them.
    let copy = try TemporaryDirectory()
    _ = try run(program: "/bin/cp", ["-rp", directory.path(".formstream-uploads"), copy.path])
    let second = try UploadServer(in: copy)
    #expect(try await second.headByTus(path).headers("Upload-Offset") == ["3"])
    #expect(try await second.patchByTus(path, "d", at: 3).status == 204)
    // A part without a checksum is kept again.
    let third = try UploadServer(in: copy)
    #expect(try await third.headByTus(path).headers("Upload-Offset") == ["4"])
    #expect(try await third.patchByTus(path, "ef", at: 4).status == 204)
    #expect(try third.server.text("file") == "abcdef")
  }

  @Test func `the algorithms are announced`() async throws {
    let server = try UploadServer()
    let options = try await server.response(to: "OPTIONS / HTTP/1.1\r\nHost: h\r\n\r\n")
    #expect(options.headers("Tus-Checksum-Algorithm") == ["sha1,sha256"])
    #expect(options.headers("Tus-Extension").first?.contains("checksum") == true)
  }
}
