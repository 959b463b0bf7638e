import FormStreamMultipart
import FormStreamReceiver
import FormStreamTestSupport
import Foundation
import Glibc
import Testing

/// Two receivers with uploads in one directory: a new one starts while the old one still ends its requests.
@Suite struct TwoReceiverTests {
  /// A receiver whose responses wait for a gate, in the middle of storing.
  private final class SlowReceiver: Sendable {
    let receiver: Receiver
    let isStoring: Gate
    let mayStore: Gate

    /// - Parameter isMoved: whether the file has its name already while the response waits.
    init(in directory: TemporaryDirectory, isMoved: Bool = false) throws {
      let (isStoring, mayStore) = (try Gate(), try Gate())
      (self.isStoring, self.mayStore) = (isStoring, mayStore)
      var uploads = Receiver.ResumableUploads(in: LocalPath(directory.path))
      uploads.minimumSize = 0
      var configuration = Receiver.Configuration()
      configuration.resumableUploads = uploads
      let handler = try DirectoryHandler(LocalPath(directory.path)).responding { upload in
        if isMoved { try upload.store() }
        isStoring.open()
        _ = mayStore.wait()
        return nil
      }
      receiver = try Receiver.start(configuration, handler: handler)
    }

    /// Sends an upload of three bytes, and waits until it is being stored.
    func begin() async throws -> (client: RawClient, path: String) {
      let client = try RawClient(.ip("127.0.0.1", port: receiver.port))
      try client.send(
        "PUT /a HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nUpload-Complete: ?1\r\n"
          + "Upload-Draft-Interop-Version: 8\r\n\r\nabc")
      let path = try #require(try client.response().headers("Location").first)
      try await isStoring.opened()
      return (client, path)
    }

    /// Sends the rest of an upload, and waits until it is being stored.
    func complete(_ path: String, _ body: String, at offset: Int, isByTus: Bool) async throws -> RawClient {
      let client = try RawClient(.ip("127.0.0.1", port: receiver.port))
      let head =
        isByTus
        ? UploadServer.tusPatchHead(path, body.utf8.count, at: offset)
        : UploadServer.patchHead(path, body.utf8.count, at: offset, completes: true)
      try client.send(head + body)
      try await isStoring.opened()
      return client
    }
  }

  private static func begin(_ server: UploadServer, isByTus: Bool) async throws -> String {
    isByTus
      ? try #require(try await server.createByTus(length: 6, body: "abc").headers("Location").first)
      : try await server.beginAndBreak("abc", of: 6)
  }

  /// What a receiver says about an upload: the status, and whether it is complete.
  private static func seen(_ server: UploadServer, _ path: String, isByTus: Bool) async throws -> [String] {
    let head = try await (isByTus ? server.headByTus(path) : server.head(path))
    return ["\(head.status)"] + head.headers("Upload-Complete")
  }

  private static func mode(of name: String, in directory: TemporaryDirectory) throws -> Int? {
    try FileManager.default.attributesOfItem(atPath: directory.path(name))[.posixPermissions] as? Int
  }

  /// Regression: the second receiver took the file for one that was left, and made it private. So the stored file could not be
  /// read by others. It also said that the upload is complete, before it was stored.
  @Test func `a receiver that starts leaves a file alone that another is storing`() async throws {
    let directory = try TemporaryDirectory()
    let first = try SlowReceiver(in: directory)
    let (client, path) = try await first.begin()
    let second = try UploadServer(in: directory)
    let early = try await second.head(path)
    #expect(early.status == 503, "\(early)")
    first.mayStore.open()
    #expect(try client.response().status == 200)
    let reference = directory.path("reference")
    #expect(FileManager.default.createFile(atPath: reference, contents: nil))
    let expected = try Self.mode(of: "reference", in: directory)
    #expect(try Self.mode(of: "a", in: directory) == expected)
    let again = try await second.patch(path, "", at: 3, completes: true)
    #expect(again.status == 200, "\(again)")
    #expect(again.text.contains(#""stored_as":"a""#), "\(again)")
    await first.receiver.stop()
  }

