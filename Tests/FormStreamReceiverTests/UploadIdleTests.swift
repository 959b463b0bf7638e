import FormStreamReceiver
import FormStreamTestSupport
import Foundation
import Testing

/// If there are as many uploads as there may be, those that nobody goes on with make room: nobody can keep the others out, not even
/// those with the same address.
@Suite struct UploadIdleTests {
  /// Creates an upload of ten bytes by tus from an address of this machine, and sends its first bytes. Returns its path.
  private static func create(
    _ server: UploadServer, _ body: String, from address: String = "127.0.0.2"
  ) async throws -> String {
    let result = try await onNewThread {
      try run(
        program: "/usr/bin/curl",
        [
          "-sS", "--interface", address, "-o", "/dev/null", "-w", "%{http_code}%header{location}",
          "-H", "Tus-Resumable: 1.0.0", "-H", "Upload-Length: 10", "-H",
          "Content-Type: application/offset+octet-stream", "--data-binary", body,
          "http://127.0.0.1:\(server.port)/files",
        ])
    }
    return result.output.hasPrefix("201") ? String(result.output.dropFirst(3)) : result.output
  }

  private static func statuses(_ server: UploadServer, _ paths: [String]) async throws -> [Int] {
    var statuses: [Int] = []
    for path in paths { statuses.append(try await server.head(path).status) }
    return statuses
  }

  /// Regression: behind a proxy, one client with 1,024 uploads of one byte kept everybody out for a day.
  @Test func `a client that has its share makes room for its own next upload`() async throws {
    let server = try UploadServer {
      $0.count = 3
      $0.idleSeconds = 0
    }
    var paths: [String] = []
    // The upload with the fewest bytes goes first, although it is not the oldest.
    for body in ["aaa", "a", "aa", "aaaa"] { paths.append(try await Self.create(server, body)) }
    #expect(try await Self.statuses(server, paths) == [204, 404, 204, 204])
  }

  @Test func `who has fewer uploads loses none to who has more`() async throws {
    let server = try UploadServer {
      $0.count = 3
      $0.idleSeconds = 0
    }
    var paths = [try await Self.create(server, "a", from: "127.0.0.3")]
    for _ in 0..<4 { paths.append(try await Self.create(server, "aaa")) }
    let first = try await Self.statuses(server, paths)
    #expect(first.first == 204 && first.last == 204, "\(first)")
    #expect(first.count { $0 == 204 } == 3, "\(first)")
    // A new client takes from who has most.
    paths.append(try await Self.create(server, "a", from: "127.0.0.4"))
    let second = try await Self.statuses(server, paths)
    #expect(second.first == 204 && second.last == 204, "\(second)")
    #expect(second.count { $0 == 204 } == 3, "\(second)")
  }

  /// A client that asks for the offset is about to go on.
  @Test func `an upload is idle after a minute without a request`() async throws {
    let directory = try TemporaryDirectory()
    var paths: [String] = []
    do {
      let server = try UploadServer(in: directory) { $0.count = 2 }
      for _ in 0..<2 { paths.append(try await Self.create(server, "a")) }
      for name in server.uploadFiles {
        try FileManager.default.setAttributes(
          [.modificationDate: Date(timeIntervalSinceNow: -61)],
          ofItemAtPath: directory.path(".formstream-uploads/\(name)"))
      }
    }
    #expect(Receiver.ResumableUploads.idleTime == 60)
    let server = try UploadServer(in: directory) { $0.count = 2 }
    #expect(try await server.head(paths[0]).status == 204)
    paths.append(try await Self.create(server, "a"))
    #expect(try await Self.statuses(server, paths) == [204, 404, 204])
  }
}
