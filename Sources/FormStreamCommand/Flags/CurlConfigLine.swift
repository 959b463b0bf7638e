import FormStreamMultipart

/// A line of a configuration file in curl's syntax, such as `name = value`, `name: value` or `--name "value"`.
///
/// Such a line has something that no line of formstream's own syntax has: no hyphen before the name, a colon after it,
/// a separator between blanks, or a value that begins with a quote.
struct CurlConfigLine {
  private let name: [UInt8]
  private let value: [UInt8]?

  /// The arguments that mean the same on a command line.
  var arguments: [Argument] {
    [Argument(bytes: name)] + (value.map { [Argument(bytes: $0)] } ?? [])
  }

  /// Nil if the line is not in curl's syntax.
  ///
  /// - Parameter line: a line that is not a comment, without the blanks at its start.
  init?(_ line: ArraySlice<UInt8>) throws(Failure) {
    let isBare = line.first != UInt8(ascii: "-")
    let isShort = !isBare && !line.starts(with: "--".utf8)
    let name = isShort ? line.prefix(2) : line.prefix { !$0.isBlank && !Self.isSeparator($0) }
    let rest = line.dropFirst(name.count)
    let value = rest.drop { $0.isBlank || Self.isSeparator($0) }
    let afterBlanks = rest.drop(while: \.isBlank)
    let isQuoted = value.first == UInt8(ascii: "\"") && value.count < rest.count
    let hasSeparator =
      !isShort && rest.first == UInt8(ascii: ":")
      || afterBlanks.count < rest.count && afterBlanks.first.map(Self.isSeparator) ?? false
        && afterBlanks.dropFirst().first?.isBlank != false
    // Messages show the names of flags. A word that is not a known flag may be a secret, so it is not taken for a name.
    let isKnown = String(validating: name, as: UTF8.self).map { name in
      let negated = name.hasPrefix("no-") ? String(name.dropFirst(3)) : "no-\(name)"
      return Flag.named(name) != nil || CurlFlag.meaning(name) != nil
        || Flag.named(negated).map { $0.value == nil } ?? false
    }
    guard isBare ? isKnown == true : isQuoted || hasSeparator else { return nil }
    self.name = isBare ? Array("--".utf8) + name : Array(name)
    if isQuoted {
      self.value = try Self.unquoted(value.dropFirst())
    } else {
      self.value = value.isEmpty ? nil : try Self.word(value)
    }
  }

  private static func isSeparator(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "=") || byte == UInt8(ascii: ":")
  }

  /// A value without quotes. curl ignores the text after a blank; here it is an error.
  private static func word(_ text: ArraySlice<UInt8>) throws(Failure) -> [UInt8] {
    let word = text.prefix { !$0.isBlank }
    guard isEnd(text.dropFirst(word.count)) else {
      throw .usage("The value has blanks, and no quotes around it: write NAME = \"VALUE\".")
    }
    return Array(word)
  }

  /// A value in quotes. `text` begins after the opening quote.
  private static func unquoted(_ text: ArraySlice<UInt8>) throws(Failure) -> [UInt8] {
    var value: [UInt8] = []
    var rest = text
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "\""):
        guard isEnd(rest) else {
          throw .usage("Something follows the closing quote: leave it out.")
        }
        return value
      case UInt8(ascii: "\\"):
        switch rest.popFirst() {
        case UInt8(ascii: "t"): value.append(0x09)
        case UInt8(ascii: "n"): value.append(0x0A)
        case UInt8(ascii: "r"): value.append(0x0D)
        case UInt8(ascii: "v"): value.append(0x0B)
        case let escaped?: value.append(escaped)
        case nil: break
        }
      default: value.append(byte)
      }
    }
    throw .usage(
      "The value has no closing quote: write NAME = \"VALUE\", with \\\" for a quote in it.")
  }

  /// Whether only blanks or a comment follow.
  private static func isEnd(_ text: ArraySlice<UInt8>) -> Bool {
    let rest = text.drop(while: \.isBlank)
    return rest.isEmpty || rest.first == UInt8(ascii: "#")
  }
}
