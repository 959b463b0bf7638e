import FormStreamMultipart
import Testing

@Suite struct HTTPSyntaxTests {
  @Test func `a token is made of letters, digits and fifteen marks`() {
    let allowed = (UInt8.min...UInt8.max).filter(HTTPSyntax.isTokenByte)
    #expect(
      String(decoding: allowed, as: UTF8.self)
        == "!#$%&'*+-.0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ^_`abcdefghijklmnopqrstuvwxyz|~")
  }

  @Test(arguments: [
    ("Content-Type", true), ("x", true), ("", false), ("a b", false), ("a:", false),
    ("a\r\n", false), ("naïve", false), ("a\0", false), ("(a)", false),
  ])
  func `a header name is a token`(_ text: String, _ isToken: Bool) {
    #expect(HTTPSyntax.isToken(text.utf8) == isToken)
  }

  @Test func `a header value has no control character but the tab`() {
    let refused = (UInt8.min...UInt8.max).filter { !HTTPSyntax.isFieldValue([$0]) }
    #expect(refused == Array(0x00...0x08) + Array(0x0A...0x1F) + [0x7F])
    #expect(HTTPSyntax.isFieldValue("".utf8))
    #expect(HTTPSyntax.isFieldValue("a\té".utf8))
    #expect(!HTTPSyntax.isFieldValue("a\r\nb".utf8))
  }
}

@Suite struct HeaderNameTests {
  @Test(arguments: [
    ("Content-Type", "content-type", true), ("ETAG", "etag", true), ("", "", true),
    ("Content-Type", "Content-Typ", false), ("Content-Type", "Content_Type", false),
    ("a@", "a`", false), ("[", "{", false),
    // The Kelvin sign: `lowercased()` makes a k of it.
    ("Cookie", "Coo\u{212A}ie", false), ("é", "É", false),
  ])
  func `header names match in any case of ASCII letters, and of no others`(
    _ one: String, _ other: String, _ isSame: Bool
  ) {
    #expect(one.isSameHeaderName(as: other) == isSame)
    #expect(other.isSameHeaderName(as: one) == isSame)
  }
}

@Suite struct BlankTests {
  @Test(arguments: [
    ("a", "a"), ("", ""), (" ", ""), (" \t ", ""), (" a", "a"), ("a ", "a"), ("\t a \t", "a"),
    (" a b ", "a b"), ("\u{A0}a", "\u{A0}a"), ("\ra\n", "\ra\n"),
    // A space and the accent after it are one character of Swift, but the space is still a blank.
    (" \u{301}a", "\u{301}a"),
  ])
  func `spaces and tabs at both ends are removed`(_ text: String, _ trimmed: String) {
    #expect(Array(text.trimmingBlanks().utf8) == Array(trimmed.utf8))
    #expect(Array(Array(text.utf8).trimmingBlanks()) == Array(trimmed.utf8))
  }
}