  /// Regression: the second receiver took the upload for complete while the first one could still take the file back. By tus, that
  /// is a success.
  @Test(arguments: [true, false], [true, false])
  func `a file that has its name already is not stored before that is noted`(
    _ isByTus: Bool, _ isKnown: Bool
  ) async throws {
    let directory = try TemporaryDirectory()
    let path: String
    do { path = try await Self.begin(try UploadServer(in: directory), isByTus: isByTus) }
    let first = try SlowReceiver(in: directory, isMoved: true)
    let early = isKnown ? try UploadServer(in: directory) : nil
    let client = try await first.complete(path, "def", at: 3, isByTus: isByTus)
    let second = try early ?? UploadServer(in: directory)
    #expect(second.bodySize(path) == nil)
    #expect(try await Self.seen(second, path, isByTus: isByTus) == ["503", "?0"])
    let cancelled = try await second.response(to: "DELETE \(path) HTTP/1.1\r\nHost: h\r\n\r\n")
    #expect(cancelled.status == 503, "\(cancelled)")
    first.mayStore.open()
    #expect(try client.response().status == (isByTus ? 204 : 200))
    #expect(try await Self.seen(second, path, isByTus: isByTus) == (isByTus ? ["200"] : ["204", "?1"]))
    await first.receiver.stop()
  }

  /// Regression: with a umask of 002, the file that is about to get its name may be written by its group. The second receiver did
  /// not trust it, and said that there is no such upload (404).
  @Test(arguments: [true, false])
  func `a file in use is in use, whoever may write to it`(_ isKnown: Bool) async throws {
    let directory = try TemporaryDirectory()
    let path: String
    do { path = try await Self.begin(try UploadServer(in: directory), isByTus: false) }
    let first = try SlowReceiver(in: directory)
    let early = isKnown ? try UploadServer(in: directory) : nil
    let client = try await first.complete(path, "def", at: 3, isByTus: false)
    try FileManager.default.setAttributes(
      [.posixPermissions: 0o664], ofItemAtPath: directory.path(String(path.dropFirst())))
    let second = try early ?? UploadServer(in: directory)
    #expect(try await Self.seen(second, path, isByTus: false) == ["503", "?0"])
    first.mayStore.open()
    #expect(try client.response().status == 200)
    await first.receiver.stop()
  }

  /// Regression: with a umask of 002, the upload was gone (404) if the receiver was killed before it noted that the file was about to
  /// get its name.
  @Test(arguments: [true, false])
  func `a file that was about to get its name goes on, whoever may write to it`(_ isKnown: Bool) async throws {
    let directory = try TemporaryDirectory()
    let early = try UploadServer(in: directory)
    let path = try await Self.begin(early, isByTus: false)
    let name = String(path.dropFirst())
    try FileManager.default.setAttributes(
      [.posixPermissions: 0o664], ofItemAtPath: directory.path(name))
    let server = isKnown ? early : try UploadServer(in: directory)
    #expect(try await server.offset(path) == 3)
    #expect(try Self.mode(of: name, in: directory) == 0o600)
    #expect(try await server.patch(path, "def", at: 3, completes: true).status == 200)
  }

  /// Regression: the second receiver remembered that bytes were not compared with their digest, and removed them after they were.
  @Test func `bytes that another receiver has confirmed stay`() async throws {
    let directory = try TemporaryDirectory()
    let first = try UploadServer(in: directory)
    let path = try await first.beginAndBreak("", of: 6)
    let digest = "Content-Digest: sha-256=:ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=:"
    let broken = try first.client()
    try broken.send(UploadServer.patchHead(path, 3, at: 0, completes: false, [digest]) + "a")
    #expect(await eventually { first.bodySize(path) == 1 })
    broken.closeWrite()
    _ = try? broken.responsesToEnd()
    let second = try UploadServer(in: directory)
    #expect(try await second.offset(path) == 0)
    #expect(try await first.patch(path, "abc", at: 0, completes: false, digest).status == 204)
    #expect(try await second.offset(path) == 3)
    #expect(try await second.patch(path, "def", at: 3, completes: true).status == 200)
    #expect(try second.server.text("a") == "abcdef")
  }

