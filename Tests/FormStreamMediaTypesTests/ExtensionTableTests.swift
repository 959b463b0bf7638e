import FormStreamMediaTypes
import FormStreamMultipart
import Testing

/// A table is text, and is searched for one extension at a time.
@Suite struct ExtensionTableTests {
  private func types(_ text: String, _ filename: String) -> [String] {
    ExtensionTable(text).types(of: filename).map(\.description)
  }

  @Test(arguments: [
    ("a/b x", "f.x", ["a/b"]), ("a/b\tx\ty", "f.y", ["a/b"]), ("a/b  y \t x ", "f.x", ["a/b"]),
    // The type itself and a part of a word are no extensions.
    ("x y", "f.x", []), ("a/x y", "f.x", []), ("a/b xx", "f.x", []), ("a/b x", "f.xx", []),
    ("a/b", "f.b", []), ("a/b x", "f.", []), ("a/b x", ".x", []), ("a/b x", "x", []),
    // Letters match in either case, in the table and in the name.
    ("a/b X", "f.x", ["a/b"]), ("a/b x", "F.X", ["a/b"]), ("A/B x", "f.x", ["A/B"]),
    // Line breaks of all kinds, and a last line without one.
    ("a/b x\r\nc/d y\r\n", "f.y", ["c/d"]), ("a/b x\nc/d x", "f.x", ["a/b", "c/d"]),
    ("\n\n a/b x\n", "f.x", ["a/b"]),
    // Comments, and lines without a valid type.
    ("# a/b x", "f.x", []), ("a/b y # x", "f.x", []), ("a/b x# y", "f.x", ["a/b"]),
    ("#\nc/d x", "f.x", ["c/d"]), ("nonsense x\nc/d x", "f.x", ["c/d"]),
    // A type that is there twice.
    ("a/b x\na/b x", "f.x", ["a/b"]), ("", "f.x", []), ("a/b ö", "f.ö", ["a/b"]),
  ])
  func `a line names a type and its extensions`(
    _ text: String, _ filename: String, _ expected: [String]
  ) {
    #expect(types(text, filename) == expected)
  }

  @Test func `the types of the first table come first`() {
    let both = ExtensionTable("a/b x").adding(ExtensionTable("c/d x\na/b x"))
    #expect(both.types(of: "f.x") == ["a/b", "c/d"])
    #expect(both.types(of: "f.y").isEmpty)
  }

  @Test func `each search gives the same, and no table knows what another one found`() {
    let (first, second) = (ExtensionTable("a/b x\nc/d x"), ExtensionTable("e/f x"))
    let sums = [first.adding(second), second.adding(first)]
    for _ in 0..<2 {
      #expect(sums.map { $0.types(of: "f.x") } == [["a/b", "c/d", "e/f"], ["e/f", "a/b", "c/d"]])
      #expect(second.types(of: "f.X") == ["e/f"])
      #expect(first.firstType(of: "f.x", where: { $0 == "c/d" }) == "c/d")
      #expect(first.types(of: "f.y").isEmpty)
    }
    let long = String(repeating: "x", count: 100)
    let table = ExtensionTable("a/b \(long)")
    for _ in 0..<2 { #expect(table.types(of: "f.\(long)") == ["a/b"]) }
  }

  @Test func `the system's table goes on where the built-in one ends`() {
    #expect(ExtensionTable.builtIn.types(of: "a.ts") == ["video/mp2t", "text/plain"])
    #expect(ExtensionTable.system.types(of: "a.ts").prefix(2) == ["video/mp2t", "text/plain"])
    #expect(ExtensionTable.system.types(of: "a.png").first == "image/png")
  }
}
