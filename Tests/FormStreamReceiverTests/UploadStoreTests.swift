import FormStreamMultipart
import FormStreamReceiver
import FormStreamTestSupport
import Foundation
import Glibc
import Testing

/// The limits of the store of resumable uploads, and whose files are in it.
@Suite struct UploadStoreTests {
  private static func creation(ofLength length: Int?) -> String {
    "PUT /a HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\(length.map { "Upload-Length: \($0)\r\n" } ?? "")"
      + "Upload-Complete: ?0\r\nUpload-Draft-Interop-Version: 8\r\n\r\n"
  }

  private static func create(_ server: UploadServer, length: Int? = nil) async throws -> String {
    let response = try await server.response(to: creation(ofLength: length))
    #expect(response.status == 201, "\(response)")
    return try #require(response.headers("Location").first)
  }

  /// Makes the files of uploads older.
  private static func age(_ server: UploadServer, bySeconds seconds: Double) throws {
    for name in server.uploadFiles {
      try FileManager.default.setAttributes(
        [.modificationDate: Date(timeIntervalSinceNow: -seconds)],
        ofItemAtPath: server.directory.path(".formstream-uploads/\(name)"))
    }
  }

  /// Regression: such uploads counted until they were too old, and could not make room.
  @Test func `uploads that got too many bytes take no place`() async throws {
    let server = try UploadServer { $0.count = 2 }
    for _ in 0..<5 {
      let path = try await Self.create(server, length: 1)
      let response = try await server.response(
        to:
          "PATCH \(path) HTTP/1.1\r\nHost: h\r\nContent-Type: application/partial-upload\r\nUpload-Offset: 0\r\n"
          + "Upload-Complete: ?0\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n")
      #expect(response.status == 400, "\(response)")
    }
  }

  /// Regression: an upload of unknown length claimed 16 MiB at once or nothing.
  @Test func `all the room can be used`() async throws {
    let server = try UploadServer { $0.store = 6 }
    let first = try await Self.create(server)
    #expect(try await server.patch(first, "abc", at: 0, completes: false).status == 204)
    let second = try await Self.create(server)
    #expect(try await server.patch(second, "abc", at: 0, completes: false).status == 204)
    let full = try await server.patch(first, "d", at: 3, completes: false)
    #expect(full.status == 507, "\(full)")
    #expect(full.headers("Upload-Complete") == ["?0"])
    // What is stored doesn't count.
    #expect(try await server.patch(second, "", at: 3, completes: true).status == 200)
    #expect(try await server.patch(first, "def", at: 3, completes: true).status == 200)
  }

