/// The text that separates the parts of a form.
public struct Boundary: Hashable, Sendable, CustomStringConvertible {
  /// The text, without the two leading hyphens.
  public let description: String

  /// RFC 2046 §5.1.1: "no longer than 70 characters, not counting the two leading hyphens".
  public static let maximumLength = 70

  /// Creates a boundary from a text, so that the encoded bytes are reproducible.
  ///
  /// - Throws: `invalidBoundary` if RFC 2046 §5.1.1 does not allow the text.
  public init(_ text: String) throws(MultipartError) {
    if let flaw = Self.flaw(in: text) {
      throw MultipartError(
        .invalidBoundary, on: text,
        "The boundary \(text.quoted) \(flaw): use 1 to \(Self.maximumLength) letters, digits or "
          + "'()+_,-./:=? (spaces inside only).")
    }
    description = text
  }

  /// Creates a boundary that can't be guessed: 24 letters and digits (142 bits) from the system's
  /// random number generator.
  public static func random() -> Boundary {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8)
    var text = Array("FormStream-".utf8)
    // A number has 64 bits, and 8 characters need fewer than 48. So all characters are equally likely, to within a
    // hundred thousandth.
    for var number in randomNumbers(3) {
      for _ in 0..<8 {
        let (rest, index) = number.quotientAndRemainder(dividingBy: UInt64(alphabet.count))
        text.append(alphabet[Int(index)])
        number = rest
      }
    }
    return Boundary(unchecked: String(decoding: text, as: UTF8.self))
  }

  private init(unchecked text: String) {
    description = text
  }

  /// The value of the `boundary` parameter in a Content-Type. It is in quotes if a character requires them.
  ///
  /// RFC 2046 §5.1.1: the grammar allows characters that "must be in quotes" in a Content-Type.
  public var parameterValue: String {
    HTTPSyntax.isToken(description.utf8) ? description : "\"\(description)\""
  }

  /// RFC 2046 §5.1.1: boundary := 0*69<bchars> bcharsnospace; bchars := bcharsnospace / " ";
  /// bcharsnospace := DIGIT / ALPHA / "'" / "(" / ")" / "+" / "_" / "," / "-" / "." / "/" / ":" /
  /// "=" / "?".
  private static func flaw(in text: String) -> String? {
    let bytes = Array(text.utf8)
    if bytes.isEmpty { return "is empty" }
    if bytes.count > maximumLength { return "is too long" }
    if bytes.last == UInt8(ascii: " ") { return "ends in a space" }
    let marks = Array("'()+_,-./:=? ".utf8)
    let isAllowed = bytes.allSatisfy { $0.isASCIILetterOrDigit || marks.contains($0) }
    return isAllowed ? nil : "contains a character that RFC 2046 does not allow"
  }
}

extension Boundary {
  /// RFC 2046 §5.1.1: dash-boundary := "--" boundary; delimiter := CRLF dash-boundary; close-delimiter := delimiter
  /// "--". The first delimiter of a body has no CRLF before it. The last delimiter also ends with a CRLF, because some
  /// receivers wait for it.
  func appendDelimiter(isFirst: Bool, closes: Bool, to bytes: inout [UInt8]) {
    if !isFirst { bytes.append(contentsOf: [0x0D, 0x0A]) }
    bytes.append(contentsOf: "--".utf8)
    bytes.append(contentsOf: description.utf8)
    if closes { bytes.append(contentsOf: "--".utf8) }
    bytes.append(contentsOf: [0x0D, 0x0A])
  }
}
