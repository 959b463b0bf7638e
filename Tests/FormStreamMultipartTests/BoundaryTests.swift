import FormStreamMultipart
import FormStreamTestSupport
import Testing

@Suite struct BoundaryTests {
  /// RFC 2046 §5.1.1: bcharsnospace := DIGIT / ALPHA / "'" / "(" / ")" / "+" / "_" / "," / "-" /
  /// "." / "/" / ":" / "=" / "?".
  private static let allowed =
    "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'()+_,-./:=?"

  @Test(arguments: [1, 2, 69, 70])
  func `a boundary has 1 to 70 characters`(length: Int) throws {
    let text = String(repeating: "x", count: length)
    #expect(try Boundary(text).description == text)
  }

  @Test(arguments: [0, 71, 72, 1000])
  func `a boundary of another length is refused`(length: Int) {
    #expect(
      failure { try Boundary(String(repeating: "x", count: length)) }?.code == .invalidBoundary)
  }

  @Test func `each ASCII character is accepted or refused as the grammar says`() {
    for byte in UInt8(0)...127 {
      let character = String(UnicodeScalar(byte))
      let isAllowed = Self.allowed.contains(character)
      let code = failure { try Boundary("a\(character)b") }?.code
      #expect((code == nil) == (isAllowed || character == " "), "\(byte)")
      #expect((failure { try Boundary(character) } == nil) == isAllowed, "\(byte) alone")
    }
  }

  @Test(arguments: ["é", "a\u{85}b", "日本", "a ", " ", "a\r\nb", "\u{FEFF}a"])
  func `other characters and a space at the end are refused`(text: String) {
    let error = failure { try Boundary(text) }
    #expect(error?.code == .invalidBoundary)
    #expect(error?.subject == text)
  }

  /// RFC 2045 §5.1: tspecials "must be in quoted-string, to use within parameter values".
  @Test(arguments: [
    ("simple-1", "simple-1"), ("a.b_c+d'e", "a.b_c+d'e"), ("a b", "\"a b\""), ("a:b", "\"a:b\""),
    ("a/b", "\"a/b\""), ("a=b", "\"a=b\""), ("a?b", "\"a?b\""), ("a(b", "\"a(b\""),
    ("a)b", "\"a)b\""), ("a,b", "\"a,b\""),
  ])
  func `a boundary is quoted in the header if a character requires it`(
    text: String, parameter: String
  ) throws {
    let boundary = try Boundary(text)
    #expect(boundary.parameterValue == parameter)
    #expect(Form(boundary: boundary).contentType == "multipart/form-data; boundary=\(parameter)")
  }

  @Test func `ten thousand random boundaries are valid, distinct and need no quotes`() throws {
    var seen: Set<Boundary> = []
    var letters: Set<Character> = []
    for _ in 0..<10_000 {
      let boundary = Boundary.random()
      #expect(try Boundary(boundary.description) == boundary)
      #expect(boundary.parameterValue == boundary.description)
      // 22 of 62 letters and digits are 131 bits.
      #expect(boundary.description.count >= 22)
      seen.insert(boundary)
      letters.formUnion(boundary.description.suffix(22))
    }
    #expect(seen.count == 10_000)
    #expect(letters.count == 62)
  }

  @Test func `each form has its own random boundary`() {
    #expect(Form().boundary != Form().boundary)
  }
}
