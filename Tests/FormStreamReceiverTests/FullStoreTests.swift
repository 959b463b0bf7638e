import FormStreamMultipart
import FormStreamReceiver
import FormStreamTestSupport
import Foundation
import Glibc
import Testing

/// Resumable uploads that are complete when the disk is full: nothing that has arrived is removed before the client knows, and no
/// offset says more than is stored.
@Suite(.enabled(if: SmallDisk.isAllowed, "a file system can't be mounted here"))
struct FullStoreTests {
  /// What the client of an upload sees, and what is on the disk.
  private struct Seen: Equatable, CustomStringConvertible {
    var status = 0
    var isComplete = ""
    var offset = ""
    var files: [String] = []

    var description: String { "\(status) \(isComplete) \(offset) \(files)" }
  }

  private static func withDisk(
    _ size: String, files: Int, _ body: @Sendable @escaping (TemporaryDirectory) async throws -> Void
  ) async throws {
    let directory = try TemporaryDirectory()
    let mount = try run(
      program: "/bin/mount",
      ["-t", "tmpfs", "-o", "size=\(size),nr_inodes=\(files)", "tmpfs", directory.path])
    #expect(mount.exit == 0, "\(mount.stderr)")
    defer { _ = try? run(program: "/bin/umount", ["--lazy", directory.path]) }
    try await body(directory)
  }

  private static func seen(_ server: UploadServer, _ path: String) async throws -> Seen {
    let head = try await server.head(path)
    return Seen(
      status: head.status, isComplete: head.headers("Upload-Complete").first ?? "",
      offset: head.headers("Upload-Offset").first ?? "", files: names(server))
  }

  private static func seen(_ response: WireResponse, _ server: UploadServer) -> Seen {
    Seen(
      status: response.status, isComplete: response.headers("Upload-Complete").first ?? "",
      files: names(server))
  }

  private static func names(_ server: UploadServer) -> [String] {
    server.storedNames.filter { !$0.hasPrefix("fill") }
  }

