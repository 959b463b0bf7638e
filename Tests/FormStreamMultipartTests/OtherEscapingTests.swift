import FormStreamMultipart
import FormStreamTestSupport
import Testing

/// The profiles other than the default. The expected text of each row is derived by hand from the
/// RFC.
@Suite struct OtherEscapingTests {
  /// RFC 8187 §3.2.1: ext-value = charset "'" [ language ] "'" value-chars; attr-char = ALPHA /
  /// DIGIT / "!" / "#" / "$" / "&" / "+" / "-" / "." / "^" / "_" / "`" / "|" / "~".
  @Test(arguments: [
    ("plain.txt", "filename=\"plain.txt\""),
    ("", "filename=\"\""),
    ("a b;c=d,e", "filename=\"a b;c=d,e\""),
    ("it's(1)*", "filename=\"it's(1)*\""),
    ("é", "filename=\"é\"; filename*=UTF-8''%C3%A9"),
    ("😀.png", "filename=\"😀.png\"; filename*=UTF-8''%F0%9F%98%80.png"),
    ("a\"b", "filename=\"a%22b\"; filename*=UTF-8''a%22b"),
    ("a\\b", "filename=\"a%5Cb\"; filename*=UTF-8''a%5Cb"),
    // A raw backslash hid the closing quote and `filename*` from four of seven receivers.
    ("ab\\", "filename=\"ab%5C\"; filename*=UTF-8''ab%5C"),
    ("50%", "filename=\"50%\"; filename*=UTF-8''50%25"),
    ("a\rb", "filename=\"a%0Db\"; filename*=UTF-8''a%0Db"),
    ("\r\n", "filename=\"%0D%0A\"; filename*=UTF-8''%0D%0A"),
    ("\t", "filename=\"\t\"; filename*=UTF-8''%09"),
    (
      "é!#$&+-.^_`|~*'%()<>@,;:/[]?={} \"",
      "filename=\"é!#$&+-.^_`|~*'%()<>@,;:/[]?={} %22\"; filename*=UTF-8''%C3%A9!#$&+-.^_`|~"
        + "%2A%27%25%28%29%3C%3E%40%2C%3B%3A%2F%5B%5D%3F%3D%7B%7D%20%22"
    ),
  ])
  func `rfc2231 adds an extended file name if it is needed`(
    filename: String, parameters: String
  ) throws {
    #expect(try disposition(.rfc2231, name: "n", filename) == "name=\"n\"; \(parameters)")
  }

  /// A file's name on Linux is bytes. In these texts each character stands for the byte with its number.
  @Test(arguments: [
    (EscapingProfile.browser, "caf\u{E9}%22\\"), (.backslash, "caf\u{E9}\\\"\\\\"),
    (.percent, "caf%E9%22%5C"),
  ])
  func `a file name that is not UTF-8 is written as its bytes`(
    escaping: EscapingProfile, written: String
  ) throws {
    var form = Form(boundary: try Boundary("B"), escaping: escaping)
    form.append(.file("f", LocalPath(bytes: latin1("/dir/caf\u{E9}\"\\"))))
    form.parts[0].body = .text("")
    let body = try form.layout().bytes(limit: 10_000)
    let head = "--B\r\nContent-Disposition: form-data; name=\"f\"; filename=\"\(written)\"\r\n"
    #expect(body.starts(with: latin1(head)), "\(String(decoding: body, as: UTF8.self))")
  }

  private func latin1(_ text: String) -> [UInt8] {
    text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
  }

  /// RFC 8187 §3.2.1: the charset of `filename*` is stated, and these bytes have none.
  @Test func `rfc2231 can't write a file name that is not UTF-8`() throws {
    var part = Part.text("f", "")
    part.filenameBytes = [0x63, 0xE9]
    #expect(part.filename == "c\u{FFFD}")
    let error = failure { try Form(escaping: .rfc2231) { part }.layout() }
    #expect(error?.code == .invalidFilename)
    #expect(error?.description.contains("not UTF-8") == true)
    #expect(error?.description.contains("Part.filename") == true)
    part.filename = "c"
    #expect(part.filenameBytes == [0x63])
    #expect(throws: Never.self) { try Form(escaping: .rfc2231) { part }.layout() }
  }

