import FormStreamMultipart
import FormStreamTestSupport
import Testing

@Suite struct BoundaryTests {
  /// RFC 2046 §5.1.1: bcharsnospace := DIGIT / ALPHA / "'" / "(" / ")" / "+" / "_" / "," / "-" / "." /
  /// "/" / ":" / "=" / "?".
  private static let allowed =
    "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'()+_,-./:=?"

  @Test(arguments: [1, 2, 69, 70])
  func `lengths that RFC 2046 allows`(length: Int) throws {
    let text = String(repeating: "x", count: length)
    #expect(try Boundary(text).description == text)
  }

  @Test(arguments: [0, 71, 72, 1000])
  func `lengths that it does not allow`(length: Int) {
    #expect(
      failure { try Boundary(String(repeating: "x", count: length)) }?.code == .invalidBoundary)
  }

  @Test func `every ASCII character is allowed or refused as the grammar has it`() {
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
  func `a boundary is quoted in the header where a character asks for it`(
    text: String, parameter: String
  ) throws {
    let boundary = try Boundary(text)
    #expect(boundary.parameterValue == parameter)
    #expect(Form(boundary: boundary).contentType == "multipart/form-data; boundary=\(parameter)")
  }

  @Test func `ten thousand drawn at random are valid, distinct and need no quotes`() throws {
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

  @Test func `each form draws its own`() {
    #expect(Form().boundary != Form().boundary)
  }
}
