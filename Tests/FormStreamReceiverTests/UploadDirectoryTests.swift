import FormStreamMultipart
import FormStreamReceiver
import FormStreamTestSupport
import Foundation
import Glibc
import Testing

/// The directory of resumable uploads, if others touch it, and after receivers that were killed.
@Suite struct UploadDirectoryTests {
  /// Regression: on ext4, no upload could begin until the receiver was started again. There, a removed directory says that an operation
  /// is not permitted.
  @Test(arguments: ["rm -rf .formstream-uploads", "mv .formstream-uploads aside"])
  func `if the directory is gone, the next upload makes another one`(_ command: String)
    async throws
  {
    let server = try UploadServer()
    let old = try #require(try await server.createByTus(length: 6).headers("Location").first)
    let gone = try run(program: "/bin/bash", ["-c", command], in: server.directory)
    #expect(gone.exit == 0, "\(gone.stderr)")
    let path = try await server.beginAndBreak("abc", of: 6)
    #expect(server.bodySize(path) == 3)
    #expect(try await server.patch(path, "def", at: 3, completes: true).status == 200)
    #expect(try server.server.text("a") == "abcdef")
    // An earlier upload of a directory that was removed is gone.
    if command.hasPrefix("rm") { #expect(try await server.headByTus(old).status == 404) }
  }

  /// Regression: each upload got 500 until the receiver was started again.
  @Test(arguments: [true, false])
  func `if the directory of all files is removed, the next upload makes it again`(
    _ isResumable: Bool
  ) async throws {
    let place = try TemporaryDirectory()
    let server = try UploadServer(in: place, below: "kept")
    #expect(try await server.server.put("first").status == 200)
    let old = try #require(try await server.createByTus(length: 6).headers("Location").first)
    for round in ["second", "third"] {
      let gone = try run(program: "/bin/rm", ["-rf", place.path("kept")])
      #expect(gone.exit == 0, "\(gone.stderr)")
      if isResumable {
        let created = try await server.createByTus(length: 6)
        let path = try #require(created.headers("Location").first, "\(created)")
        #expect(try await server.patchByTus(path, "abcdef", at: 0).status == 204)
        #expect(try String(contentsOfFile: place.path("kept/file"), encoding: .utf8) == "abcdef")
      }
      let stored = try await server.server.put(round)
      #expect(stored.status == 200, "\(stored)")
      #expect(try String(contentsOfFile: place.path("kept/a"), encoding: .utf8) == round)
      #expect(try await server.headByTus(old).status == 404)
    }
  }

  /// What somebody else may have put there is not used: neither a link, nor a file.
  @Test(arguments: ["ln -s other kept", "touch kept"])
  func `something else in place of the directory of all files is not used`(_ command: String) async throws {
    let place = try TemporaryDirectory()
    let server = try UploadServer(in: place, below: "kept")
    let gone = try run(
      program: "/bin/bash", ["-c", "mkdir other && rm -rf kept && \(command)"], in: place)
    #expect(gone.exit == 0, "\(gone.stderr)")
    #expect(try await server.server.put("first").status == 500)
    #expect(try await server.createByTus(length: 6).status == 500)
    #expect(try place.names(in: "other") == [])
    let mended = try run(program: "/bin/rm", [place.path("kept")])
    #expect(mended.exit == 0, "\(mended.stderr)")
    #expect(try await server.server.put("second").status == 200)
    #expect(try await server.createByTus(length: 6).status == 201)
  }

  /// Regression: the log said only that something is not a directory.
  @Test func `a link in place of the directory is named in the log, and needs no restart`() async throws {
    let server = try UploadServer()
    let old = try #require(try await server.createByTus(length: 6).headers("Location").first)
    let command = "mkdir other && mv .formstream-uploads aside && ln -s other .formstream-uploads"
    let moved = try run(program: "/bin/bash", ["-c", command], in: server.directory)
    #expect(moved.exit == 0, "\(moved.stderr)")
    let refused = try await server.createByTus(length: 6)
    #expect(refused.status == 500, "\(refused)")
    let request = try #require(server.server.reportedRequests.last)
    let cause = request.underlying.map { "\($0)" } ?? ""
    #expect(cause.contains(#"The directory ".formstream-uploads" in "\#(server.directory.path)""#), "\(cause)")
    #expect(cause.contains("no link: move away what has this name"), "\(cause)")
    #expect(try server.directory.names(in: "other") == [])
    let back = "rm .formstream-uploads && mv aside .formstream-uploads"
    let mended = try run(program: "/bin/bash", ["-c", back], in: server.directory)
    #expect(mended.exit == 0, "\(mended.stderr)")
    #expect(try await server.createByTus(length: 6).status == 201)
    #expect(try await server.headByTus(old).status == 200)
  }

  /// Another test kills a receiver. This one is about the time of the file, by which old uploads are known.
  @Test(.enabled(if: canReserveRoom, "this file system can't reserve room"))
  func `room that was reserved is given back at the start, and the file stays as old as it was`() async throws {
    let directory = try TemporaryDirectory()
    let path: String
    do {
      let server = try UploadServer(in: directory)
      path = try await server.beginAndBreak("abc", of: 64_000_000)
    }
    let file = directory.path(String(path.dropFirst()))
    // What the receiver had done, and could not undo.
    let reserved = try run(program: "/usr/bin/fallocate", ["-n", "-l", "64000000", file])
    #expect(reserved.exit == 0, "\(reserved.stderr)")
    var times = [timespec(tv_sec: time(nil) - 5000, tv_nsec: 7), timespec(tv_sec: time(nil) - 4000, tv_nsec: 7)]
    #expect(utimensat(AT_FDCWD, file, &times, 0) == 0)
    let before = Self.status(file)
    let server = try UploadServer(in: directory)
    let after = Self.status(file)
    #expect(
      [before.blocks > 60_000, after.blocks < 1000, after.size == 3, after.changed == before.changed]
        == [true, true, true, true], "\(before) \(after)")
    #expect(try await server.offset(path) == 3)
  }

  private static func status(_ file: String) -> (size: Int, blocks: Int, changed: Int) {
    var status = stat()
    guard stat(file, &status) == 0 else { return (0, 0, 0) }
    return (Int(status.st_size), Int(status.st_blocks), Int(status.st_mtim.tv_sec))
  }
}
