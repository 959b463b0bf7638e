import FormStreamMultipart
import FormStreamReceiver
import FormStreamTestSupport
import Foundation
import Testing

/// One client must not keep the others from uploads that go on, nor make the receiver forget their responses.
@Suite struct UploadShareTests {
  /// Sends a request from another address of this machine; returns the status, and the upload's path if it was created.
  private static func request(
    _ server: UploadServer, from address: String, _ arguments: String...
  ) async throws -> (status: String, path: String) {
    let result = try await onNewThread {
      try run(
        program: "/usr/bin/curl",
        [
          "-sS", "--interface", address, "-o", "/dev/null",
          "-w", "%{http_code} %header{location}",
        ] + arguments)
    }
    let words = result.output.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
    #expect(words.count == 2, "\(result.output) \(result.stderr)")
    return (words.first ?? "", words.last ?? "")
  }

  private static func create(
    _ server: UploadServer, from address: String, _ body: String = "a", length: Int = 2
  ) async throws -> (status: String, path: String) {
    try await request(
      server, from: address, "-H", "Tus-Resumable: 1.0.0", "-H", "Upload-Length: \(length)",
      "-H", "Content-Type: application/offset+octet-stream", "--data-binary", body,
      "http://127.0.0.1:\(server.port)/files")
  }

  /// Regression: 1,024 uploads of one byte kept everybody out for a day.
  @Test func `a client with more uploads than its share makes room for another`() async throws {
    let directory = try TemporaryDirectory()
    var paths: [String] = []
    do {
      let server = try UploadServer(in: directory) { $0.count = 4 }
      for _ in 0..<4 { paths.append(try await Self.create(server, from: "127.0.0.2").path) }
      // Its own further uploads have no room.
      #expect(try await Self.create(server, from: "127.0.0.2").status == "503")
      paths.append(try await Self.create(server, from: "127.0.0.3").path)
    }
    // The shares outlive the receiver.
    let server = try UploadServer(in: directory) { $0.count = 4 }
    paths.append(try await Self.create(server, from: "127.0.0.3").path)
    // Now each has its share.
    #expect(try await Self.create(server, from: "127.0.0.3").status == "503")
    #expect(try await Self.create(server, from: "127.0.0.2").status == "503")
    var statuses: [Int] = []
    for path in paths { statuses.append(try await server.head(path).status) }
    #expect(statuses.prefix(4).count { $0 == 204 } == 2, "\(statuses)")
    #expect(statuses.suffix(2) == [204, 204], "\(statuses)")
  }

  @Test(arguments: [0, Receiver.ResumableUploads.idleTime])
  func `an upload that a request uses makes no room`(_ idle: Int64) async throws {
    let server = try UploadServer {
      $0.count = 2
      $0.idleSeconds = idle
    } configure: {
      $0.limits.minimumRate = 0
    }
    // Both belong to 127.0.0.1, and are in use.
    let first = try server.begin("abc", of: 6, to: "/a")
    let second = try server.begin("abc", of: 6, to: "/b")
    #expect(try await Self.create(server, from: "127.0.0.2").status == "503")
    let statuses = try [first, second].map { client, _ in
      try client.send("def")
      return try client.response().status
    }
    #expect(statuses == [200, 200])
  }

  /// Regression: 1,024 other completions, a second of one-byte uploads by anybody, and the response was gone.
  @Test func `the responses of others are dropped first if one client has too many`() async throws {
    // Room for eight responses.
    let server = try UploadServer {
      $0.count = 2
      $0.responseBytes = 8 * 4096
    }
    let own = try await server.beginAndBreak("abc", of: 3)
    // The receiver may still be storing it.
    #expect(try await server.patch(own, "", at: 3, completes: true).status == 200)
    var others: [String] = []
    for _ in 0..<20 {
      others.append(try await Self.create(server, from: "127.0.0.2", "ab").path)
    }
    let again = try await server.patch(own, "", at: 3, completes: true)
    #expect(again.status == 200, "\(again)")
    #expect(again.text.contains(#""stored_as":"a""#), "\(again)")
    var kept: [Int] = []
    for path in others { kept.append(try await server.headByTus(path).status) }
    #expect(kept == Array(repeating: 404, count: 13) + Array(repeating: 200, count: 7))
    #expect(server.uploadFiles.count == 8)
  }

