import FormStreamPlatform

/// The core of curl's form language, read as curl reads it: `name=value`, `name=@path`, `name=<path`,
/// each with `;type=`, `;filename=` and `;headers=`. Where curl would guess, skip or warn, this says no.
struct FormLanguage {
  private let whole: Argument
  private var rest: ArraySlice<UInt8>
  /// A comma parts files behind `@`, and nothing anywhere else.
  private let commaEnds: Bool

  static func parse(_ argument: Argument) throws(Failure) -> TypedPart {
    let (name, content) = try TypedPart.split(argument, of: "-F", as: "NAME=VALUE or NAME=@PATH")
    let mark = content.bytes.first
    if mark == UInt8(ascii: "(") || (name.isEmpty && mark == UInt8(ascii: ")")) {
      throw no(
        argument, "nested parts, =( and =), are not spoken here",
        "for a value that begins so, use --field")
    }

    var language = FormLanguage(
      whole: argument, rest: content.bytes[...], commaEnds: mark == UInt8(ascii: "@"))
    var part: TypedPart
    switch mark {
    case UInt8(ascii: "@"):
      language.rest.removeFirst()
      part = TypedPart(name: name, content: .file(try language.path()), spelling: "-F")
    case UInt8(ascii: "<"):
      language.rest.removeFirst()
      part = TypedPart(name: name, content: .contents(try language.path()), spelling: "-F")
    default:
      part = TypedPart(name: name, content: .value(try language.word()), spelling: "-F")
    }
    while !language.rest.isEmpty { try language.option(of: &part) }
    return part
  }

  private init(whole: Argument, rest: ArraySlice<UInt8>, commaEnds: Bool) {
    self.whole = whole
    self.rest = rest
    self.commaEnds = commaEnds
  }
}

extension FormLanguage {
  private mutating func path() throws(Failure) -> Argument {
    let path = try word()
    guard !path.bytes.isEmpty else {
      throw Self.no(whole, "there is no path behind @ or <", "name a file, or - for standard input")
    }
    return path
  }

  /// One value, up to a semicolon: in double quotes, with `\"` and `\\` inside, or bare, with the
  /// blanks around it left off.
  private mutating func word() throws(Failure) -> Argument {
    skipBlanks()
    if let quoted = quotedWord() {
      let trailing = takeToEnd()
      guard trailing.allSatisfy(Self.isWhiteSpace) else {
        throw Self.no(
          whole, "text follows the closing quote", "put all of the value in quotes, or none of it")
      }
      return Argument(bytes: quoted)
    }
    return Argument(bytes: Self.trimmed(takeToEnd()))
  }

  /// What stands in quotes; nil where the value does not begin with one, or the other is missing: the
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

  /// One `;key=value`; the semicolon, or the comma of a list, is next.
  private mutating func option(of part: inout TypedPart) throws(Failure) {
    guard rest.removeFirst() == UInt8(ascii: ";") else {
      throw Self.no(
        whole, "a comma parts a list of files in curl's language, which is not spoken here",
        "repeat -F for each file; for a path with a comma, put it in double quotes or use --file")
    }
    skipBlanks()
    if take("type=") {
      if part.type != nil { throw Self.no(whole, "type= is given twice", "give it once") }
      part.type = try type()
    } else if take("filename=") {
      if part.filename != nil { throw Self.no(whole, "filename= is given twice", "give it once") }
      part.filename = try word().text(for: "filename=")
    } else if take("headers=") {
      try headers(of: &part)
    } else if take("encoder=") {
      throw Self.no(whole, "encoder= is not spoken here", "encode the value before you give it")
    } else if !rest.isEmpty {
      let unknown = Argument(bytes: takeToEnd()).shown
      throw Self.no(
        whole, "\";\(unknown)\" is not ;type=, ;filename= or ;headers=",
        "put a value that has a semicolon in double quotes, or use --field")
    }
  }

  /// The type goes on over semicolons, since parameters stand behind them, up to the next option.
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
    return try Argument(bytes: Self.trimmed(type)).text(for: "type=")
  }

  private mutating func headers(of part: inout TypedPart) throws(Failure) {
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

  /// Takes a key, in whatever case its letters are.
  private mutating func take(_ key: String) -> Bool {
    let head = String(decoding: rest.prefix(key.utf8.count), as: UTF8.self)
    guard head.lowercased() == key else { return false }
    rest = rest.dropFirst(key.utf8.count)
    return true
  }

  private mutating func takeToEnd() -> [UInt8] {
    let taken = rest.prefix {
      $0 != UInt8(ascii: ";") && !(commaEnds && $0 == UInt8(ascii: ","))
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

  private static func no(_ whole: Argument, _ reason: String, _ remedy: String) -> Failure {
    .usage("-F \"\(whole.shown)\": \(reason); \(remedy).")
  }
}
