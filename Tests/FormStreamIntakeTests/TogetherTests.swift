import Glibc
import FormStreamMultipart
import FormStreamIntake
import FormStreamPlatform
import FormStreamTestSupport
import Testing

/// Files that come together: all of them are stored, or none.
@Suite struct TogetherTests {
  private let place: TemporaryDirectory
  private let directory: StorageDirectory

  init() throws {
    place = try TemporaryDirectory()
    directory = try StorageDirectory(place.local(""))
  }

  /// Stores files of one byte each, which tells them apart: the first is a 1.
  private func store(_ names: String..., replacing: Bool = false) throws -> [LocalPath] {
    let files = try names.enumerated().map { index, name in
      let file = try directory.makeFile()
      try [UInt8(index + 1)].withUnsafeBytes { try file.write($0) }
      return (file: file, place: SafePath.kept(name))
    }
    return try directory.store(files, replacing: replacing)
  }

  @Test func `each gets its place, in the order in which they came`() throws {
    try place.write("b", [0])
    #expect(try store("b", "a", "d/b", "b", replacing: true) == ["b", "a", "d/b", "b-2"])
    #expect(
      try tree(of: place.path) == [
        "b": .file([1]), "a": .file([2]), "d": .directory, "d/b": .file([3]), "b-2": .file([4]),
      ])
    #expect(try store() == [])
  }

  /// What came before the one that has no place was stored, and stayed.
  @Test(arguments: [false, true])
  func `where one can't have its place, nothing is stored and nothing replaced`(
    _ replacing: Bool
  ) throws {
    for number in 1...100 { try place.write(number > 1 ? "a-\(number)" : "a", [0]) }
    try place.write("keep.txt", [0])
    let before = try tree(of: place.path)
    let error = #expect(throws: StorageError.self) {
      try store("one", "keep.txt", "made/in/two", "a/x", "four", replacing: replacing)
    }
    #expect(error?.replacedCount == 0)
    #expect(error?.description.contains("It is gone, and so is all that came with it;") == true)
    #expect(try tree(of: place.path) == before)
  }

  @Test func `where one is gone before it is stored, none is stored`() throws {
    let (one, other) = (
      try directory.makeFile(), try directory.makeFile(temporaryName: FileName("tmp"))
    )
    #expect(unlink(place.path("tmp")) == 0)
    #expect(throws: StorageError.self) {
      try directory.store([(one, .kept("d/a")), (other, .kept("b"))])
    }
    withExtendedLifetime(one) {}
    #expect(try tree(of: place.path).allSatisfy { $0.key.description.hasPrefix(".formstream-") })
  }

  /// Both were called stored as that name, and one of them was lost.
  @Test(arguments: ["a.txt", "d/a.txt"])
  func `a file does not replace what came with it`(_ name: String) throws {
    let stem = name.dropLast(4)
    let expected = [1, 2, 3].map { LocalPath("\(stem)\($0 > 1 ? "-\($0)" : "").txt") }
    #expect(try store(name, name, name, replacing: true) == expected)
    // Those of another request are another's.
    #expect(try store("x", name, replacing: true) == ["x", expected[0]])
    let files = try tree(of: place.path)
    #expect(expected.map { files[$0] } == [.file([2]), .file([2]), .file([3])])
  }
}

/// A file system within the directory: no file can go there, and only the attempt tells.
@Suite(.enabled(if: SmallDisk.isAllowed, "a file system can't be mounted here"))
struct TakingBackTests {
  private func withDisk(
    _ body: (TemporaryDirectory, StorageDirectory) throws -> Void
  ) throws {
    let place = try TemporaryDirectory()
    try makeDirectory(place.local("disk"))
    let mount = try run(
      program: "/bin/mount", ["-t", "tmpfs", "-o", "size=64k", "tmpfs", place.path("disk")])
    #expect(mount.exit == 0, "\(mount.stderr)")
    defer { _ = try? run(program: "/bin/umount", ["--lazy", place.path("disk")]) }
    try body(place, try StorageDirectory(place.local("")))
  }

  @Test(arguments: [false, true])
  func `what was added before one failed is taken back`(_ replacing: Bool) throws {
    try withDisk { place, directory in
      try place.write("old", [0])
      let before = try tree(of: place.path)
      let error = #expect(throws: StorageError.self) {
        try directory.store(
          ["one", "new/two", "disk/x", "four"].map { (try directory.makeFile(), .kept($0)) },
          replacing: replacing)
      }
      #expect(error?.description.contains("cross-device") == true)
      #expect(try tree(of: place.path) == before)
    }
  }

  @Test func `what has taken another's place stays, and that is told`() throws {
    try withDisk { place, directory in
      try place.write("old", [0])
      try place.write("disk/x", [0])
      var before = try tree(of: place.path)
      before["old"] = .file([])
      let error = #expect(throws: StorageError.self) {
        try directory.store(
          ["old", "disk/x", "new"].map { (try directory.makeFile(), .kept($0)) }, replacing: true)
      }
      #expect(error?.replacedCount == 1)
      #expect(
        error?.description.contains("but 1 that had taken the place of another;") == true)
      #expect(try tree(of: place.path) == before)
    }
  }

  @Test func `what fails without replacing anything comes first`() throws {
    try withDisk { place, directory in
      try place.write("old", [0])
      let before = try tree(of: place.path)
      let error = #expect(throws: StorageError.self) {
        try directory.store(
          ["old", "disk/x"].map { (try directory.makeFile(), .kept($0)) }, replacing: true)
      }
      #expect(error?.replacedCount == 0)
      #expect(try tree(of: place.path) == before)
    }
  }
}
