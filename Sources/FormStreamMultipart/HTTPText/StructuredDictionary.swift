import FormStreamPlatform

/// The value of a header that is a dictionary (RFC 9651 §3.2), such as `sha-256=:…:, sha-512=:…:`.
///
/// Only byte sequences, booleans and integers are kept. The syntax of all other values is checked. ``item(_:)`` reads a header
/// that is a single value.
package struct StructuredDictionary {
  package enum Value: Equatable {
    case bytes([UInt8])
    case boolean(Bool)
    case integer(Int64)
    case other

    package var boolean: Bool? { if case .boolean(let value) = self { value } else { nil } }
    package var integer: Int64? { if case .integer(let value) = self { value } else { nil } }
  }

  /// RFC 9651 §4.2.2: of two members with the same key, the last counts.
  package private(set) var values: [String: Value] = [:]
  private var rest: ArraySlice<UInt8>

  /// Parses a value; nil if it is not a dictionary.
  package init?(_ text: String) {
    rest = Array(text.utf8).trimmingBlanks()
    while !rest.isEmpty {
      guard let key = key() else { return nil }
      // RFC 9651 §3.2: "Members whose value is Boolean … true MUST omit that value".
      guard let value = take("=") ? item() : .boolean(true), skipParameters() else { return nil }
      values[key] = value
      rest = rest.drop(while: \.isBlank)
      if rest.isEmpty { return }
      guard take(",") else { return nil }
      rest = rest.drop(while: \.isBlank)
      // A comma at the end is an error.
      if rest.isEmpty { return nil }
    }
  }

  /// The value of a header that is an item (RFC 9651 §3.3), such as `?1` or `12;q=1`; nil if it is none.
  package static func item(_ text: String) -> Value? {
    guard var reader = StructuredDictionary("") else { return nil }
    reader.rest = Array(text.utf8).trimmingBlanks()
    guard let value = reader.bareItem(), reader.skipParameters(), reader.rest.isEmpty else {
      return nil
    }
    return value
  }

  private mutating func take(_ character: Character) -> Bool {
    guard rest.first == character.asciiValue else { return false }
    rest.removeFirst()
    return true
  }

  private mutating func take(while isTaken: (UInt8) -> Bool) -> ArraySlice<UInt8> {
    let taken = rest.prefix(while: isTaken)
    rest = rest[taken.endIndex...]
    return taken
  }

  /// "key = ( lcalpha / "*" ) *( lcalpha / DIGIT / "_" / "-" / "." / "*" )"
  private mutating func key() -> String? {
    guard let first = rest.first, first.isLowercaseLetter || first == UInt8(ascii: "*") else {
      return nil
    }
    let key = take { $0.isLowercaseLetter || $0.isASCIIDigit || "_-.*".utf8.contains($0) }
    return String(decoding: key, as: UTF8.self)
  }

  /// "parameters = *( ";" *SP parameter )"
  private mutating func skipParameters() -> Bool {
    while take(";") {
      rest = rest.drop { $0 == UInt8(ascii: " ") }
      guard key() != nil else { return false }
      if take("="), bareItem() == nil { return false }
    }
    return true
  }

  private mutating func item() -> Value? {
    guard take("(") else { return bareItem() }
    // "inner-list = "(" *SP [ sf-item *( 1*SP sf-item ) *SP ] ")""
    while true {
      rest = rest.drop { $0 == UInt8(ascii: " ") }
      if take(")") { return .other }
      guard bareItem() != nil, skipParameters(),
        rest.first == UInt8(ascii: " ") || rest.first == UInt8(ascii: ")")
      else { return nil }
    }
  }

  private mutating func bareItem() -> Value? {
    switch rest.first {
    case UInt8(ascii: ":"): return byteSequence()
    case UInt8(ascii: "\""): return string()
    case UInt8(ascii: "?"):
      rest.removeFirst()
      if take("1") { return .boolean(true) }
      return take("0") ? .boolean(false) : nil
    case UInt8(ascii: "@"):
      rest.removeFirst()
      return number()
    case let first? where first.isASCIIDigit || first == UInt8(ascii: "-"): return number()
    case let first? where first.isLetter || first == UInt8(ascii: "*"):
      // "sf-token = ( ALPHA / "*" ) *( tchar / ":" / "/" )"
      _ = take { HTTPSyntax.isToken(CollectionOfOne($0)) || ":/".utf8.contains($0) }
      return .other
    default: return nil
    }
  }

  /// "sf-binary = ":" base64 ":""
  private mutating func byteSequence() -> Value? {
    rest.removeFirst()
    let text = take { $0 != UInt8(ascii: ":") }
    guard take(":") else { return nil }
    return base64Decoded(String(decoding: text, as: UTF8.self)).map(Value.bytes)
  }

  /// "sf-string = DQUOTE *( unescaped / "%" / bs-escaped ) DQUOTE"
  private mutating func string() -> Value? {
    rest.removeFirst()
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "\""): return .other
      case UInt8(ascii: "\\"):
        guard take("\"") || take("\\") else { return nil }
      case 0x20...0x7E: continue
      default: return nil
      }
    }
    return nil
  }

  /// "sf-integer = ["-"] 1*15DIGIT", "sf-decimal = ["-"] 1*12DIGIT "." 1*3DIGIT"
  private mutating func number() -> Value? {
    let sign: Int64 = take("-") ? -1 : 1
    let digits = take(while: \.isASCIIDigit)
    guard take(".") else {
      // 15 digits fit into 64 bits.
      guard (1...15).contains(digits.count),
        let number = Int64(String(decoding: digits, as: UTF8.self))
      else { return nil }
      return .integer(sign * number)
    }
    return (1...12).contains(digits.count) && (1...3).contains(take(while: \.isASCIIDigit).count)
      ? .other : nil
  }
}

extension UInt8 {
  fileprivate var isLowercaseLetter: Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self) }
  fileprivate var isLetter: Bool { asciiLowercased.isLowercaseLetter }
}
