import FormStreamPlatform

/// The core of curl's form language, with curl's meaning: `name=value`, `name=@path`, `name=<path`, each with `;type=`,
/// `;filename=` and `;headers=`. If curl would guess, skip or warn, this is an error.
struct FormLanguage {
  private let argument: Argument
  private var rest: ArraySlice<UInt8>
  /// Whether a comma ends a word: it separates files after `@`, and nothing elsewhere.
  private let isCommaSeparator: Bool

  static func parse(_ argument: Argument) throws(Failure) -> PartArguments {
    let (name, content) = try PartArguments.split(
      argument, of: "-F", as: "NAME=VALUE or NAME=@PATH")
    let mark = content.bytes.first
    if mark == UInt8(ascii: "(") || (name.isEmpty && mark == UInt8(ascii: ")")) {
      throw unsupported(
        argument, "nested parts, =( and =), are not supported",
        "for a value that begins like that, use --field")
    }

    var language = FormLanguage(
      argument: argument, rest: content.bytes[...], isCommaSeparator: mark == UInt8(ascii: "@"))
    var part: PartArguments
    switch mark {
    case UInt8(ascii: "@"):
      language.rest.removeFirst()
      part = PartArguments(name: name, content: .file(try language.path()), spelling: "-F")
    case UInt8(ascii: "<"):
      language.rest.removeFirst()
      part = PartArguments(name: name, content: .contents(try language.path()), spelling: "-F")
    default:
      part = PartArguments(name: name, content: .value(try language.word()), spelling: "-F")
    }
    while !language.rest.isEmpty { try language.option(of: &part) }
    return part
  }

  private init(argument: Argument, rest: ArraySlice<UInt8>, isCommaSeparator: Bool) {
    self.argument = argument
    self.rest = rest
    self.isCommaSeparator = isCommaSeparator
  }
}

extension FormLanguage {
  private mutating func path() throws(Failure) -> Argument {
    let path = try word()
    guard !path.bytes.isEmpty else {
      throw Self.unsupported(
        argument, "there is no path after @ or <", "name a file, or - for standard input")
    }
    return path
  }

  /// Reads a value up to a semicolon. It may be in double quotes, with `\"` and `\\` inside; otherwise the blanks
  /// around it are removed.
  private mutating func word() throws(Failure) -> Argument {
    skipBlanks()
    if let quoted = quotedWord() {
      let trailing = takeToEnd()
      guard trailing.allSatisfy(Self.isWhiteSpace) else {
        throw Self.unsupported(
          argument, "text follows the closing quote", "quote the complete value, or none of it")
      }
      return Argument(bytes: quoted, place: argument.place)
    }
    return Argument(bytes: Self.trimmed(takeToEnd()), place: argument.place)
  }

  /// Reads a value in quotes. Nil if it does not begin with a quote, or the closing quote is missing: then the quote
  /// is text, as in curl.
  private mutating func quotedWord() -> [UInt8]? {
    guard rest.first == UInt8(ascii: "\"") else { return nil }
    var inside = rest.dropFirst()
    var word: [UInt8] = []
    while let byte = inside.popFirst() {
      if byte == UInt8(ascii: "\"") {
        rest = inside
        return word
      }
      if byte == UInt8(ascii: "\\"), let next = inside.first,
        next == UInt8(ascii: "\"") || next == UInt8(ascii: "\\")
      {
        word.append(next)
        inside = inside.dropFirst()
      } else {
        word.append(byte)
      }
    }
    return nil
  }

  /// Reads one `;key=value`, from the semicolon on, or fails at the comma of a list.
  private mutating func option(of part: inout PartArguments) throws(Failure) {
    guard rest.removeFirst() == UInt8(ascii: ";") else {
      throw Self.unsupported(
        argument,
        "a comma separates files in curl's language, and lists of files are not supported",
        "repeat -F for each file; for a path with a comma, put it in double quotes or use --file")
    }
    skipBlanks()
    if take("type=") {
      if part.type != nil {
        throw Self.unsupported(argument, "type= is given twice", "give it once")
      }
      part.type = try type()
    } else if take("filename=") {
      if part.filename != nil {
        throw Self.unsupported(argument, "filename= is given twice", "give it once")
      }
      part.filename = try word().text(for: "filename=")
    } else if take("headers=") {
      try headers(of: &part)
    } else if take("encoder=") {
      throw Self.unsupported(argument, "encoder= is not supported", "encode the value yourself")
    } else if !rest.isEmpty {
      throw Self.unsupported(
        argument, "what follows a semicolon is not type=, filename= or headers=",
        "put a value that has a semicolon into double quotes, or use --field")
    }
  }

  /// Reads a type up to the next option: semicolons are part of it, because its parameters follow them.
  private mutating func type() throws(Failure) -> String {
    skipBlanks()
    var type = takeToEnd()
    while rest.first == UInt8(ascii: ";") {
      var ahead = self
      ahead.rest.removeFirst()
      ahead.skipBlanks()
      if ahead.startsOption() { break }
      rest.removeFirst()
      type.append(UInt8(ascii: ";"))
      type.append(contentsOf: takeToEnd())
    }
    return try Argument(bytes: Self.trimmed(type), place: argument.place).text(for: "type=")
  }

  private mutating func headers(of part: inout PartArguments) throws(Failure) {
    if let mark = rest.first, mark == UInt8(ascii: "@") || mark == UInt8(ascii: "<") {
      rest.removeFirst()
      part.headerFiles.append(try path())
    } else {
      part.headers.append(try word().text(for: "headers="))
    }
  }
}

extension FormLanguage {
  private static let options = ["type=", "filename=", "headers=", "encoder="]

  private func startsOption() -> Bool {
    var copy = self
    return Self.options.contains { copy.take($0) }
  }

  /// Reads a key if it is next, in upper or lower case.
  private mutating func take(_ key: String) -> Bool {
    let head = String(decoding: rest.prefix(key.utf8.count), as: UTF8.self)
    guard head.lowercased() == key else { return false }
    rest = rest.dropFirst(key.utf8.count)
    return true
  }

  private mutating func takeToEnd() -> [UInt8] {
    let taken = rest.prefix {
      $0 != UInt8(ascii: ";") && !(isCommaSeparator && $0 == UInt8(ascii: ","))
    }
    rest = rest.dropFirst(taken.count)
    return Array(taken)
  }

  private mutating func skipBlanks() {
    rest = rest.drop(while: Self.isWhiteSpace)
  }

  /// The white space of C's `isspace`.
  private static func isWhiteSpace(_ byte: UInt8) -> Bool {
    byte == 0x20 || (0x09...0x0D).contains(byte)
  }

  private static func trimmed(_ bytes: [UInt8]) -> ArraySlice<UInt8> {
    let end = bytes.lastIndex { !isWhiteSpace($0) }
    return bytes[...(end ?? -1)]
  }

  private static func unsupported(
    _ argument: Argument, _ reason: String, _ remedy: String
  ) -> Failure {
    .usage("\(argument.named("-F")): \(reason); \(remedy).")
  }
}
