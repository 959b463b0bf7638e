import FormStreamDigest
import FormStreamMediaTypes
import FormStreamMultipart
import FormStreamTestSupport
import Testing

@testable import FormStreamBatch

/// Text with values of a file in it.
@Suite struct FileTemplateTests {
  private func text(_ template: String, _ file: BatchFile) throws -> String {
    let bytes = try FileTemplate(Array(template.utf8)).expanded(for: file) { $2 += $1 }
    return String(decoding: bytes, as: UTF8.self)
  }

  @Test(arguments: [
    ("", ""), ("a", "a"), ("{name}", "a.tar.gz"), ("{stem}", "a.tar"), ("{extension}", "gz"),
    ("{relative}", "in/a.tar.gz"), ("{path}", "/data/in/a.tar.gz"), ("{size}", "12"),
    ("{index}", "3"), ("{stem}-{size}.{extension}", "a.tar-12.gz"), ("{{name}", "{name}"),
    ("{{{name}}", "{a.tar.gz}"), ("}{name}", "}a.tar.gz"), ("{type}{sha256}", ""),
  ])
  func `values stand in braces, and a brace is written twice`(
    _ template: String, _ expected: String
  ) throws {
    let file = BatchFile(
      path: "/data/./in//a.tar.gz", relative: "in/a.tar.gz", size: 12, index: 3)
    #expect(try text(template, file) == expected)
  }

  @Test(
    arguments: [
      ("a", "a", ""), (".a", ".a", ""), (".a.b", ".a", "b"), ("a.", "a", ""), ("d.e/a", "a", ""),
      ("..", ".", ""),
    ] as [(LocalPath, String, String)])
  func `a dot at the start of a name begins no extension`(
    _ path: LocalPath, _ stem: String, _ end: String
  ) throws {
    #expect(try text("{stem}", BatchFile(path: path)) == stem)
    #expect(try text("{extension}", BatchFile(path: path)) == end)
  }

  @Test func `a name that is not UTF-8 keeps its bytes`() throws {
    let file = BatchFile(path: LocalPath(bytes: [0x64, 0x2F, 0xFF, 0x2E, 0xFE]))
    for (template, bytes) in [("{name}", [0xFF, 0x2E, 0xFE]), ("{stem}", [0xFF])]
      as [(
        String, [UInt8]
      )]
    {
      #expect(
        try FileTemplate(Array(template.utf8)).expanded(for: file) { $2 += $1 } == bytes)
    }
  }

  @Test(arguments: [
    ("{", "A { has no } after it"), ("a{name", "A { has no } after it"),
    ("{}", "{} is none"), ("{Name}", "{Name} is none"), ("{i}", "{i} is none"),
    ("{slice}", "{slice} is none"), ("{a{b}", "{a{b} is none"),
  ])
  func `what is not known is an error that names what is`(_ template: String, _ words: String) {
    let error = #expect(throws: BatchError.self) { try FileTemplate(Array(template.utf8)) }
    #expect(error?.code == .invalidTemplate)
    #expect(error?.description.contains(words) == true)
    #expect(error?.description.contains("{relative}") == true)
    #expect(error?.description.contains("{{ for a brace") == true)
  }

  @Test func `an open file has a type, a digest, a place and a slice`() throws {
    let place = try TemporaryDirectory()
    let path = try place.make("a.txt", size: 10)
    let file = try #require(try listed([.path(path)]).first)
    let opened = try OpenedBatchFile(
      file, sniffer: MediaTypeSniffer(policy: .extension), computesDigest: true,
      staysOpen: false)
    let template = try FileTemplate(
      Array("{type} {i} {slice}/{slices} {offset}+ of {total} {sha256}".utf8),
      of: FileTemplate.Value.allCases)
    #expect(template.needsDigest && !template.isConstant)
    let digest = "bf2cb58a68f684d95a3b78ef8f661c9a4e5b09e82cc8f9cc88cce90528caeb27"
    let complete = template.expanded(for: opened, at: 2)
    #expect(String(decoding: complete, as: UTF8.self) == "text/plain 2 0/1 0+ of 10 \(digest)")
    let slice = try #require(FileSlice(at: 8, of: 4, in: 10))
    let cut = template.expanded(for: opened, slice: slice)
    #expect(String(decoding: cut, as: UTF8.self) == "text/plain 0 2/3 8+ of 10 \(digest)")
  }

  @Test func `a literal has no values`() throws {
    let literal = FileTemplate(literal: "{name}")
    #expect(literal.isConstant && !literal.needsDigest)
    #expect(literal.expanded(for: BatchFile(path: "a")) { $2 += $1 } == Array("{name}".utf8))
  }
}
