import Glibc
import FormStreamMultipart
import FormStreamIntake
import FormStreamPlatform
import FormStreamTestSupport
import Testing

/// Files of one upload: all of them are stored, or none.
@Suite struct TogetherTests {
  private let temporary: TemporaryDirectory
  private let directory: StorageDirectory

  init() throws {
    temporary = try TemporaryDirectory()
    directory = try StorageDirectory(temporary.local(""))
  }

  /// Stores files of one byte each: the first file contains a 1, the second a 2, and so on.
  private func store(_ names: String..., replacing: Bool = false) throws -> [LocalPath] {
    let files = try names.enumerated().map { index, name in
      let file = try directory.makeFile()
      try [UInt8(index + 1)].withUnsafeBytes { try directory.write($0, to: file) }
      return (file: file, destination: SafePath.kept(name))
    }
    return try directory.store(files, replacing: replacing)
  }

  @Test func `each file is stored at its destination, in order`() throws {
    try temporary.write("b", [0])
    #expect(try store("b", "a", "d/b", "b", replacing: true) == ["b", "a", "d/b", "b-2"])
    #expect(
      try tree(of: temporary.path) == [
        "b": .file([1]), "a": .file([2]), "d": .directory, "d/b": .file([3]), "b-2": .file([4]),
      ])
    #expect(try store() == [])
  }

  /// Regression: files before the one that could not be stored stayed. This disk has room for all files and two of the
  /// three directories.
  @Test(
    .enabled(if: SmallDisk.isAllowed, "a file system can't be mounted here"),
    arguments: [false, true])
  func `if one file can't be stored, nothing is stored and nothing replaced`(
    _ replacing: Bool
  ) throws {
    try SmallDisk.mounted(size: "1m", files: 9) { disk in
      let directory = try StorageDirectory(disk)
      _ = try directory.store([0], as: .kept("keep.txt"))
      let before = try tree(of: disk.description)
      let files = try ["one", "keep.txt", "made/in/two", "a/x", "four"].map {
        (file: try directory.makeFile(), destination: SafePath.kept($0))
      }
      let error = #expect(throws: StorageError.self) {
        try directory.store(files, replacing: replacing)
      }
      #expect(error?.kept == [:])
      #expect(error?.description.contains("No file of this upload is kept.") == true)
      #expect(try tree(of: disk.description) == before)
    }
  }

  @Test func `if one file is gone before it is stored, none is stored`() throws {
    let (one, other) = (
      try directory.makeFile(), try directory.makeFile(temporaryName: FileName("tmp"))
    )
    try directory.close(other)
    #expect(unlink(temporary.path("tmp")) == 0)
    #expect(throws: StorageError.self) {
      try directory.store([(one, .kept("d/a")), (other, .kept("b"))])
    }
    withExtendedLifetime(one) {}
    #expect(
      try tree(of: temporary.path).allSatisfy { $0.key.description.hasPrefix(".formstream-") })
  }

  /// Regression: two files with the same name were both reported as stored under that name, and one of them was lost.
  @Test(arguments: ["a.txt", "d/a.txt"])
  func `a file does not replace another of the same upload`(_ name: String) throws {
    let stem = name.dropLast(4)
    let expected = [1, 2, 3].map { LocalPath("\(stem)\($0 > 1 ? "-\($0)" : "").txt") }
    #expect(try store(name, name, name, replacing: true) == expected)
    // Files of an earlier upload are replaced.
    #expect(try store("x", name, replacing: true) == ["x", expected[0]])
    let files = try tree(of: temporary.path)
    #expect(expected.map { files[$0] } == [.file([2]), .file([2]), .file([3])])
  }
}

/// Rolling back. Another file system is mounted in the directory: files can't be moved there, which only the attempt
/// shows.
@Suite(.enabled(if: SmallDisk.isAllowed, "a file system can't be mounted here"))
struct RollBackTests {
  private func withDisk(
    _ body: (TemporaryDirectory, StorageDirectory) throws -> Void
  ) throws {
    let temporary = try TemporaryDirectory()
    try makeDirectory(temporary.local("disk"))
    let mount = try run(
      program: "/bin/mount", ["-t", "tmpfs", "-o", "size=64k", "tmpfs", temporary.path("disk")])
    #expect(mount.exit == 0, "\(mount.stderr)")
    defer { _ = try? run(program: "/bin/umount", ["--lazy", temporary.path("disk")]) }
    try body(temporary, try StorageDirectory(temporary.local("")))
  }

  @Test(arguments: [false, true])
  func `files that were stored before one failed are removed`(_ replacing: Bool) throws {
    try withDisk { temporary, directory in
      try temporary.write("old", [0])
      let before = try tree(of: temporary.path)
      let error = #expect(throws: StorageError.self) {
        try directory.store(
          ["one", "new/two", "disk/x", "four"].map { (try directory.makeFile(), .kept($0)) },
          replacing: replacing)
      }
      #expect(error?.description.contains("cross-device") == true)
      #expect(try tree(of: temporary.path) == before)
    }
  }

  @Test func `files that replaced others stay, and the error says so`() throws {
    try withDisk { temporary, directory in
      try temporary.write("old", [0])
      try temporary.write("disk/x", [0])
      var before = try tree(of: temporary.path)
      before["old"] = .file([])
      let error = #expect(throws: StorageError.self) {
        try directory.store(
          ["old", "disk/x", "new"].map { (try directory.makeFile(), .kept($0)) }, replacing: true)
      }
      #expect(error?.kept == [0: "old"])
      #expect(
        error?.description.contains("except 1 that had already replaced another file") == true)
      #expect(try tree(of: temporary.path) == before)
    }
  }

  @Test func `files that replace nothing are stored first`() throws {
    try withDisk { temporary, directory in
      try temporary.write("old", [0])
      let before = try tree(of: temporary.path)
      let error = #expect(throws: StorageError.self) {
        try directory.store(
          ["old", "disk/x"].map { (try directory.makeFile(), .kept($0)) }, replacing: true)
      }
      #expect(error?.kept == [:])
      #expect(try tree(of: temporary.path) == before)
    }
  }

  /// Regression: an upload that found a name free, and then replaced the file that another had stored there in between,
  /// removed that name when it was rolled back.
  @Test func `a roll-back never removes the name of a file that another upload stored`() throws {
    try withDisk { temporary, directory in
      var lost = 0
      for _ in 0..<2_000 {
        onThreads(2) { thread in
          if thread == 0 {
            let files = ["x", "disk/y"].compactMap { name in
              (try? directory.makeFile()).map { (file: $0, destination: SafePath.kept(name)) }
            }
            _ = try? directory.store(files, replacing: true)
          } else {
            _ = try? directory.store([1], as: .kept("x"), replacing: true)
          }
        }
        if unlink(temporary.path("x")) < 0 { lost += 1 }
      }
      #expect(lost == 0, "an acknowledged file was gone \(lost) times")
    }
  }
}
