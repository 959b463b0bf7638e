import FormStreamMultipart
import FormStreamTestSupport
import Testing

/// RFC 6266 §4.1, RFC 7578 §4.2, and what senders really write.
@Suite struct ParserDispositionTests {
  /// A header value and its meaning.
  struct Row: Sendable, CustomTestStringConvertible {
    let value: String
    let name: String?
    let filename: String?

    init(_ value: String, _ name: String?, _ filename: String? = nil) {
      (self.value, self.name, self.filename) = (value, name, filename)
    }

    var testDescription: String { value }
  }

  static let rows = [
    Row(#"form-data"#, nil), Row(#"form-data; name="a""#, "a"), Row(#"form-data;name=a"#, "a"),
    Row(#"form-data; name="""#, ""), Row(#"form-data; name="#, ""),
    Row(#"form-data; name="a"; filename="b""#, "a", "b"),
    Row(#"form-data; filename="b"; name="a""#, "a", "b"),
    Row(#"form-data; name="a"; filename="""#, "a", ""),
    Row(#"form-data; name="a;b"; filename="c; name=d""#, "a;b", "c; name=d"),
    Row(#"form-data; filename="x; name=\"y\""; name="z""#, "z", "x; name=\"y\""),
    // Quotes and backslashes.
    Row(#"form-data; name="a\"b""#, "a\"b"), Row(#"form-data; name="\"""#, "\""),
    Row(#"form-data; name="a\""#, "a\\"), Row(#"form-data; name="a\"; filename="b""#, "a\\", "b"),
    Row(#"form-data; name="a"; filename="C:\dir\a.txt""#, "a", #"C:\dir\a.txt"#),
    Row(#"form-data; name="a"; filename="C:\dir\""#, "a", #"C:\dir\"#),
    Row(#"form-data; name="a\\b""#, #"a\\b"#), Row(#"form-data; name="a\nb""#, #"a\nb"#),
    // Percent codes stay.
    Row(#"form-data; name="a%22b"; filename="%0D%0A%41""#, "a%22b", "%0D%0A%41"),
    // filename*.
    Row(#"form-data; name=a; filename*=UTF-8''%C3%A9"#, "a", "é"),
    Row(#"form-data; name=a; filename*=utf-8'en'a%20b"#, "a", "a b"),
    Row(#"form-data; name=a; filename=x; filename*=UTF-8''y"#, "a", "y"),
    Row(#"form-data; name=a; filename*=UTF-8''y; filename="x""#, "a", "y"),
    Row(#"form-data; name=a; FileName*=ISO-8859-1''%e9"#, "a", "é"),
    Row(#"form-data; name=a; filename="x"; filename*=koi8-r''%C1"#, "a", "x"),
    Row(#"form-data; name=a; filename*=koi8-r''%C1"#, "a"),
    Row(#"form-data; name=a; filename="x"; filename*=UTF-8''%C3"#, "a", "x"),
    Row(#"form-data; name=a; filename="x"; filename*=UTF-8''%G0"#, "a", "x"),
    Row(#"form-data; name=a; filename="x"; filename*=UTF-8''a%4"#, "a", "x"),
    Row(#"form-data; name=a; filename="x"; filename*=y"#, "a", "x"),
    Row(#"form-data; name=a; filename*=UTF-8'y"#, "a"),
    Row(#"form-data; name=a; filename*=UTF-8''it's"#, "a", "it's"),
    // White space, case and empty parameters.
    Row("form-data ; name = \"a\" ; filename\t=\tb ", "a", "b"),
    Row(#"FORM-Data; NAME="A"; FileName=B"#, "A", "B"), Row(#"form-data;; name=a; ;"#, "a"),
    Row(#"form-data; name=" a ""#, " a "), Row(#"form-data; x="y"; name=a"#, "a"),
    Row(#"form-data; name=a b"#, "a b"), Row(#"form-data; name="é日😀""#, "é日😀"),
  ]

  @Test(arguments: rows) func `a header is parsed`(row: Row) {
    let disposition = ContentDisposition(parsing: Array(row.value.utf8))
    #expect(disposition?.type == "form-data")
    #expect(disposition?.name == row.name)
    #expect(disposition?.filename == row.filename)
  }

  @Test(
    arguments: [
      "", ";", "form data", "form-data name=a", "form-data; name", "form-data; name; filename=a",
      "form-data; name=\"a", "form-data; name=\"", "form-data; name=\"a\"b", "form-data; =a",
      "form-data; name=\"a\" filename=\"b\"", "form-data; name=a; name=b",
      "form-data; name=a; NAME=a",
      "form-data; name=a; filename=b; filename=c",
      "form-data; filename*=UTF-8''a; filename*=UTF-8''b",
      "form-data; na me=a", "form-data; \"name\"=a", "form-data, name=a", "\"form-data\"; name=a",
    ])
  func `a malformed header is refused`(value: String) {
    #expect(ContentDisposition(parsing: Array(value.utf8)) == nil)
  }

  /// RFC 9110 §5.6.6: the value of a parameter is a token or a quoted string. If a quote in a token
  /// were text, two parsers could disagree about the next semicolon: `x=a"; filename="b"`.
  @Test(
    arguments: [#"form-data; name=a"b"#, #"form-data; name=a; x=y"; filename="b""#])
  func `a value without quotes around it can't contain one`(value: String) {
    #expect(ContentDisposition(parsing: Array(value.utf8)) == nil)
  }

  @Test(
    arguments: [
      (EscapingProfile.browser, "\"\r\n%41"), (.rfc2231, "\"\r\n%41"), (.percent, "\"\r\nA"),
    ])
  func `percent codes are decoded as the profile of the sender writes them`(
    escaping: EscapingProfile, filename: String
  ) {
    let value = #"form-data; name="%22%0D%0a%41"; filename="%22%0D%0a%41""#
    let disposition = ContentDisposition(parsing: Array(value.utf8), escaping: escaping)
    #expect(disposition?.name == "\"\r\n%41")
    #expect(disposition?.filename == filename)
  }

  /// aiohttp writes names with quoted pairs and file names with percent codes. Its bodies were once
  /// refused.
  @Test(arguments: [EscapingProfile.browser, .rfc2231, .percent])
  func `a header that is valid only with quoted pairs is parsed with them`(
    escaping: EscapingProfile
  ) {
    let header = #"form-data; name="a\"b"; filename="c.txt""#
    let disposition = ContentDisposition(parsing: Array(header.utf8), escaping: escaping)
    #expect(disposition?.name == #"a"b"#)
    #expect(disposition?.filename == "c.txt")
  }

  @Test func `the backslash profile decodes every quoted pair and no percent codes`() {
    let value = #"form-data; name="a\\\"\b%22"; filename="C:\\x\\""#
    let disposition = ContentDisposition(parsing: Array(value.utf8), escaping: .backslash)
    #expect(disposition?.name == "a\\\"b%22")
    #expect(disposition?.filename == #"C:\x\"#)
    let open = #"form-data; name="a\""#
    #expect(ContentDisposition(parsing: Array(open.utf8), escaping: .backslash) == nil)
  }

  @Test func `bytes that are not UTF-8 are repaired`() {
    let disposition = ContentDisposition(
      parsing: Array("form-data; name=\"".utf8) + [0x61, 0xE9, 0x22])
    #expect(disposition?.name == "a\u{FFFD}")
  }
}