  /// Regression: there was no room for the 374 bytes of the upload's state. The file was removed with the request, and the offset
  /// then said that the upload was complete.
  @Test func `a file that arrives when the disk is full stays until there is room`() async throws {
    try await Self.withDisk("256k", files: 100) { directory in
      let server = try UploadServer(in: directory)
      let body = String(repeating: "x", count: 8192)
      let (client, path) = try server.begin(String(body.prefix(4096)), of: 8192)
      #expect(await eventually { server.bodySize(path) == 4096 })
      // The room for the upload is reserved; the file takes the rest.
      _ = try run(
        program: "/bin/bash", ["-c", "head -c 1M /dev/zero > fill 2> /dev/null"], in: directory)
      try client.send(String(body.suffix(4096)))
      let full = try client.response()
      var states = [Self.seen(full, server), try await Self.seen(server, path)]
      let stillFull = try await server.patch(path, "", at: 8192, completes: true)
      states.append(Self.seen(stillFull, server))
      #expect(truncate(directory.path("fill"), 0) == 0)
      let last = try await server.patch(path, "", at: 8192, completes: true)
      states.append(Self.seen(last, server))
      #expect(
        states == [
          Seen(status: 507, isComplete: "?0"),
          Seen(status: 204, isComplete: "?0", offset: "8192"),
          Seen(status: 507, isComplete: "?0"),
          Seen(status: 200, isComplete: "?1", files: ["a"]),
        ])
      #expect(try server.server.text("a") == body)
    }
  }

  /// Regression: by tus, its bytes were removed.
  @Test func `a file that arrives by tus when the disk is full stays, too`() async throws {
    try await Self.withDisk("256k", files: 100) { directory in
      let server = try UploadServer(in: directory)
      let path = try #require(try await server.createByTus(length: 8192).headers("Location").first)
      let body = String(repeating: "x", count: 8192)
      let client = try server.client()
      try client.send(UploadServer.tusPatchHead(path, 8192, at: 0) + body.prefix(4096))
      #expect(await eventually { server.bodySize(path) == 4096 })
      _ = try run(
        program: "/bin/bash", ["-c", "head -c 1M /dev/zero > fill 2> /dev/null"], in: directory)
      try client.send(String(body.suffix(4096)))
      let full = try client.response()
      #expect(full.status == 507, "\(full)")
      #expect(full.text.contains("What had arrived before is kept."), "\(full)")
      let stillFull = try await server.headByTus(path)
      #expect(stillFull.status == 507, "\(stillFull)")
      #expect(stillFull.headers("Upload-Offset") == [])
      #expect(Self.names(server) == [])
      #expect(truncate(directory.path("fill"), 0) == 0)
      let last = try await server.headByTus(path)
      #expect(last.status == 200, "\(last)")
      #expect(last.headers("Upload-Offset") == ["8192"])
      #expect(try server.server.text("file") == body)
    }
  }

  /// Regression: the response stayed in memory, and the next receiver said that the outcome is not known.
  @Test func `a response that found no room is written when there is some`() async throws {
    try await Self.withDisk("256k", files: 100) { directory in
      let path: String
      do {
        // Old uploads are looked for every two seconds.
        let server = try UploadServer(in: directory) { $0.age = .seconds(16) }
        // The state takes one page without the response, and two with it.
        let (client, told) = try server.begin(
          "abc", of: 6, to: "/a", "X-Long: \(String(repeating: "x", count: 3300))")
        path = told
        #expect(await eventually { server.bodySize(path) == 3 })
        _ = try run(
          program: "/bin/bash",
          ["-c", "head -c 1M /dev/zero > fill 2> /dev/null; truncate -s -4096 fill"], in: directory)
        try client.send("def")
        #expect(try client.response().status == 200)
        let state = String(path.dropFirst()) + ".json"
        #expect(try server.server.text(state).contains(#""phase":"moving""#))
        #expect(truncate(directory.path("fill"), 0) == 0)
        #expect(
          await eventually {
            (try? server.server.text(state).contains(#""phase":"complete""#)) == true
          })
      }
      let server = try UploadServer(in: directory)
      let again = try await server.patch(path, "", at: 6, completes: true)
      #expect(again.status == 200, "\(again)")
      #expect(again.text.contains(#""stored_as":"a""#), "\(again)")
    }
  }

  /// Regression: the response that found no room brought the removed upload back.
  @Test func `a response that is written later brings no removed upload back`() async throws {
    try await Self.withDisk("256k", files: 100) { directory in
      let first = try UploadServer(in: directory)
      let (client, path) = try first.begin(
        "abc", of: 6, to: "/a", "X-Long: \(String(repeating: "x", count: 3300))")
      #expect(await eventually { first.bodySize(path) == 3 })
      _ = try run(
        program: "/bin/bash",
        ["-c", "head -c 1M /dev/zero > fill 2> /dev/null; truncate -s -4096 fill"], in: directory)
      try client.send("def")
      #expect(try client.response().status == 200)
      // Another receiver removes it.
      let second = try UploadServer(in: directory)
      let removed = try await second.response(to: "DELETE \(path) HTTP/1.1\r\nHost: h\r\n\r\n")
      #expect(removed.status == 204, "\(removed)")
      #expect(truncate(directory.path("fill"), 0) == 0)
      try await Self.tidy(first)
      #expect(first.uploadFiles == [])
    }
  }

  /// Regression: a receiver that could not write the state of an upload that it had found wrote it later, in place of the response
  /// that another had noted.
  @Test func `what a receiver has found takes the place of no response`() async throws {
    try await Self.withDisk("256k", files: 40) { directory in
      let first = try UploadServer(in: directory)
      let path = try await first.beginAndBreak("abc", of: 6)
      let state = String(path.dropFirst()) + ".json"
      // A receiver was killed before the file had its name.
      let text = try first.server.text(state)
      try directory.write(state, text.replacing(#""phase":"open""#, with: #""phase":"moving""#))
      for number in 0..<100 {
        guard FileManager.default.createFile(atPath: directory.path("fill\(number)"), contents: nil)
        else { break }
      }
      let second = try UploadServer(in: directory)
      for number in 0..<100 {
        try? FileManager.default.removeItem(atPath: directory.path("fill\(number)"))
      }
      #expect(try await first.patch(path, "def", at: 3, completes: true).status == 200)
      try await Self.tidy(second)
      #expect(try await second.head(path).headers("Upload-Complete") == ["?1"])
      #expect(try await second.patch(path, "", at: 6, completes: true).status == 200)
    }
  }

  /// Makes a receiver look for what is old or not written: each request does so, once in a second.
  private static func tidy(_ server: UploadServer) async throws {
    let end = time(nil) + 1
    #expect(await eventually { time(nil) > end })
    _ = try await server.head("/.formstream-uploads/\(String(repeating: "0", count: 32))")
  }

  /// The number of files that the disk still takes decides which step fails: the state, the copy, or the directories of the name.
  @Test(arguments: [false, true], 0...5)
  func `whichever step finds no room, the upload can be completed later`(
    _ isForm: Bool, _ free: Int
  ) async throws {
    try await Self.withDisk("1m", files: 40) { directory in
      let body =
        isForm
        ? "--b\r\nContent-Disposition: form-data; name=f; filename=\"d/e/a\"\r\n\r\nabcdef\r\n--b--\r\n"
        : "abcdef"
      let start = String(body.prefix(3))
      let rest = String(body.dropFirst(3))
      let type = isForm ? "Content-Type: multipart/form-data; boundary=b" : "X: y"
      let path: String
      var states: [Seen] = []
      do {
        let server = try UploadServer(in: directory)
        path = try await server.beginAndBreak(
          start, of: body.utf8.count, to: "/d/e/a", type)
        for number in 0..<100 {
          guard FileManager.default.createFile(atPath: directory.path("fill\(number)"), contents: nil)
          else { break }
        }
        for number in 0..<free {
          try FileManager.default.removeItem(atPath: directory.path("fill\(number)"))
        }
        let response = try await server.patch(path, rest, at: 3, completes: true)
        states = [Self.seen(response, server), try await Self.seen(server, path)]
      }
      guard states[0].status != 200 else {
        // There was enough room.
        #expect(free >= 2 && states[0].files == ["d"], "\(states)")
        return
      }
      // The next receiver knows as much.
      let server = try UploadServer(in: directory)
      states.append(try await Self.seen(server, path))
      for number in 0..<100 {
        try? FileManager.default.removeItem(atPath: directory.path("fill\(number)"))
      }
      let last = try await server.patch(path, "", at: body.utf8.count, completes: true)
      states.append(Self.seen(last, server))
      let open = Seen(status: 204, isComplete: "?0", offset: "\(body.utf8.count)")
      #expect(
        states == [
          Seen(status: 507, isComplete: "?0"), open, open,
          Seen(status: 200, isComplete: "?1", files: ["d"]),
        ])
      #expect(try server.server.text("d/e/a") == "abcdef")
    }
  }
}
