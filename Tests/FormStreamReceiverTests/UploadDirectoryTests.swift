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

  /// Regression: after `kill -9`, 1 GiB stayed allocated for 100 kB that had arrived.
  @Test func `room that a killed receiver had reserved is given back`() async throws {
    let directory = try TemporaryDirectory()
    let path: String
    do {
      let server = try UploadServer(in: directory)
      path = try await server.beginAndBreak("abc", of: 64_000_000)
    }
    let file = directory.path(String(path.dropFirst()))
    // What the receiver had done, and could not undo.
    let reserved = try run(program: "/usr/bin/fallocate", ["-n", "-l", "64000000", file])
    // Not every file system can do this.
    guard reserved.exit == 0 else { return }
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
