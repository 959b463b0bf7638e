import FormStreamPlatform
import FormStreamTestSupport
import Foundation
import Testing

@Suite struct AtomicFileTests {
  private let place: TemporaryDirectory
  private let directory: DirectoryDescriptor

  init() throws {
    place = try TemporaryDirectory()
    directory = try DirectoryDescriptor(FileName(place.path))
  }

  private func names() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: place.path).sorted()
  }

  private func text(_ name: String) throws -> String {
    try String(contentsOfFile: place.path(name), encoding: .utf8)
  }

  private func mode(_ name: String) throws -> Int {
    let attributes = try FileManager.default.attributesOfItem(atPath: place.path(name))
    return try #require(attributes[.posixPermissions] as? Int)
  }

  private func file(
    holding text: String, permissions: UInt32 = 0o666, isNamed: Bool = false
  ) throws -> AtomicFile {
    let file = try AtomicFile(in: directory, permissions: permissions, isNamed: isNamed)
    try write(text, to: file)
    return file
  }

  private func write(_ text: String, to file: AtomicFile) throws {
    try Array(text.utf8).withUnsafeBytes { try file.write($0) }
  }

  @Test func `a file has only its temporary name before it is committed`() throws {
    let file = try file(holding: "one ", isNamed: true)
    #expect(try names().count == 1)
    #expect(try names()[0].hasPrefix(".formstream-"))
    try write("two", to: file)
    #expect(try file.commit(as: FileName("wanted")))
    #expect(try names() == ["wanted"])
    #expect(try text("wanted") == "one two")
  }

  @Test(arguments: [AtomicFile.NameConflict.replace, .refuse])
  func `a file has no name before it is committed, if that is possible`(
    _ conflict: AtomicFile.NameConflict
  ) throws {
    let file = try file(holding: "one ")
    #expect(try names() == [])
    try write("two", to: file)
    #expect(try file.commit(as: FileName("wanted"), ifTaken: conflict))
    #expect(try names() == ["wanted"])
    #expect(try text("wanted") == "one two")
    #expect(throws: SystemError.notOpen) { try write("more", to: file) }
  }

  @Test func `a closed file has a temporary name`() throws {
    do {
      let file = try file(holding: "all")
      try file.close()
      #expect(try names().count == 1)
      #expect(try names()[0].hasPrefix(".formstream-"))
    }
    #expect(try names() == [])
  }

  @Test func `a committed file stays after it is released and discarded`() throws {
    do {
      let file = try file(holding: "kept")
      #expect(try file.commit(as: FileName("wanted")))
      file.discard()
    }
    #expect(try names() == ["wanted"])
  }

  @Test func `a file that is released without a commit is removed`() throws {
    do { _ = try file(holding: "lost") }
    #expect(try names() == [])
  }

  @Test func `a discarded file is removed at once, and can't be committed`() throws {
    let file = try file(holding: "lost")
    file.discard()
    #expect(try names() == [])
    #expect(throws: SystemError.notFound) { try file.commit(as: FileName("wanted")) }
    #expect(try names() == [])
  }

  @Test func `discarding does not remove another file that got the temporary name`() throws {
    let name = FileName.temporary()
    let file = try AtomicFile(in: directory, temporaryName: name)
    #expect(try file.commit(as: FileName("wanted")))
    try place.write(String(decoding: name.bytes, as: UTF8.self), "somebody else's")
    file.discard()
    #expect(try names().count == 2)
  }

  @Test func `a temporary name that is taken is refused, and its file stays as it is`() throws {
    try place.write("taken", "old")
    #expect(throws: SystemError(number: EEXIST)) {
      try AtomicFile(in: directory, temporaryName: FileName("taken"), isNamed: true)
    }
    #expect(try text("taken") == "old")
  }

  @Test func `a link with the temporary name is not followed`() throws {
    try FileManager.default.createSymbolicLink(
      atPath: place.path("link"), withDestinationPath: place.path("target"))
    #expect(throws: SystemError(number: EEXIST)) {
      try AtomicFile(in: directory, temporaryName: FileName("link"), isNamed: true)
    }
    #expect(try names() == ["link"])
  }

  @Test func `a file with the destination's name is replaced`() throws {
    try place.write("wanted", "old")
    #expect(try file(holding: "new").commit(as: FileName("wanted")))
    #expect(try text("wanted") == "new")
    #expect(try names() == ["wanted"])
  }

  @Test func `a link with the destination's name is replaced, and its target stays`() throws {
    try place.write("target", "old")
    try FileManager.default.createSymbolicLink(
      atPath: place.path("wanted"), withDestinationPath: "target")
    #expect(try file(holding: "new").commit(as: FileName("wanted")))
    #expect(try text("wanted") == "new")
    #expect(try text("target") == "old")
  }

  @Test(arguments: [AtomicFile.NameConflict.replace, .refuse])
  func `a directory with the destination's name is never replaced`(
    _ conflict: AtomicFile.NameConflict
  ) throws {
    try FileManager.default.createDirectory(
      atPath: place.path("wanted"), withIntermediateDirectories: false)
    do {
      let file = try file(holding: "new")
      #expect(try !file.commit(as: FileName("wanted"), ifTaken: conflict))
      #expect(throws: SystemError.isADirectory) { try file.replace(FileName("wanted")) }
    }
    #expect(try names() == ["wanted"])
  }

  @Test(arguments: [false, true])
  func `if a taken name is refused, the file can get another`(_ isSynchronized: Bool) throws {
    try place.write("wanted", "old")
    let file = try file(holding: "new", isNamed: !isSynchronized)
    #expect(
      try !file.commit(
        as: FileName("wanted"), ifTaken: .refuse, isSynchronized: isSynchronized))
    #expect(try text("wanted") == "old")
    #expect(
      try file.commit(as: FileName("other"), ifTaken: .refuse, isSynchronized: isSynchronized))
    #expect(try text("other") == "new")
    #expect(try names() == ["other", "wanted"])
  }

  @Test func `a dangling link keeps its name if taken names are refused`() throws {
    try FileManager.default.createSymbolicLink(
      atPath: place.path("wanted"), withDestinationPath: place.path("target"))
    #expect(try !file(holding: "new").commit(as: FileName("wanted"), ifTaken: .refuse))
    #expect(try names() == ["wanted"])
  }

  @Test func `a file can be committed to another directory`() throws {
    #expect(try directory.makeDirectory(FileName("inner")))
    let inner = try DirectoryDescriptor(FileName(place.path("inner")))
    #expect(try file(holding: "new").commit(as: FileName("wanted"), in: inner))
    #expect(try text("inner/wanted") == "new")
    #expect(try names() == ["inner"])
  }

  @Test
  func `a file that was closed before it was synchronized can't be committed as synchronized`()
    throws
  {
    let file = try file(holding: "new")
    try file.close()
    #expect(throws: SystemError.notOpen) {
      try file.commit(as: FileName("wanted"), isSynchronized: true)
    }
    #expect(try file.commit(as: FileName("wanted")))
  }

  @Test func `a closed file can't be written or changed`() throws {
    let file = try file(holding: "all")
    try file.close()
    try file.close()
    #expect(throws: SystemError.notOpen) { try write("more", to: file) }
    #expect(throws: SystemError.notOpen) { try file.synchronize() }
    #expect(throws: SystemError.notOpen) { try file.setPermissions(0o600) }
  }

  @Test func `a name with a NUL in it is refused, not cut`() throws {
    let file = try file(holding: "new")
    #expect(throws: SystemError.notFound) { try file.commit(as: FileName("wanted\0.txt")) }
    #expect(try !names().contains("wanted"))
  }

  @Test func `the mode is the one given, and can be changed`() throws {
    let file = try file(holding: "", permissions: 0o600, isNamed: true)
    let temporary = String(decoding: file.temporaryName.bytes, as: UTF8.self)
    #expect(try mode(temporary) == 0o600)
    try file.setPermissions(0o666)
    #expect(try file.commit(as: FileName("wanted")))
    #expect(try mode("wanted") == 0o666)
  }

  @Test func `a file for a path is created beside it`() throws {
    let path = FileName(place.path("wanted"))
    let file = try AtomicFile(for: path)
    try write("new", to: file)
    try file.replace(path.name)
    #expect(try text("wanted") == "new")
  }

  @Test func `a path that can't be the path of a file is refused`() throws {
    #expect(throws: SystemError.notFound) { try AtomicFile(for: FileName("")) }
    #expect(throws: SystemError.notFound) { try AtomicFile(for: FileName(place.path("a\0b"))) }
    #expect(throws: SystemError.isADirectory) { try AtomicFile(for: FileName(place.path + "/")) }
    #expect(throws: SystemError.notFound) {
      try AtomicFile(for: FileName(place.path("missing/a")))
    }
    try place.write("file", "")
    #expect(throws: SystemError.notADirectory) {
      try AtomicFile(for: FileName(place.path("file/a")))
    }
    #expect(try names() == ["file"])
  }

  @Test func `temporary names differ`() {
    #expect(Set((0..<100).map { _ in FileName.temporary() }).count == 100)
  }
}
