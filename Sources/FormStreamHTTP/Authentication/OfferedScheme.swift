import FormStreamMultipart

/// An authentication scheme that a server offers in `WWW-Authenticate`, with its parameters.
public struct OfferedScheme: Sendable, Hashable {
  /// The scheme as it was written, such as `Digest`. It is case-insensitive.
  public let scheme: String
  /// The parameters; their names are in lower case.
  public fileprivate(set) var parameters: [String: String] = [:]
  /// Whether the parameters that an answer repeats can be sent back: they are UTF-8, and have no control character in them.
  fileprivate(set) var isRepeatable = true

  /// The name of the protected area; nil if the server gives none.
  public var realm: String? { parameters["realm"] }

  /// Whether the scheme has this name.
  public func isScheme(_ name: String) -> Bool { scheme.lowercased() == name.lowercased() }
}

extension OfferedScheme {
  /// The schemes that a response offers, in their order.
  ///
  /// RFC 9110 §11.6.1: WWW-Authenticate = #challenge; challenge = auth-scheme [ 1*SP ( token68 / #auth-param ) ].
  /// "Implementers should note that the field value might contain more than one challenge".
  static func all(in headers: HTTPHeaders) -> [OfferedScheme] {
    headers.fields.filter { $0.name.isSameHeaderName(as: "WWW-Authenticate") }
      .flatMap { parsing($0.bytes) }
  }

  /// Text that is not a challenge ends the list. The challenges before it still count.
  private static func parsing(_ value: [UInt8]) -> [OfferedScheme] {
    var scanner = ChallengeScanner(value)
    var offers: [OfferedScheme] = []
    while let word = scanner.nextWord() {
      if let last = offers.indices.last, let parameter = scanner.takeValue() {
        let name = word.lowercased()
        // No RFC says which of two values of a parameter counts. As in curl, the last value counts.
        offers[last].parameters[name] = parameter.text
        if !parameter.isRepeatable, ["realm", "nonce", "opaque"].contains(name) {
          offers[last].isRepeatable = false
        }
      } else {
        offers.append(OfferedScheme(scheme: word))
        scanner.skipToken68()
      }
    }
    return offers
  }

  /// The nonce that the header `Authentication-Info` names for the next request (RFC 7616 §3.5); nil if the header names no
  /// nonce, or if the nonce can't be sent back.
  static func nextNonce(in headers: HTTPHeaders) -> String? {
    guard
      let field = headers.fields.first(where: {
        $0.name.isSameHeaderName(as: "Authentication-Info")
      })
    else { return nil }
    var scanner = ChallengeScanner(field.bytes)
    while let word = scanner.nextWord() {
      guard let value = scanner.takeValue() else { return nil }
      if word.lowercased() == "nextnonce" { return value.isRepeatable ? value.text : nil }
    }
    return nil
  }
}

/// The value of a parameter.
private struct ParameterValue {
  let text: String
  /// Whether the value can be sent back.
  let isRepeatable: Bool

  init(_ bytes: some Collection<UInt8>) {
    text = String(decoding: bytes, as: UTF8.self)
    isRepeatable =
      HTTPSyntax.isFieldValue(bytes) && String(validating: bytes, as: UTF8.self) != nil
  }
}

/// Reads the words of a list of challenges.
private struct ChallengeScanner {
  private var rest: ArraySlice<UInt8>

  init(_ value: [UInt8]) {
    rest = value[...]
  }

  /// The next token after blanks and commas; nil if no token follows.
  mutating func nextWord() -> String? {
    rest = rest.drop { $0.isBlank || $0 == UInt8(ascii: ",") }
    return takeToken()
  }

  /// The value after `=`: a token or a quoted string. Nil if there is none; then nothing is taken.
  mutating func takeValue() -> ParameterValue? {
    let before = rest
    skipBlanks()
    if rest.first == UInt8(ascii: "=") {
      rest.removeFirst()
      skipBlanks()
      if rest.first == UInt8(ascii: "\"") {
        if let value = takeQuoted() { return ParameterValue(value) }
      } else if let value = takeToken() {
        return ParameterValue(value.utf8)
      }
    }
    rest = before
    return nil
  }

  /// RFC 9110 §11.2: token68 = 1*( ALPHA / DIGIT / "-" / "." / "_" / "~" / "+" / "/" ) *"=". Nothing is taken if the text is
  /// the name of a parameter.
  mutating func skipToken68() {
    let before = rest
    skipBlanks()
    rest = rest.drop { $0.isASCIILetterOrDigit || "-._~+/".utf8.contains($0) }
    rest = rest.drop { $0 == UInt8(ascii: "=") }
    skipBlanks()
    if let next = rest.first, next != UInt8(ascii: ",") { rest = before }
  }

  private mutating func skipBlanks() {
    rest = rest.drop(while: \.isBlank)
  }

  private mutating func takeToken() -> String? {
    let token = rest.prefix(while: HTTPSyntax.isTokenByte)
    guard !token.isEmpty else { return nil }
    rest = rest[token.endIndex...]
    return String(decoding: token, as: UTF8.self)
  }

  /// RFC 9110 §5.6.4: "Recipients that process the value of a quoted-string MUST handle a quoted-pair as if it were
  /// replaced by the octet following the backslash."
  private mutating func takeQuoted() -> [UInt8]? {
    var text: [UInt8] = []
    var inside = rest.dropFirst()
    while let byte = inside.popFirst() {
      if byte == UInt8(ascii: "\"") {
        rest = inside
        return text
      }
      guard byte == UInt8(ascii: "\\") else {
        text.append(byte)
        continue
      }
      guard let escaped = inside.popFirst() else { return nil }
      text.append(escaped)
    }
    return nil
  }
}
