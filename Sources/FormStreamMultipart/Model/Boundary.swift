/// The line that parts a form's parts.
public struct Boundary: Hashable, Sendable, CustomStringConvertible {
  /// The boundary's text, without the two hyphens before it.
  public let description: String

  /// RFC 2046 §5.1.1: "no longer than 70 characters, not counting the two leading hyphens".
  public static let maximumLength = 70

  /// Takes a boundary of the caller's choice: for reproducible bytes.
  ///
  /// - Throws: `invalidBoundary` where the text is not one to RFC 2046 §5.1.1.
  public init(_ text: String) throws(MultipartError) {
    if let flaw = Self.flaw(in: text) {
      throw MultipartError(
        .invalidBoundary, on: text,
        "The boundary \(text.quoted) \(flaw): take 1 to \(Self.maximumLength) letters, digits or "
          + "'()+_,-./:=? (spaces inside only).")
    }
    description = text
  }

  /// Draws a boundary that nobody can guess: 24 letters and digits from the system's random number
  /// generator, 142 bits.
  public static func random() -> Boundary {
    var generator = SystemRandomNumberGenerator()
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8)
    var text = Array("FormStream-".utf8)
    for _ in 0..<24 {
      text.append(alphabet[Int.random(in: alphabet.indices, using: &generator)])
    }
    return Boundary(unchecked: String(decoding: text, as: UTF8.self))
  }

  private init(unchecked text: String) {
    description = text
  }

  /// The boundary as the value of the `boundary` parameter: quoted where a character asks for it.
  ///
  /// RFC 2046 §5.1.1: the grammar allows characters that "must be in quotes" in a Content-Type.
  public var parameterValue: String {
    HTTPSyntax.isToken(description.utf8) ? description : "\"\(description)\""
  }

  /// RFC 2046 §5.1.1: boundary := 0*69<bchars> bcharsnospace; bchars := bcharsnospace / " ";
  /// bcharsnospace := DIGIT / ALPHA / "'" / "(" / ")" / "+" / "_" / "," / "-" / "." / "/" / ":" / "=" / "?".
  private static func flaw(in text: String) -> String? {
    let bytes = Array(text.utf8)
    if bytes.isEmpty { return "is empty" }
    if bytes.count > maximumLength { return "is too long" }
    if bytes.last == UInt8(ascii: " ") { return "ends in a space" }
    let marks = Array("'()+_,-./:=? ".utf8)
    let isAllowed = bytes.allSatisfy { $0.isASCIILetterOrDigit || marks.contains($0) }
    return isAllowed ? nil : "has a character that RFC 2046 does not allow"
  }
}

extension Boundary {
  /// RFC 2046 §5.1.1: dash-boundary := "--" boundary; delimiter := CRLF dash-boundary; close-delimiter :=
  /// delimiter "--". The first one in a body has no CRLF before it. A CRLF ends the last one, too: some
  /// receivers wait for it.
  func appendDelimiter(isFirst: Bool, closes: Bool, to bytes: inout [UInt8]) {
    if !isFirst { bytes.append(contentsOf: [0x0D, 0x0A]) }
    bytes.append(contentsOf: "--".utf8)
    bytes.append(contentsOf: description.utf8)
    if closes { bytes.append(contentsOf: "--".utf8) }
    bytes.append(contentsOf: [0x0D, 0x0A])
  }
}
