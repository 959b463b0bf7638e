import FormStreamPlatform
import FormStreamTestSupport
import Foundation
import Testing

@Suite struct DirectoryDescriptorTests {
  private let place: TemporaryDirectory
  private let directory: DirectoryDescriptor

  init() throws {
    place = try TemporaryDirectory()
    directory = try DirectoryDescriptor(FileName(place.path))
  }

  private func makeLink(_ name: String, to target: String) throws {
    try FileManager.default.createSymbolicLink(
      atPath: place.path(name), withDestinationPath: target)
  }

  @Test func `only a directory is opened`() throws {
    try place.write("file", "")
    #expect(throws: SystemError.notADirectory) {
      try DirectoryDescriptor(FileName(place.path("file")))
    }
    #expect(throws: SystemError.notFound) {
      try DirectoryDescriptor(FileName(place.path("missing")))
    }
    #expect(throws: SystemError.notFound) {
      try DirectoryDescriptor(FileName(place.path + "\0/x"))
    }
  }

  @Test func `a missing directory is created, but not its parents`() throws {
    let path = FileName(place.path("new"))
    _ = try DirectoryDescriptor(openingOrMaking: path)
    _ = try DirectoryDescriptor(openingOrMaking: path)
    #expect(throws: SystemError.notFound) {
      try DirectoryDescriptor(openingOrMaking: FileName(place.path("a/b")))
    }
  }

  @Test func `a dangling link is not replaced by a directory`() throws {
    try makeLink("link", to: "missing")
    #expect(throws: SystemError.notFound) {
      try DirectoryDescriptor(openingOrMaking: FileName(place.path("link")))
    }
    #expect(!FileManager.default.fileExists(atPath: place.path("missing")))
  }

  @Test func `a link to a directory is not followed when an entry is opened`() throws {
    #expect(try directory.makeDirectory(FileName("inner")))
    try makeLink("link", to: "inner")
    try place.write("file", "")
    #expect(try DirectoryDescriptor(opening: FileName("inner"), in: directory) != nil)
    #expect(try DirectoryDescriptor(opening: FileName("link"), in: directory) == nil)
    #expect(try DirectoryDescriptor(opening: FileName("file"), in: directory) == nil)
    #expect(throws: SystemError.notFound) {
      try DirectoryDescriptor(opening: FileName("missing"), in: directory)
    }
  }

  @Test func `a directory is not created if the name is taken`() throws {
    try place.write("file", "")
    #expect(try !directory.makeDirectory(FileName("file")))
    #expect(try directory.makeDirectory(FileName("new")))
    #expect(try !directory.makeDirectory(FileName("new")))
  }

  @Test func `an identity is of the file and not of its name`() throws {
    try place.write("one", "")
    try place.write("other", "")
    try FileManager.default.linkItem(atPath: place.path("one"), toPath: place.path("again"))
    try makeLink("link", to: "one")
    let one = try #require(try directory.identity(of: FileName("one")))
    #expect(try directory.identity(of: FileName("again")) == one)
    #expect(try directory.identity(of: FileName("other")) != one)
    #expect(try directory.identity(of: FileName("link")) != one)
    #expect(try directory.identity(of: FileName("missing")) == nil)
  }

  @Test func `removing a link keeps its target`() throws {
    try place.write("file", "")
    try makeLink("link", to: "file")
    directory.remove(FileName("link"))
    directory.remove(FileName("missing"))
    #expect(try FileManager.default.contentsOfDirectory(atPath: place.path) == ["file"])
  }

  @Test func `a directory is removed only if it is empty`() throws {
    #expect(try directory.makeDirectory(FileName("inner")))
    try place.write("inner/file", "")
    directory.removeDirectory(FileName("inner"))
    #expect(FileManager.default.fileExists(atPath: place.path("inner/file")))
    directory.remove(FileName("inner/file"))
    directory.removeDirectory(FileName("inner"))
    #expect(!FileManager.default.fileExists(atPath: place.path("inner")))
  }

  @Test func `a directory can be synchronized, and checked for write permission`() throws {
    try directory.synchronize()
    try directory.checkWritable()
  }

  @Test(.enabled(if: !isSuperuser)) func `a read-only directory is reported as such`() throws {
    try FileManager.default.setAttributes([.posixPermissions: 0o500], ofItemAtPath: place.path)
    defer {
      try? FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: place.path)
    }
    #expect(throws: SystemError(number: EACCES)) { try directory.checkWritable() }
  }
}

@Suite struct PathBytesTests {
  @Test(arguments: [
    ("a", ".", "a"), ("a/b", "a/", "b"), ("/a", "/", "a"), ("/a/b/c", "/a/b/", "c"),
    ("a/", "a/", ""), ("/", "/", ""), ("", ".", ""), ("../x", "../", "x"),
  ])
  func `a path is split at its last slash`(_ path: String, _ directory: String, _ name: String) {
    #expect(FileName(path).directory == FileName(directory))
    #expect(FileName(path).name == FileName(name))
  }

  @Test func `a C string of a name has its bytes and a NUL`() {
    let bytes: [UInt8] = [0x61, 0xFF, 0x2F]
    let copy = FileName(bytes: bytes).withCString { String(cString: $0).utf8.count }
    // The repaired byte has three.
    #expect(copy == 5)
    #expect(FileName(bytes: bytes).withCString { $0[3] } == 0)
    #expect(FileName("").withCString { $0[0] } == 0)
    #expect(FileName("a").isUsable)
    #expect(!FileName("a\0").isUsable)
  }
}
