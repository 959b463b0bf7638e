import FormStreamMultipart
import FormStreamPlatform
import FormStreamReceiver
import FormStreamTestSupport
import Foundation
import Testing

/// When an upload by tus counts as stored. To a client of tus, an upload with all bytes is a success: it asks for the offset, and
/// goes away.
@Suite struct TusCompletionTests {
  /// The SHA-256 of "abc".
  private static let digestOfABC =
    "Repr-Digest: sha-256=:ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=:"

  /// A receiver that stores files, with responses of its own.
  private static func receiver(
    in directory: TemporaryDirectory,
    onHead: @escaping @Sendable (UploadRequest) -> Void = { _ in },
    _ respond: @escaping @Sendable () throws -> UploadResponse?
  ) throws -> Receiver {
    var uploads = Receiver.ResumableUploads(in: LocalPath(directory.path))
    uploads.minimumSize = 0
    var configuration = Receiver.Configuration()
    configuration.resumableUploads = uploads
    return try Receiver.start(
      configuration,
      handler: try DirectoryHandler(LocalPath(directory.path)).responding { _ in try respond() },
      onHead: onHead)
  }

  private static func client(_ receiver: Receiver) throws -> RawClient {
    try RawClient(.ip("127.0.0.1", port: receiver.port))
  }

  /// Creates an upload of three bytes, and returns its path.
  private static func create(_ receiver: Receiver) async throws -> String {
    try await onNewThread {
      let client = try client(receiver)
      try client.send(
        "POST / HTTP/1.1\r\nHost: h\r\nTus-Resumable: 1.0.0\r\nUpload-Length: 3\r\nContent-Length: 0\r\n\r\n"
      )
      return try #require(try client.response().headers("Location").first)
    }
  }

