import Glibc
import FormStreamMultipart
import FormStreamIntake
import FormStreamTestSupport
import Testing

@Suite struct HostileNameTests {
  /// The expected tree after one file was stored in `in`, beside an existing file.
  private static func expected(_ name: String, _ bytes: [UInt8]) -> [LocalPath: TreeEntry] {
    var entries: [LocalPath: TreeEntry] = ["beside": .file([1]), "in": .directory]
    var path = Array("in".utf8)
    for component in name.utf8.split(separator: UInt8(ascii: "/")) {
      entries[LocalPath(bytes: path)] = .directory
      path += [UInt8(ascii: "/")] + component
    }
    entries[LocalPath(bytes: path)] = .file(bytes)
    return entries
  }

  @Test(arguments: HostileName.all, [false, true])
  func `a file is stored at its destination and nowhere else`(
    _ name: HostileName, keepingDirectories: Bool
  ) throws {
    let temporary = try TemporaryDirectory()
    try temporary.write("beside", [1])
    let bytes = Array("bytes of \(name.sent.prefix(20))".utf8)
    let directory = try StorageDirectory(temporary.local("in"))
    let stored = try directory.store(
      bytes,
      as: SafePath(
        filename: name.sent, field: "field", keepingDirectories: keepingDirectories))
    let expected = keepingDirectories ? name.kept : name.flat
    #expect(stored == LocalPath(expected))
    #expect(try tree(of: temporary.path) == Self.expected(expected, bytes))
    #expect(access("/etc/formstream-x", F_OK) != 0)
  }

  @Test func `there are at least a hundred hostile names, all different`() {
    #expect(Set(HostileName.all.map { Array($0.sent.utf8) }).count == HostileName.all.count)
    #expect(HostileName.all.count >= 100)
  }

  @Test func `files of all hostile names fit into one directory without replacing each other`()
    throws
  {
    let temporary = try TemporaryDirectory()
    try temporary.write("beside", [1])
    let directory = try StorageDirectory(temporary.local("in"))
    var stored: [LocalPath: [UInt8]] = [:]
    for (index, name) in HostileName.all.enumerated() {
      for keepingDirectories in [false, true] {
        let path = SafePath(
          filename: name.sent, field: "field", keepingDirectories: keepingDirectories)
        let bytes = Array("\(index) \(keepingDirectories)".utf8)
        #expect(stored.updateValue(bytes, forKey: try directory.store(bytes, as: path)) == nil)
      }
    }
    var files: [LocalPath: [UInt8]] = [:]
    for case (let path, .file(let bytes)) in try tree(of: temporary.path("in")) {
      files[path] = bytes
    }
    #expect(files == stored)
    #expect(
      try Set(tree(of: temporary.path).keys.filter { !$0.bytes.contains(0x2F) }) == [
        "beside", "in",
      ])
  }

  @Test func `an absolute path is stored as a relative one`() throws {
    let temporary = try TemporaryDirectory()
    let outside = try TemporaryDirectory()
    let directory = try StorageDirectory(temporary.local("in"))
    let stored = try directory.store([1], as: .kept(outside.path("x")))
    #expect(stored.description == String(outside.path("x").dropFirst()))
    #expect(try tree(of: outside.path).isEmpty)
  }

  @Test func `two encodings of the same letter are two files in two directories`() throws {
    let temporary = try TemporaryDirectory()
    let directory = try StorageDirectory(temporary.local(""))
    for name in ["\u{E9}", "e\u{301}"] {
      #expect(
        try directory.store(name.utf8, as: .kept("\(name)/\(name)")) == LocalPath("\(name)/\(name)")
      )
    }
    #expect(
      try tree(of: temporary.path) == [
        "\u{E9}": .directory, "\u{E9}/\u{E9}": .file([0xC3, 0xA9]),
        "e\u{301}": .directory, "e\u{301}/e\u{301}": .file([0x65, 0xCC, 0x81]),
      ])
  }

  @Test func `a field's name makes no directories`() throws {
    let path = SafePath(filename: nil, field: "a/b", keepingDirectories: true)
    let temporary = try TemporaryDirectory()
    #expect(try StorageDirectory(temporary.local("")).store([], as: path) == "b")
  }

  @Test func `a path without a usable component is no path`() {
    for name in ["", "/", "..", "../..", ". / .", "\\..\\"] { #expect(SafePath(name) == nil) }
  }
}