  /// Regression: a receiver that knew the upload went on with it, and stored it twice.
  @Test(arguments: ["processing", "moving"])
  func `a receiver that was killed while it stored a file has perhaps stored it`(_ phase: String) async throws {
    let directory = try TemporaryDirectory()
    let second = try UploadServer(in: directory)
    let path = try await Self.begin(second, isByTus: false)
    let state = String(path.dropFirst()) + ".json"
    let text = try second.server.text(state)
    try directory.write(state, text.replacing(#""phase":"open""#, with: #""phase":"\#(phase)""#))
    // If storing moves the file, and it is still there, it was not stored.
    let isStored = phase == "processing"
    #expect(
      try await Self.seen(second, path, isByTus: false) == ["204", isStored ? "?1" : "?0"])
    let last = try await second.patch(path, isStored ? "" : "def", at: isStored ? 6 : 3, completes: true)
    #expect(last.status == (isStored ? 500 : 200), "\(last)")
    #expect(second.storedNames == (isStored ? [] : ["a"]))
  }

  /// Regression: nobody removed it, until a client asked for it.
  @Test func `an upload in use when a receiver starts expires, too`() async throws {
    let directory = try TemporaryDirectory()
    let first = try UploadServer(in: directory)
    let (client, path) = try first.begin("abc", of: 6)
    #expect(await eventually { first.bodySize(path) == 3 })
    let second = try UploadServer(in: directory) { $0.age = .seconds(1) }
    client.closeWrite()
    _ = try? client.responsesToEnd()
    #expect(await eventually { second.uploadFiles == [] })
  }

  @Test func `an upload that another receiver uses makes no room`() async throws {
    let directory = try TemporaryDirectory()
    let second = try UploadServer(in: directory) {
      ($0.count, $0.idleSeconds) = (1, 0)
    }
    let path = try await Self.begin(second, isByTus: true)
    let first = try UploadServer(in: directory)
    let client = try first.client()
    try client.send(UploadServer.tusPatchHead(path, 3, at: 3) + "d")
    #expect(await eventually { first.bodySize(path) == 4 })
    #expect(try await second.createByTus(length: 6).status == 503)
    try client.send("ef")
    #expect(try client.response().status == 204)
    #expect(try second.server.text("file") == "abcdef")
    // Its place is free then.
    #expect(try await second.headByTus(path).status == 200)
    #expect(try await second.createByTus(length: 6).status == 201)
  }

  /// Regression: the client was told that there is no such upload, and would have sent it again.
  @Test func `an upload whose bytes can't be opened now is not gone`() async throws {
    let directory = try TemporaryDirectory()
    let server = try UploadServer(in: directory)
    let path = try await Self.begin(server, isByTus: false)
    let name = directory.path(String(path.dropFirst()))
    // Nothing can open a program for writing while it runs (ETXTBSY).
    _ = try run(program: "/bin/bash", ["-c", "cat /bin/sleep > \(name); chmod 700 \(name)"])
    let program = try Process.run(URL(fileURLWithPath: name), arguments: ["60"])
    defer { program.terminate() }
    for isKnown in [true, false] {
      let asked = isKnown ? server : try UploadServer(in: directory)
      let head = try await asked.head(path)
      #expect(head.status == 500, "\(head)")
      let part = try await asked.patch(path, "def", at: 3, completes: true)
      #expect(part.status == 500 && part.text.contains("What had arrived before is kept."), "\(part)")
    }
    #expect(server.uploadFiles.count == 2)
  }

  /// A second is too short if a large file is being copied: a client gave up after a few attempts.
  @Test func `the longer an upload is in use, the later a client is to ask again`() async throws {
    let directory = try TemporaryDirectory()
    let first = try SlowReceiver(in: directory)
    let (client, path) = try await first.begin()
    let second = try UploadServer(in: directory)
    for (age, wait) in [(0, 1...5), (20, 20...25), (1000, 60...60)] {
      try FileManager.default.setAttributes(
        [.modificationDate: Date(timeIntervalSinceNow: -Double(age))],
        ofItemAtPath: directory.path(String(path.dropFirst())))
      let asked = try await second.head(path)
      let named = try #require(asked.headers("Retry-After").first.flatMap { Int($0) })
      #expect(wait.contains(named), "\(asked)")
    }
    first.mayStore.open()
    #expect(try client.response().status == 200)
    await first.receiver.stop()
  }

  /// Regression: the second receiver removed the response with which the first one had completed the upload, so the client would
  /// have sent it again.
  @Test(arguments: [true, false])
  func `an upload that another receiver has completed is complete`(_ isByTus: Bool) async throws {
    let directory = try TemporaryDirectory()
    let first = try UploadServer(in: directory)
    let path =
      isByTus
      ? try #require(
        try await first.createByTus(length: 6, body: "abc").headers("Location").first)
      : try await first.beginAndBreak("abc", of: 6)
    let second = try UploadServer(in: directory)
    if isByTus {
      #expect(try await first.patchByTus(path, "def", at: 3).status == 204)
      #expect(try await second.headByTus(path).headers("Upload-Offset") == ["6"])
      #expect(try await second.patchByTus(path, "", at: 6).status == 204)
    } else {
      #expect(try await first.patch(path, "def", at: 3, completes: true).status == 200)
      #expect(try await second.head(path).headers("Upload-Complete") == ["?1"])
      let again = try await second.patch(path, "", at: 6, completes: true)
      #expect(again.status == 200, "\(again)")
      #expect(try await first.patch(path, "", at: 6, completes: true).text == again.text)
    }
  }

