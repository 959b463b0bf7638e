import FormStreamMultipart
import FormStreamTestSupport
import Testing

/// RFC 9110 §8.3.1: media-type = type "/" subtype parameters.
@Suite struct MediaTypeTests {
  @Test(arguments: [
    ("text/plain", "text/plain"),
    ("TEXT/Plain", "text/plain"),
    ("text/plain; charset=utf-8", "text/plain"),
    ("text/plain;charset=utf-8", "text/plain"),
    ("text/plain \t; charset=utf-8", "text/plain"),
    ("application/vnd.oasis.opendocument.text", "application/vnd.oasis.opendocument.text"),
    ("image/svg+xml", "image/svg+xml"),
    ("a/b; x=\"q;uo\\\"ted, =\"", "a/b"),
    ("a/b; x=\"\"", "a/b"),
    ("a/b; x=\"é\"", "a/b"),
    ("a/b;", "a/b"),
    ("a/b;;x=y", "a/b"),
    ("!#$%&'*+-.^_`|~/1", "!#$%&'*+-.^_`|~/1"),
  ])
  func `a type is kept as it was written`(text: String, essence: String) throws {
    let type = try #require(MediaType(text))
    #expect(type.description == text)
    #expect(type.essence == essence)
  }

  @Test(arguments: [
    "", "/", "a", "a/", "/b", "a/b/c", "a b/c", "a/b c", " a/b", "a/b ", "a/b; ", "a/b; x",
    "a/b; x=", "a/b; =y", "a/b; x=\"y", "a/b; x=\"y\\", "a/b; x=\"y\"z", "a/b; x=y z", "a/b; x =y",
    "a/b; x= y", "é/b", "a/é", "a/b, c/d", "a/b\r\n", "a/b\r\nX: 1", "a/b\0", "a/b; x=\"\r\n\"",
    "a/b; x=\"\0\"",
    "a/b; x=\"\\\n\"", "a/b; x=\u{7F}", "inode/x-empty (x)", "(a)/b", "a:b/c",
  ])
  func `a text that is not a media type is refused`(text: String) {
    #expect(MediaType(text) == nil)
  }

  /// A quoted string that failed on its first byte was once read as a token: `x="` and a line break
  /// passed, and could add a header.
  @Test(arguments: ["\n", "\r", "\0", "\\\n", "\\\0", "\u{7F}", "\u{1B}"])
  func `control characters after an opening quote are refused`(_ smuggled: String) throws {
    for text in [
      "a/b;x=\"\(smuggled)foo", "a/b;x=\"\(smuggled)X-Evil;y=\":z\"", "a/b;x=\"a\(smuggled)b\"",
    ] {
      #expect(MediaType(text) == nil)
      let form = Form { Part(name: "a", type: MediaType(stringLiteral: text), body: .text("")) }
      #expect(failure { try form.layout() }?.code == .invalidMediaType)
    }
  }

  @Test func `a literal that is not a media type is an error of the layout`() {
    let form = Form { Part.file("f", "/etc/passwd", type: "image/jpeg ") }
    #expect(failure { try form.layout() }?.code == .invalidMediaType)
  }

  /// RFC 6838 §4.2: "127 characters" for each of the two names.
  @Test func `a name has at most 127 characters, and a type at most 1024`() {
    let name = String(repeating: "n", count: 127)
    #expect(MediaType("\(name)/\(name)") != nil)
    #expect(MediaType("\(name)n/b") == nil)
    #expect(MediaType("a/\(name)n") == nil)
    #expect(MediaType("a/b;x=" + String(repeating: "y", count: 1018)) != nil)
    #expect(MediaType("a/b;x=" + String(repeating: "y", count: 1019)) == nil)
    #expect(MediaType("a/b; x=" + String(repeating: "y", count: 10_240)) == nil)
  }
}