  /// Regression: an upload without a byte kept the room that it had announced for a day.
  @Test func `who announces much and sends nothing keeps nobody out`() async throws {
    let directory = try TemporaryDirectory()
    let (large, begun): (String, String)
    do {
      let server = try UploadServer(in: directory) { $0.store = 100 }
      large = try await Self.create(server, length: 90)
      begun = try await Self.create(server, length: 10)
      #expect(try await server.patch(begun, "abc", at: 0, completes: false).status == 204)
      #expect(try await server.response(to: Self.creation(ofLength: 1)).status == 507)
      try Self.age(server, bySeconds: 100)
    }
    let server = try UploadServer(in: directory) { $0.store = 100 }
    let other = try await Self.create(server, length: 95)
    // Both go on if there is room.
    let waiting = try await server.patch(begun, "d", at: 3, completes: false)
    #expect(waiting.status == 507, "\(waiting)")
    #expect(try await server.offset(begun) == 3)
    _ = try await server.response(to: "DELETE \(other) HTTP/1.1\r\nHost: h\r\n\r\n")
    #expect(try await server.patch(begun, "defghij", at: 3, completes: true).status == 200)
    #expect(
      try await server.patch(large, String(repeating: "x", count: 90), at: 0, completes: true)
        .status == 200)
  }

  /// Regression: an upload that took longer than its age was removed when its client asked for the offset.
  @Test func `the age counts from the last byte`() async throws {
    let server = try UploadServer { $0.age = .seconds(8) }
    let path = try await Self.create(server, length: 6)
    let client = try server.client()
    try client.send(UploadServer.patchHead(path, 6, at: 0, completes: true) + "abc")
    #expect(await eventually { server.bodySize(path) == 3 })
    // The clock of the receiver counts whole seconds.
    let end = time(nil) + 9
    #expect(await eventually { time(nil) > end })
    try client.send("d")
    #expect(await eventually { server.bodySize(path) == 4 })
    let state = try await server.head(path)
    #expect(state.headers("Upload-Offset") == ["4"], "\(state)")
    #expect(state.headers("Upload-Limit").first?.hasSuffix("max-age=0") == false, "\(state)")
    let response = try await server.patch(path, "ef", at: 4, completes: true)
    #expect(response.status == 200, "\(response)")
  }

  /// Regression: the receiver that had not received the last bytes removed the files of the other.
  @Test func `an upload that another receiver goes on with is not removed`() async throws {
    let directory = try TemporaryDirectory()
    let first = try UploadServer(in: directory)
    let path = try await first.beginAndBreak("abc", of: 6)
    // To the second receiver, the upload becomes too old in ten seconds.
    try Self.age(first, bySeconds: -9)
    let second = try UploadServer(in: directory) { $0.age = .seconds(1) }
    let client = try first.client()
    try client.send(UploadServer.patchHead(path, 3, at: 3, completes: true) + "d")
    #expect(await eventually { first.bodySize(path) == 4 })
    let end = time(nil) + 11
    #expect(await eventually { time(nil) > end })
    // This request makes the second receiver remove what is too old.
    _ = try await second.head("/.formstream-uploads/\(String(repeating: "0", count: 32))")
    #expect(first.bodySize(path) == 4)
    try client.send("ef")
    #expect(try client.response().status == 200)
    #expect(try first.server.text("a") == "abcdef")
  }

  @Test func `an upload that lost bytes is over`() async throws {
    let server = try UploadServer()
    let path = try await server.beginAndBreak("abc", of: 6)
    #expect(truncate(server.directory.path(String(path.dropFirst())), 2) == 0)
    #expect(try await server.head(path).status == 404)
    #expect(try await server.patch(path, "cdef", at: 2, completes: true).status == 404)
    #expect(server.uploadFiles == [])
  }

  @Test func `after two hundred receivers with uploads no thread or descriptor is left`()
    async throws
  {
    for _ in 0..<200 {
      let server = try UploadServer()
      let path = try await server.beginAndBreak("abc", of: 6)
      #expect(try await server.patch(path, "d", at: 3, completes: false).status == 204)
    }
    // Other tests run at the same time: what they use varies, what is leaked would stay.
    #expect(
      await eventually {
        let holdings = ProcessResources.now()
        return holdings.threads.count < 150 && holdings.descriptors.count < 200
      })
  }

  /// Regression: the names of the files are the secrets.
  @Test func `nobody else can list the uploads`() async throws {
    let directory = try TemporaryDirectory()
    try makeDirectory(directory.local(".formstream-uploads"))
    #expect(chmod(directory.path(".formstream-uploads"), 0o755) == 0)
    let server = try UploadServer(in: directory)
    _ = try await Self.create(server)
    let mode = try FileManager.default.attributesOfItem(
      atPath: directory.path(".formstream-uploads"))[.posixPermissions]
    #expect(mode as? Int == 0o700)
  }

  @Test(.enabled(if: SmallDisk.isAllowed, "a file system can't be mounted here"))
  func `a client whose part doesn't fit learns it before it sends`() async throws {
    let directory = try TemporaryDirectory()
    let mount = try run(
      program: "/bin/mount", ["-t", "tmpfs", "-o", "size=4m", "tmpfs", directory.path])
    #expect(mount.exit == 0, "\(mount.stderr)")
    defer { _ = try? run(program: "/bin/umount", ["--lazy", directory.path]) }
    let server = try UploadServer(in: directory)
    let creation = try await server.response(
      to:
        "POST / HTTP/1.1\r\nHost: h\r\nTus-Resumable: 1.0.0\r\nUpload-Length: 5000000\r\nExpect: 100-continue\r\n"
        + "Content-Type: application/offset+octet-stream\r\nContent-Length: 5000000\r\n\r\n")
    #expect(creation.status == 507, "\(creation)")
    #expect(server.uploadFiles == [])
    let path = try await Self.create(server, length: 5_000_000)
    let part = try await server.response(
      to: UploadServer.patchHead(
        path, 5_000_000, at: 0, completes: true, ["Expect: 100-continue"]))
    #expect(part.status == 507, "\(part)")
    #expect(part.headers("Upload-Complete") == ["?0"])
    #expect(part.text.contains("What had arrived before is kept."), "\(part)")
    #expect(try await server.offset(path) == 0)
  }
}
