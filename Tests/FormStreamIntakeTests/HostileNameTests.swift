import Glibc
import FormStreamMultipart
import FormStreamIntake
import FormStreamTestSupport
import Testing

@Suite struct HostileNameTests {
  /// The tree of a place in which one file was stored, beside a file that was there.
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
  func `a file stands inside, where it should, and nothing outside`(
    _ name: HostileName, keepingDirectories: Bool
  ) throws {
    let place = try TemporaryDirectory()
    try place.write("beside", [1])
    let bytes = Array("bytes of \(name.sent.prefix(20))".utf8)
    let directory = try StorageDirectory(place.local("in"))
    let stored = try directory.store(
      bytes,
      as: SafePath(
        filename: name.sent, field: "field", keepingDirectories: keepingDirectories))
    let expected = keepingDirectories ? name.kept : name.flat
    #expect(stored == LocalPath(expected))
    #expect(try tree(of: place.path) == Self.expected(expected, bytes))
    #expect(access("/etc/formstream-x", F_OK) != 0)
  }

  @Test func `there are enough of them`() {
    #expect(Set(HostileName.all.map { Array($0.sent.utf8) }).count == HostileName.all.count)
    #expect(HostileName.all.count >= 100)
  }

  @Test func `all of them go into one directory, and none takes another's place`() throws {
    let place = try TemporaryDirectory()
    try place.write("beside", [1])
    let directory = try StorageDirectory(place.local("in"))
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
    for case (let path, .file(let bytes)) in try tree(of: place.path("in")) { files[path] = bytes }
    #expect(files == stored)
    #expect(
      try Set(tree(of: place.path).keys.filter { !$0.bytes.contains(0x2F) }) == ["beside", "in"])
  }

  @Test func `an absolute name of a directory that is there makes another like it`() throws {
    let place = try TemporaryDirectory()
    let outside = try TemporaryDirectory()
    let directory = try StorageDirectory(place.local("in"))
    let stored = try directory.store([1], as: .kept(outside.path("x")))
    #expect(stored.description == String(outside.path("x").dropFirst()))
    #expect(try tree(of: outside.path).isEmpty)
  }

  @Test func `two spellings that look alike are two files in two directories`() throws {
    let place = try TemporaryDirectory()
    let directory = try StorageDirectory(place.local(""))
    for name in ["\u{E9}", "e\u{301}"] {
      #expect(
        try directory.store(name.utf8, as: .kept("\(name)/\(name)")) == LocalPath("\(name)/\(name)")
      )
    }
    #expect(
      try tree(of: place.path) == [
        "\u{E9}": .directory, "\u{E9}/\u{E9}": .file([0xC3, 0xA9]),
        "e\u{301}": .directory, "e\u{301}/e\u{301}": .file([0x65, 0xCC, 0x81]),
      ])
  }

  @Test func `a field's name makes no directories`() throws {
    let path = SafePath(filename: nil, field: "a/b", keepingDirectories: true)
    let place = try TemporaryDirectory()
    #expect(try StorageDirectory(place.local("")).store([], as: path) == "b")
  }

  @Test func `of nothing nothing is left`() {
    for name in ["", "/", "..", "../..", ". / .", "\\..\\"] { #expect(SafePath(name) == nil) }
  }
}