  @Test func `the responses of another receiver count, too`() async throws {
    let directory = try TemporaryDirectory()
    let first = try UploadServer(in: directory)
    var paths: [String] = []
    for _ in 0..<3 { paths.append(try await first.beginAndBreak("abc", of: 6)) }
    // Room for two responses.
    let second = try UploadServer(in: directory) { $0.responseBytes = 2 * 4096 }
    for path in paths {
      #expect(try await first.patch(path, "def", at: 3, completes: true).status == 200)
      #expect(try await second.head(path).headers("Upload-Complete") == ["?1"])
    }
    let own = try await second.beginAndBreak("abc", of: 3)
    #expect(try await second.patch(own, "", at: 3, completes: true).status == 200)
    #expect(await eventually { second.uploadFiles.count == 2 })
  }

  /// Regression: it was removed when the last byte that the second receiver had seen was too old.
  @Test func `the response of another receiver is kept for its own time`() async throws {
    let directory = try TemporaryDirectory()
    let first = try UploadServer(in: directory)
    let path = try await first.beginAndBreak("abc", of: 6)
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSinceNow: -998)],
      ofItemAtPath: directory.path(String(path.dropFirst())))
    let second = try UploadServer(in: directory) { $0.age = .seconds(1000) }
    #expect(try await first.patch(path, "def", at: 3, completes: true).status == 200)
    let end = time(nil) + 3
    #expect(await eventually { time(nil) > end })
    // This request makes the second receiver remove what is too old.
    _ = try await second.head("/.formstream-uploads/\(String(repeating: "0", count: 32))")
    #expect(try await first.patch(path, "", at: 6, completes: true).status == 200)
    #expect(try await second.patch(path, "", at: 6, completes: true).status == 200)
  }

  /// Regression: a receiver knew only the uploads that it had found when it started, so the client would have sent this one again.
  @Test func `an upload that was begun at another receiver goes on`() async throws {
    let directory = try TemporaryDirectory()
    let second = try UploadServer(in: directory)
    let first = try UploadServer(in: directory)
    let (client, path) = try first.begin("abc", of: 6)
    #expect(await eventually { first.bodySize(path) == 3 })
    let inUse = try await second.head(path)
    #expect(inUse.status == 503, "\(inUse)")
    client.closeWrite()
    _ = try? client.responsesToEnd()
    #expect(try await second.offset(path) == 3)
    #expect(try await second.patch(path, "def", at: 3, completes: true).status == 200)
    #expect(try second.server.text("a") == "abcdef")
    let again = try await first.patch(path, "", at: 6, completes: true)
    #expect(again.status == 200, "\(again)")
  }

  @Test func `an upload by tus that was begun at another receiver goes on`() async throws {
    let directory = try TemporaryDirectory()
    let (first, second) = (try UploadServer(in: directory), try UploadServer(in: directory))
    let path = try #require(try await first.createByTus(length: 6).headers("Location").first)
    let client = try first.client()
    try client.send(UploadServer.tusPatchHead(path, 6, at: 0) + "abc")
    #expect(await eventually { first.bodySize(path) == 3 })
    #expect(try await Self.seen(second, path, isByTus: true) == ["503", "?0"])
    client.closeWrite()
    _ = try? client.responsesToEnd()
    #expect(try await second.headByTus(path).headers("Upload-Offset") == ["3"])
    #expect(try await second.patchByTus(path, "def", at: 3).status == 204)
    #expect(try second.server.text("file") == "abcdef")
    let again = try await first.headByTus(path)
    #expect(again.status == 200 && again.headers("Upload-Offset") == ["6"], "\(again)")
  }

  /// Regression: a file from the future, as after a clock was wrong, was kept until the clock got there.
  @Test func `an upload from the future is as old as the receiver`() async throws {
    let directory = try TemporaryDirectory()
    let path: String
    do {
      let server = try UploadServer(in: directory)
      path = try await server.beginAndBreak("abc", of: 6)
      try FileManager.default.setAttributes(
        [.modificationDate: Date(timeIntervalSinceNow: 1_000_000)],
        ofItemAtPath: directory.path(String(path.dropFirst())))
    }
    let server = try UploadServer(in: directory) { $0.age = .seconds(1000) }
    let limit = try #require(try await server.head(path).headers("Upload-Limit").first)
    let age = try #require(limit.split(separator: "max-age=").last.flatMap { Int($0) })
    #expect((900...1000).contains(age), "\(limit)")
  }
}