  /// Regression: the offset told the client that all was stored, and nobody ever stored it.
  @Test func `an upload that has all its bytes is stored before the client is told so`()
    async throws
  {
    let directory = try TemporaryDirectory()
    let path: String
    do {
      let server = try UploadServer(in: directory)
      path = try #require(
        try await server.createByTus(length: 6, body: "abcde").headers("Location").first)
    }
    // The receiver was killed after the last byte was written, and before the upload was stored.
    try directory.write(String(path.dropFirst()), "abcdef")
    let second = try UploadServer(in: directory)
    let state = try await second.headByTus(path)
    #expect(state.status == 200, "\(state)")
    #expect(state.headers("Upload-Offset") == ["6"])
    #expect(state.headers("Upload-Length") == ["6"])
    #expect(second.storedNames == ["file"])
    #expect(try second.server.text("file") == "abcdef")
    #expect(await eventually { second.server.reportedRequests.count == 1 })
    let record = try #require(second.server.reportedRequests.first)
    #expect(record.json.contains(#""method":"POST","target":"/files""#), "\(record.json)")
    #expect(record.json.contains(#""status":200"#), "\(record.json)")
    #expect(
      record.json.contains("bef57ec7f53a6d40beb640a780a639c83bc29ac8a9816f1fc6c5c6dcd93c4721"))
    #expect(try await second.headByTus(path).headers("Upload-Offset") == ["6"])
    #expect(try await second.patchByTus(path, "", at: 6).status == 204)
    #expect(second.storedNames == ["file"])
  }

  /// The client gave the last part up when all of it had arrived, and asks before the receiver has noticed its end.
  @Test func `a client that asks too early is told after its upload was stored`() async throws {
    let server = try UploadServer()
    let path = try #require(try await server.createByTus(length: 6).headers("Location").first)
    let client = try server.client()
    // The end of the chunks is missing.
    try client.send(
      "PATCH \(path) HTTP/1.1\r\nHost: h\r\nTus-Resumable: 1.0.0\r\nUpload-Offset: 0\r\nTransfer-Encoding: chunked\r\n"
        + "Content-Type: application/offset+octet-stream\r\n\r\n6\r\nabcdef\r\n")
    #expect(await eventually { server.bodySize(path) == 6 })
    let state = try await server.headByTus(path)
    #expect(state.headers("Upload-Offset") == ["6"], "\(state)")
    #expect(try server.server.text("file") == "abcdef")
  }

  /// Regression: the client was told the offset while the upload was processed, and went away before that failed.
  @Test(arguments: [true, false])
  func `a client that asks while its upload is processed waits for that`(_ isStored: Bool)
    async throws
  {
    let (isProcessed, isAsked, mayGoOn) = (try Gate(), try Gate(), try Gate())
    let directory = try TemporaryDirectory()
    let receiver = try Self.receiver(
      in: directory, onHead: { if $0.method == "HEAD" { isAsked.open() } }
    ) {
      isProcessed.open()
      #expect(mayGoOn.wait())
      return isStored ? nil : try UploadResponse(status: 422)
    }
    let path = try await Self.create(receiver)
    let client = try Self.client(receiver)
    try client.send(UploadServer.tusPatchHead(path, 3, at: 0) + "abc")
    try await isProcessed.opened()
    let asking = try Self.client(receiver)
    try asking.send("HEAD \(path) HTTP/1.1\r\nHost: h\r\nTus-Resumable: 1.0.0\r\n\r\n")
    try await isAsked.opened()
    mayGoOn.open()
    let state = try asking.response(toHead: true)
    #expect(state.status == (isStored ? 200 : 404), "\(state)")
    let last = try client.response()
    #expect(last.status == (isStored ? 204 : 422), "\(last)")
    await receiver.stop()
  }

  /// Regression: the client was told that all was stored.
  @Test func `an outcome that nobody knows is no success`() async throws {
    let directory = try TemporaryDirectory()
    let path: String
    do {
      let server = try UploadServer(in: directory)
      path = try #require(
        try await server.createByTus(length: 6, body: "abcde").headers("Location").first)
      let name = String(path.dropFirst()) + ".json"
      let state = try server.server.text(name)
      try directory.write(
        name, state.replacingOccurrences(of: #""phase":"open""#, with: #""phase":"processing""#))
    }
    let second = try UploadServer(in: directory)
    let state = try await second.headByTus(path)
    #expect(state.status == 500, "\(state)")
    #expect(state.headers("Upload-Offset") == [])
    #expect(try await second.patchByTus(path, "", at: 6).status == 500)
  }

  /// Regression: the upload had all its bytes, so clients took the failure for a success.
  @Test func `an upload that could not be stored is gone`() async throws {
    let server = try UploadServer()
    let path = try #require(
      try await server.createByTus(length: 3, body: "xy", Self.digestOfABC)
        .headers("Location").first)
    let last = try await server.patchByTus(path, "z", at: 2)
    #expect(last.status == 400, "\(last)")
    #expect(try await server.headByTus(path).status == 404)
    #expect(try await server.patchByTus(path, "", at: 3).status == 404)
    #expect(server.uploadFiles == [])
    #expect(server.storedNames == [])
  }

  /// Regression: its bytes were removed, and the client had to send all of them again.
  @Test(arguments: [503, 507], [true, false])
  func `an upload that was refused for the moment can be completed later`(
    _ status: Int, _ asks: Bool
  ) async throws {
    let directory = try TemporaryDirectory()
    let hasRoom = Guarded(false)
    let receiver = try Self.receiver(in: directory) {
      hasRoom.withLock(\.self) ? nil : try UploadResponse(status: status)
    }
    let path = try await Self.create(receiver)
    let head = "HEAD \(path) HTTP/1.1\r\nHost: h\r\nTus-Resumable: 1.0.0\r\n\r\n"
    let responses = try await onNewThread {
      let client = try Self.client(receiver)
      try client.send(UploadServer.tusPatchHead(path, 3, at: 0) + "abc")
      let last = try client.response()
      // No offset: the client would take that for a success.
      try client.send(head)
      let state = try client.response(toHead: true)
      hasRoom.withLock { $0 = true }
      try client.send(asks ? head : UploadServer.tusPatchHead(path, 0, at: 3))
      return [last, state, try client.response(toHead: asks)]
    }
    #expect(responses.map(\.status) == [status, status, asks ? 200 : 204])
    #expect(responses.map { $0.headers("Upload-Offset") } == [[], [], ["3"]])
    #expect(directory.names.sorted() == [".formstream-uploads", "file"])
    await receiver.stop()
  }

  @Test func `a receiver that starts completes an upload that was refused for the moment`()
    async throws
  {
    let directory = try TemporaryDirectory()
    let path: String
    do {
      let receiver = try Self.receiver(in: directory) { try UploadResponse(status: 507) }
      path = try await Self.create(receiver)
      let status = try await onNewThread {
        let client = try Self.client(receiver)
        try client.send(UploadServer.tusPatchHead(path, 3, at: 0) + "abc")
        return try client.response().status
      }
      #expect(status == 507)
      await receiver.stop()
    }
    let server = try UploadServer(in: directory)
    #expect(try await server.headByTus(path).status == 200)
    #expect(try server.server.text("file") == "abc")
  }

  /// Nobody could complete it: the client never got the URL.
  @Test func `an upload whose creation was refused for the moment is gone`() async throws {
    let directory = try TemporaryDirectory()
    let receiver = try Self.receiver(in: directory) { try UploadResponse(status: 507) }
    let response = try await onNewThread {
      let client = try Self.client(receiver)
      try client.send(
        "POST / HTTP/1.1\r\nHost: h\r\nTus-Resumable: 1.0.0\r\nUpload-Length: 3\r\nContent-Length: 3\r\n"
          + "Content-Type: application/offset+octet-stream\r\n\r\nabc")
      return try client.response()
    }
    #expect(response.status == 507)
    #expect(response.headers("Location") == [])
    #expect(try directory.names(in: ".formstream-uploads") == [])
    await receiver.stop()
  }

  /// The creation's response was 201, and a part's is 204.
  @Test func `a client that asks for a lost response gets that of a part`() async throws {
    let server = try UploadServer()
    let path = try #require(
      try await server.createByTus(length: 3, body: "abc").headers("Location").first)
    let again = try await server.patchByTus(path, "", at: 3)
    #expect(again.status == 204, "\(again)")
    #expect(again.headers("Upload-Offset") == ["3"])
    #expect(again.headers("Location") == [])
  }

  /// Nobody could go on with it: the client never got the URL.
  @Test func `an upload that breaks in its creation is not kept`() async throws {
    let server = try UploadServer()
    try await onNewThread {
      let client = try server.client()
      try client.send(
        "POST / HTTP/1.1\r\nHost: h\r\nTus-Resumable: 1.0.0\r\nUpload-Length: 6\r\nContent-Length: 6\r\n"
          + "Content-Type: application/offset+octet-stream\r\n\r\nabc")
      client.closeWrite()
      _ = try? client.responsesToEnd()
    }
    #expect(await eventually { server.server.reportedRequests.count == 1 })
    #expect(server.uploadFiles == [])
    let record = try #require(server.server.reportedRequests.first)
    #expect(!record.json.contains("can go on"), "\(record.json)")
  }

  @Test func `an upload says what is supported, too`() async throws {
    let server = try UploadServer()
    let path = try #require(try await server.createByTus(length: 3).headers("Location").first)
    let options = try await server.response(to: "OPTIONS \(path) HTTP/1.1\r\nHost: h\r\n\r\n")
    #expect(options.headers("Tus-Version") == ["1.0.0"], "\(options)")
  }

  /// Regression: a length that came later was not compared with the limit of a body.
  @Test func `a length that comes later is bounded`() async throws {
    let server = try UploadServer(configure: { $0.limits.body = 5 })
    let creation = try await server.response(
      to:
        "POST / HTTP/1.1\r\nHost: h\r\nTus-Resumable: 1.0.0\r\nUpload-Defer-Length: 1\r\nContent-Length: 0\r\n\r\n"
    )
    let path = try #require(creation.headers("Location").first)
    let tooLong = try await server.patchByTus(path, "abcdef", at: 0, "Upload-Length: 6")
    #expect(tooLong.status == 413, "\(tooLong)")
    let unannounced = try await server.patchByTus(path, "abcdef", at: 0)
    #expect(unannounced.status == 413, "\(unannounced)")
    #expect(try await server.patchByTus(path, "abcde", at: 0, "Upload-Length: 5").status == 204)
    #expect(server.storedNames == ["file"])
  }

  @Test func `an upload is not larger than the store`() async throws {
    let server = try UploadServer { $0.store = 5 }
    let options = try await server.response(to: "OPTIONS / HTTP/1.1\r\nHost: h\r\n\r\n")
    #expect(options.headers("Tus-Max-Size") == ["5"])
    #expect(try await server.createByTus(length: 6).status == 413)
    #expect(try await server.createByTus(length: 5).status == 201)
  }
}
