/// A header value with parameters, `value; name=value; name="value"`, taken apart from left to right:
/// what stands in quotes is one thing, whatever it holds.
struct ParameterText {
  /// What a backslash inside quotes means.
  enum Backslash {
    /// Nothing: it stands for itself.
    case literal
    /// Before a quote, that the quote is text; elsewhere nothing.
    case quotes
    /// Before any byte, that the byte is text (RFC 822 §3.3: quoted-pair).
    case quotedPairs
  }

  struct Parsed {
    var value: String
    var parameters: [(name: String, value: [UInt8])] = []

    /// The value of a parameter, by its name in lower case.
    subscript(name: String) -> [UInt8]? { parameters.first { $0.name == name }?.value }
  }

  private var rest: ArraySlice<UInt8>
  private let backslash: Backslash

  /// Nil where quotes are left open, text stands where a semicolon should, or a parameter has no
  /// value or comes twice.
  static func parse(_ text: [UInt8], backslash: Backslash) -> Parsed? {
    var reader = ParameterText(rest: text[...], backslash: backslash)
    var parsed = Parsed(value: String(decoding: reader.takeToSemicolon(), as: UTF8.self))
    // A set: a header block holds thousands of parameters, and looking through all for each is slow.
    var names: Set<String> = []
    while reader.rest.popFirst() != nil {
      reader.rest.removeLeadingBlanks()
      // An empty parameter, as behind a last semicolon, is passed over.
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

  /// What stands in quotes; behind them nothing may stand but the next semicolon.
  private mutating func takeQuoted() -> [UInt8]? {
    rest = rest.dropFirst()
    var value: [UInt8] = []
    let quote = UInt8(ascii: "\"")
    while let place = rest.firstIndex(where: { $0 == quote || $0 == UInt8(ascii: "\\") }) {
      let mark = rest[place]
      value += rest[..<place]
      rest = rest[(place + 1)...]
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

  /// Senders leave out the quotes where they must not, as around spaces. But a quote within is one that
  /// another reader may take for the beginning of quoted text.
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
