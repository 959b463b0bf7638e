/// A header value with parameters, such as `value; name=value; name="value"`, parsed from left to
/// right. A semicolon in quotes is text.
struct ParameterText {
  /// What a backslash inside quotes means.
  enum Backslash {
    /// It is an ordinary character.
    case literal
    /// A quote after the backslash is text. Before other bytes, the backslash is an ordinary
    /// character.
    case quotes
    /// The byte after the backslash is text, whatever the byte is (RFC 822 §3.3: quoted-pair).
    case quotedPairs
  }

  struct Parsed {
    var value: String
    var parameters: [(name: String, value: [UInt8])] = []

    /// The value of a parameter; its name must be given in lower case.
    subscript(name: String) -> [UInt8]? { parameters.first { $0.name == name }?.value }
  }

  private var rest: ArraySlice<UInt8>
  private let backslash: Backslash

  /// Parses a header value. Returns nil if a quote is not closed, if text follows a closing quote,
  /// or if a parameter has no value or occurs twice.
  static func parse(_ text: [UInt8], backslash: Backslash) -> Parsed? {
    var reader = ParameterText(rest: text[...], backslash: backslash)
    var parsed = Parsed(value: String(decoding: reader.takeToSemicolon(), as: UTF8.self))
    // A set, because a header block has room for thousands of parameters.
    var names: Set<String> = []
    while reader.rest.popFirst() != nil {
      reader.rest.removeLeadingBlanks()
      // An empty parameter, as after a final semicolon, is skipped.
      if reader.rest.isEmpty || reader.rest.first == UInt8(ascii: ";") { continue }
      guard let (name, value) = reader.takeParameter(), names.insert(name).inserted else {
        return nil
      }
      parsed.parameters.append((name, value))
    }
    return parsed
  }

  private mutating func takeParameter() -> (name: String, value: [UInt8])? {
    let name = rest.prefix { $0 != UInt8(ascii: "=") && $0 != UInt8(ascii: ";") }
    rest = rest.dropFirst(name.count)
    let trimmed = name.trimmingBlanks()
    guard rest.popFirst() == UInt8(ascii: "="), HTTPSyntax.isToken(trimmed) else { return nil }
    rest.removeLeadingBlanks()
    let isQuoted = rest.first == UInt8(ascii: "\"")
    guard let value = isQuoted ? takeQuoted() : takeUnquoted() else { return nil }
    return (String(decoding: trimmed, as: UTF8.self).lowercased(), value)
  }

  /// The text in quotes. Only a semicolon may follow.
  private mutating func takeQuoted() -> [UInt8]? {
    rest = rest.dropFirst()
    var value: [UInt8] = []
    let quote = UInt8(ascii: "\"")
    while let index = rest.firstIndex(where: { $0 == quote || $0 == UInt8(ascii: "\\") }) {
      let mark = rest[index]
      value += rest[..<index]
      rest = rest[(index + 1)...]
      if mark == quote {
        rest.removeLeadingBlanks()
        return rest.isEmpty || rest.first == UInt8(ascii: ";") ? value : nil
      }
      if let next = rest.first, backslash == .quotedPairs || backslash == .quotes && next == quote {
        value.append(next)
        rest = rest.dropFirst()
      } else {
        value.append(mark)
      }
    }
    return nil
  }

  /// The text up to the next semicolon. Some senders omit quotes that are required, for example
  /// around spaces. But a quote inside such text is refused: another parser might read it as the
  /// beginning of quoted text.
  private mutating func takeUnquoted() -> [UInt8]? {
    let value = takeToSemicolon()
    return value.contains(UInt8(ascii: "\"")) ? nil : Array(value)
  }

  private mutating func takeToSemicolon() -> ArraySlice<UInt8> {
    let taken = rest.prefix { $0 != UInt8(ascii: ";") }
    rest = rest.dropFirst(taken.count)
    return taken.trimmingBlanks()
  }
}