  /// Regression: responses were counted twice when a receiver started, first in no order. So it removed new ones, and more than it
  /// had to.
  @Test func `a receiver that starts drops the oldest responses of the client with most`() async throws {
    let directory = try TemporaryDirectory()
    var paths: [String] = []
    do {
      let server = try UploadServer(in: directory)
      for number in 0..<24 {
        let address = number.isMultiple(of: 4) ? "127.0.0.3" : "127.0.0.2"
        paths.append(try await Self.create(server, from: address, "a", length: 1).path)
      }
    }
    for (number, path) in paths.enumerated() {
      try FileManager.default.setAttributes(
        [.modificationDate: Date(timeIntervalSinceNow: Double(number - 1000))],
        ofItemAtPath: directory.path("\(path.dropFirst()).json"))
    }
    // 127.0.0.2 has 18, and 127.0.0.3 has 6.
    let server = try UploadServer(in: directory) { $0.responseBytes = 16 * 4096 }
    let kept = paths.indices.filter { number in
      server.uploadFiles.contains("\(paths[number].dropFirst(21)).json")
    }
    let most = (0..<24).filter { !$0.isMultiple(of: 4) }
    #expect(kept == (0..<24).filter { !most.prefix(8).contains($0) })
    // The next one takes the place of the oldest.
    _ = try await Self.create(server, from: "127.0.0.2", "a", length: 1)
    #expect(server.uploadFiles.count == 16)
    #expect(!server.uploadFiles.contains("\(paths[most[8]].dropFirst(21)).json"))
  }

  /// Sends uploads by tus of one byte each over one connection; returns how many times each status came.
  private static func flood(
    _ server: UploadServer, from address: String, count: Int, length: Int
  ) async throws -> [String: Int] {
    let result = try await onNewThread {
      try run(
        program: "/usr/bin/curl",
        [
          "-sS", "--interface", address, "-o", "/dev/null", "-w", "%{http_code}\n", "-H",
          "Tus-Resumable: 1.0.0", "-H", "Upload-Length: \(length)", "-H",
          "Content-Type: application/offset+octet-stream", "--data-binary", "a",
          "http://127.0.0.1:\(server.port)/[1-\(count)]",
        ])
    }
    let statuses = result.output.split(separator: "\n").map(String.init)
    return Dictionary(grouping: statuses, by: \.self).mapValues(\.count)
  }

  @Test func `thousands of uploads of one client keep no other out`() async throws {
    let server = try UploadServer {
      $0.responseBytes = 1024 * 1024
      // However slow this machine is.
      $0.idleSeconds = .max
    }
    let begun = try await server.beginAndBreak("abc", of: 6, to: "/a")
    let complete = try await server.beginAndBreak("abc", of: 3, to: "/b")
    #expect(try await server.patch(complete, "", at: 3, completes: true).status == 200)
    // 127.0.0.1 has one of the 1,024.
    let incomplete = try await Self.flood(server, from: "127.0.0.2", count: 1200, length: 2)
    #expect(incomplete == ["201": 1023, "503": 177])
    let other = try await Self.create(server, from: "127.0.0.3")
    #expect(other.status == "201")
    // These are complete, and each takes the room of the one before.
    let statuses = try await Self.flood(server, from: "127.0.0.3", count: 1000, length: 1)
    #expect(statuses == ["201": 1000])
    #expect(try await server.patch(begun, "def", at: 3, completes: true).status == 200)
    let again = try await server.patch(complete, "", at: 3, completes: true)
    #expect(again.status == 200, "\(again)")
    #expect(again.text.contains(#""stored_as":"b""#), "\(again)")
    #expect(try await server.patchByTus(other.path, "b", at: 1).status == 204)
    // The responses that fit into 1 MiB, and two files for each upload that is not complete.
    #expect(server.uploadFiles.count <= 256 + 2 * 1024)
  }
}