  /// RFC 822 §3.3: quoted-pair = "\" CHAR; qtext = any CHAR excepting <">, "\" & CR.
  @Test(arguments: [
    ("plain", "plain"), ("", ""), ("a\"b", "a\\\"b"), ("a\\b", "a\\\\b"), ("\\\"", "\\\\\\\""),
    ("é😀", "é😀"), ("50%22", "50%22"), ("a;b'c", "a;b'c"), ("\t", "\t"),
  ])
  func `backslash writes quoted pairs in names and in file names`(
    text: String, quoted: String
  ) throws {
    #expect(
      try disposition(.backslash, name: text, text)
        == "name=\"\(quoted)\"; filename=\"\(quoted)\"")
  }

  @Test(arguments: ["\r", "\n", "a\r\nb"])
  func `backslash can't write line breaks`(text: String) throws {
    let name = Form(escaping: .backslash) { Part.text(text, "") }
    #expect(failure { try name.layout() }?.code == .invalidName)
    #expect(failure { try name.layout() }?.subject == text)
    let filename = Form(escaping: .backslash) { Part.bytes("a", [UInt8](), filename: text) }
    #expect(failure { try filename.layout() }?.code == .invalidFilename)
    #expect(failure { try filename.layout() }?.subject == text)
  }

  /// RFC 7578 §2: percent-encoding as in RFC 3986 §2.1, for what a segment of a file: URI can't
  /// contain; §3.3: pchar = unreserved / pct-encoded / sub-delims / ":" / "@".
  @Test(arguments: [
    ("plain.txt", "plain.txt"), ("", ""), ("-._~!$&'()*+,;=:@", "-._~!$&'()*+,;=:@"),
    ("a b", "a%20b"), ("50%", "50%25"), ("a/b", "a%2Fb"), ("a\\b", "a%5Cb"), ("\"", "%22"),
    ("é", "%C3%A9"), ("😀", "%F0%9F%98%80"), ("\r\n", "%0D%0A"), ("\n", "%0A"), ("\t", "%09"),
    ("#?[]<>^`{|}", "%23%3F%5B%5D%3C%3E%5E%60%7B%7C%7D"), ("\u{7F}", "%7F"),
  ])
  func `percent encodes file names as in a file URI`(filename: String, encoded: String) throws {
    #expect(
      try disposition(.percent, name: "n", filename) == "name=\"n\"; filename=\"\(encoded)\"")
  }

  @Test(arguments: [
    ("tags[]", "tags[]"), ("é %", "é %"), ("a\"b", "a%22b"), ("a\nb", "a%0D%0Ab"),
    ("\r", "%0D%0A"),
  ])
  func `rfc2231 and percent write names as browsers do`(name: String, quoted: String) throws {
    for profile in [EscapingProfile.rfc2231, .percent] {
      #expect(
        try disposition(profile, name: name, "f") == "name=\"\(quoted)\"; filename=\"f\"")
    }
  }

  @Test(arguments: EscapingProfile.all)
  func `no profile can write a NUL`(profile: EscapingProfile) throws {
    for text in ["\0", "a\0b"] {
      let name = Form(escaping: profile) { Part.text(text, "") }
      let nameError = try #require(failure { try name.layout() })
      #expect(nameError.code == .invalidName)
      #expect(nameError.description.contains(profile.description))
      let filename = Form(escaping: profile) { Part.bytes("a", [UInt8](), filename: text) }
      #expect(failure { try filename.layout() }?.code == .invalidFilename)
    }
  }

  @Test func `there are four profiles, and the first is the browser's`() {
    #expect(
      EscapingProfile.all.map(\.description) == ["browser", "rfc2231", "backslash", "percent"])
    #expect(Form().escaping == .browser)
  }

  /// The text after `form-data; ` in the header of a part.
  private func disposition(
    _ profile: EscapingProfile, name: String, _ filename: String
  ) throws -> String {
    let form = Form(escaping: profile) {
      Part.bytes(name, [UInt8](), filename: filename, type: MediaType("a/b"))
    }
    let headers = try form.layout().placedPart(at: 0).headers
    let lead = "Content-Disposition: form-data; "
    let end = "\r\nContent-Type: a/b\r\n\r\n"
    try #require(headers.utf8.starts(with: lead.utf8) && headers.utf8.count >= end.utf8.count)
    #expect(Array(headers.utf8.suffix(end.utf8.count)) == Array(end.utf8))
    return String(
      decoding: headers.utf8.dropFirst(lead.utf8.count).dropLast(end.utf8.count), as: UTF8.self)
  }
}
