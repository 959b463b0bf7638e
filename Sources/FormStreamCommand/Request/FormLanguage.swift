import FormStreamPlatform

/// The form language of curl, with curl's meaning: `name=value`, `name=@path,path`, `name=<path`, each with `;type=`,
/// `;filename=` and `;headers=`, and `name=(` and `=)` around the parts of a part. Text for which curl would guess, skip or
/// warn is an error.
struct FormLanguage {
  /// The meaning of one `-F`.
  enum Sentence {
    case part(PartArguments)
    /// The parts that follow are inside this part.
    case opening(PartArguments)
    /// The part that was opened last is complete.
    case closing
  }

  private let argument: Argument
  private var rest: ArraySlice<UInt8>
  /// Whether a comma ends a word: commas separate files after `@`, and have no meaning elsewhere.
  private let isCommaSeparator: Bool

  static func parse(_ argument: Argument) throws(Failure) -> Sentence {
    let (name, content) = try PartArguments.split(
      argument, of: "-F", as: "NAME=VALUE or NAME=@PATH")
    let mark = content.bytes.first
    var language = FormLanguage(
      argument: argument, rest: content.bytes[...], isCommaSeparator: mark == UInt8(ascii: "@"))
    switch mark {
    case UInt8(ascii: "@"): return .part(try language.files(for: name))
    case UInt8(ascii: "("): return .opening(try language.opening(name))
    case UInt8(ascii: ")") where name.isEmpty:
      guard content.bytes.count == 1 else {
        throw unsupported(
          argument, "text follows =)", "for a value that begins like that, use --field")
      }
      return .closing
    case UInt8(ascii: "<"):
      language.rest.removeFirst()
      let path = try language.path()
      return .part(try language.part(name, .contents(path)))
    default:
      let value = try language.word()
      return .part(try language.part(name, .value(value)))
    }
  }

  private init(argument: Argument, rest: ArraySlice<UInt8>, isCommaSeparator: Bool) {
    self.argument = argument
    self.rest = rest
    self.isCommaSeparator = isCommaSeparator
  }
}

extension FormLanguage {
  /// Reads the options of a part, up to a comma or the end.
  private mutating func part(
    _ name: String, _ content: PartArguments.Content
  ) throws(Failure) -> PartArguments {
    var part = PartArguments(name: name, content: content, spelling: "-F")
    while rest.first == UInt8(ascii: ";") { try option(of: &part) }
    return part
  }

  /// Reads a list of files, each with options of its own. As in curl, several files are one part of multipart/mixed.
  private mutating func files(for name: String) throws(Failure) -> PartArguments {
    var files: [PartArguments] = []
    repeat {
      rest.removeFirst()
      let path = try path()
      files.append(try part(name, .file(path)))
    } while !rest.isEmpty
    if files.count == 1 { return files[0] }
    var list = PartArguments(name: name, content: .parts, spelling: "-F")
    for index in files.indices { files[index].isListed = true }
    list.children = files
    return list
  }

  /// Reads `(`, and the options of the part that it opens.
  private mutating func opening(_ name: String) throws(Failure) -> PartArguments {
    rest.removeFirst()
    guard try word().bytes.isEmpty else {
      throw Self.unsupported(
        argument, "text follows =(, which opens a part with parts of its own",
        "put a value that begins like that into double quotes, or use --field")
    }
    let part = try part(name, .parts)
    guard part.filename == nil else {
      throw Self.unsupported(
        argument, "a part with parts of its own has no file name", "leave it out")
    }
    return part
  }

  private mutating func path() throws(Failure) -> Argument {
    let path = try word()
    guard !path.bytes.isEmpty else {
      throw Self.unsupported(
        argument, "there is no path after @ or <", "name a file, or - for standard input")
    }
    return path
  }

  /// Reads a value up to a semicolon. The value may be in double quotes, with `\"` and `\\` inside. Blanks around an unquoted
  /// value are removed.
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

  /// Reads a value in quotes. Nil if the value does not begin with a quote, or if the closing quote is missing: the
  /// quote is then text, as in curl.
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

  /// Reads one `;key=value`, from the semicolon on.
  private mutating func option(of part: inout PartArguments) throws(Failure) {
    rest.removeFirst()
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
    } else if let next = rest.first, !isCommaSeparator || next != UInt8(ascii: ",") {
      throw Self.unsupported(
        argument, "what follows a semicolon is not type=, filename= or headers=",
        "put a value that has a semicolon into double quotes, or use --field")
    }
  }

  /// Reads a type up to the next option. A type may contain semicolons, because its parameters follow them.
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
