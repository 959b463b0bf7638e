import FormStreamMultipart
import FormStreamTestSupport
import Testing

/// WHATWG HTML, "multipart/form-data encoding algorithm" (4.10.21.8):
///
/// 1. For each entry of entry list: "Replace every occurrence of U+000D (CR) not followed by U+000A
///    (LF), and every occurrence of U+000A (LF) not preceded by U+000D (CR), in entry's name, by a
///    string consisting of a U+000D (CR) and U+000A (LF)." "If entry's value is not a File object,
///    then replace [the same] in entry's value".
/// 2. "For field names and filenames for file fields, the result of the encoding in the previous
///    bullet point must be escaped by replacing any 0x0A (LF) bytes with the byte sequence `%0A`,
///    0x0D (CR) with `%0D` and 0x22 (") with `%22`. The user agent must not perform any other
///    escapes."
@Suite struct BrowserEscapingTests {
  /// A text, and how it is written as a name, as a file name and as a value: derived by hand from
  /// the rules above.
  struct Row: Sendable, CustomTestStringConvertible {
    let text: String
    let name: String
    let filename: String
    let value: String

    init(_ text: String, name: String, filename: String, value: String) {
      (self.text, self.name, self.filename, self.value) = (text, name, filename, value)
    }

    /// A text that is written as it is everywhere.
    init(plain text: String) {
      self.init(text, name: text, filename: text, value: text)
    }

    var testDescription: String { text.debugDescription }
  }

  static let rows = [
    Row(plain: ""), Row(plain: "plain"), Row(plain: "a b"), Row(plain: "é"), Row(plain: "e\u{301}"),
    Row(plain: "😀.png"), Row(plain: "日本語"), Row(plain: "100%"), Row(plain: "%22"),
    Row(plain: "%0A"), Row(plain: "a;b=c"), Row(plain: "it's"), Row(plain: "a\\b"),
    Row(plain: "C:\\dir\\f"), Row(plain: "tags[]"), Row(plain: "a/b"), Row(plain: "\t"),
    Row(plain: "\u{7F}\u{1B}"), Row(plain: "\u{2028}\u{85}"), Row(plain: "<&>"),
    Row("a\"b", name: "a%22b", filename: "a%22b", value: "a\"b"),
    Row("\"\"", name: "%22%22", filename: "%22%22", value: "\"\""),
    Row("\\\"", name: "\\%22", filename: "\\%22", value: "\\\""),
    Row("a\rb", name: "a%0D%0Ab", filename: "a%0Db", value: "a\r\nb"),
    Row("a\nb", name: "a%0D%0Ab", filename: "a%0Ab", value: "a\r\nb"),
    Row("a\r\nb", name: "a%0D%0Ab", filename: "a%0D%0Ab", value: "a\r\nb"),
    // An LF, then a CR without an LF after it: both are alone.
    Row("a\n\rb", name: "a%0D%0A%0D%0Ab", filename: "a%0A%0Db", value: "a\r\n\r\nb"),
    Row("\r\r\n", name: "%0D%0A%0D%0A", filename: "%0D%0D%0A", value: "\r\n\r\n"),
    Row("\r\n\n", name: "%0D%0A%0D%0A", filename: "%0D%0A%0A", value: "\r\n\r\n"),
    Row("\n\n", name: "%0D%0A%0D%0A", filename: "%0A%0A", value: "\r\n\r\n"),
    Row("\r\r", name: "%0D%0A%0D%0A", filename: "%0D%0D", value: "\r\n\r\n"),
    Row("x\r", name: "x%0D%0A", filename: "x%0D", value: "x\r\n"),
    Row("\n", name: "%0D%0A", filename: "%0A", value: "\r\n"),
    Row("é\"\n😀", name: "é%22%0D%0A😀", filename: "é%22%0A😀", value: "é\"\r\n😀"),
  ]

  @Test(arguments: rows)
  func `names, file names and values are escaped as browsers escape them`(row: Row) throws {
    let form = Form(boundary: try Boundary("B"), browserText: true) {
      Part(name: row.text, filename: row.text, type: MediaType("a/b"), body: .text(row.text))
    }
    #expect(
      Array(try sent(form).utf8)
        == Array(
          ("--B\r\n"
            + "Content-Disposition: form-data; name=\"\(row.name)\"; filename=\"\(row.filename)\"\r\n"
            + "Content-Type: a/b\r\n"
            + "\r\n"
            + "\(row.value)\r\n"
            + "--B--\r\n").utf8))
  }

  @Test(arguments: rows)
  func `values are byte-exact unless browserText is set`(row: Row) throws {
    let form = Form(boundary: try Boundary("B")) { Part.text("a", row.text) }
    #expect(
      Array(try sent(form).utf8)
        == Array(
          ("--B\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n\(row.text)\r\n--B--\r\n").utf8
        ))
  }

  @Test func `browserText does not change bytes and files`() throws {
    let directory = try TemporaryDirectory()
    let path = try directory.write("f", "1\n2\r3")
    let form = Form(boundary: try Boundary("B"), browserText: true) {
      Part.bytes("b", Array("1\n2\r3".utf8))
      Part.file("f", path, type: MediaType("a/b"))
      Part.stream("s") { ScriptedSource(Array("1\n2\r3".utf8)) }
    }
    #expect(
      try form.layout().bytes(limit: 4096)
        == Array(
          ("--B\r\n"
            + "Content-Disposition: form-data; name=\"b\"\r\n"
            + "\r\n"
            + "1\n2\r3\r\n"
            + "--B\r\n"
            + "Content-Disposition: form-data; name=\"f\"; filename=\"f\"\r\n"
            + "Content-Type: a/b\r\n"
            + "\r\n"
            + "1\n2\r3\r\n"
            + "--B\r\n"
            + "Content-Disposition: form-data; name=\"s\"\r\n"
            + "\r\n"
            + "1\n2\r3\r\n"
            + "--B--\r\n").utf8))
  }
}
