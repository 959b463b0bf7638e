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

    init(in directory: TemporaryDirectory) throws {
      let (isStoring, mayStore) = (try Gate(), try Gate())
      (self.isStoring, self.mayStore) = (isStoring, mayStore)
      var uploads = Receiver.ResumableUploads(in: LocalPath(directory.path))
      uploads.minimumSize = 0
      var configuration = Receiver.Configuration()
      configuration.resumableUploads = uploads
      let handler = try DirectoryHandler(LocalPath(directory.path)).responding { _ in
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
    #expect(early.headers("Retry-After") == ["1"])
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
