import FormStreamMultipart
import FormStreamPlatform

/// Splits a command line into flags with their values, and other words. It knows how flags are written (`--long`,
/// `--long=value`, `-s`, `-sVALUE`, `-abc`, `--`), but not what they mean.
struct ArgumentParser {
  enum Item {
    case flag(Flag, Argument)
    case word(Argument)
  }

  private var rest: ArraySlice<Argument>
  /// The rest of a bundle of short flags such as `-hV`.
  private var bundle: ArraySlice<UInt8> = []
  private var placeOfBundle: Argument.Place?
  private var isAfterFlags = false
  /// The flags so far, each as it was typed.
  private(set) var used: [(flag: Flag, spelled: String)] = []
  /// The command whose flags are suggested; nil for all commands.
  var verb: Verb?

  init(_ arguments: [Argument]) {
    rest = arguments[...]
  }

  mutating func next() throws(Failure) -> Item? {
    if !bundle.isEmpty { return try nextShort() }
    guard let argument = rest.popFirst() else { return nil }
    let bytes = argument.bytes
    if isAfterFlags || bytes.first != UInt8(ascii: "-") || bytes.count == 1 {
      return .word(argument)
    }
    if bytes == Array("--".utf8) {
      isAfterFlags = true
      return try next()
    }
    if bytes[1] == UInt8(ascii: "-") { return try long(argument) }
    (bundle, placeOfBundle) = (bytes[1...], argument.place)
    return try nextShort()
  }

  private mutating func long(_ argument: Argument) throws(Failure) -> Item? {
    let split = argument.splitAtEquals()
    let name = String((split?.name ?? argument).shown.dropFirst(2))
    if name == "json", let body = jsonBody(split?.value) {
      if split == nil { rest.removeFirst() }
      return item(try known("json-body"), "--json", body)
    }
    guard let flag = Flag.named(name, for: verb) else {
      if let meaning = CurlFlag.meaning(name), isLikeCurl(meaning) {
        return try item(meaning, "--\(name)", split?.value)
      }
      throw unknown("--\(name)", argument)
    }
    used.append((flag, "--\(name)"))
    guard flag.value != nil else {
      if split != nil { throw .usage("--\(name) takes no value: leave out what follows the name.") }
      return .flag(flag, Argument(""))
    }
    if let value = split?.value { return .flag(flag, value) }
    return .flag(flag, try value(of: flag, spelled: "--\(name)"))
  }

  private mutating func nextShort() throws(Failure) -> Item? {
    let byte = bundle.popFirst() ?? 0
    let letter = byte < 0x80 ? Character(Unicode.Scalar(byte)) : "\u{FFFD}"
    guard let flag = Flag.named(letter) else {
      if let meaning = CurlFlag.meaning(letter), isLikeCurl(meaning) {
        return try item(meaning, "-\(letter)", nil)
      }
      bundle = []
      throw unknown("-\(letter)", nil)
    }
    used.append((flag, "-\(letter)"))
    guard flag.value != nil else { return .flag(flag, Argument("")) }
    defer { bundle = [] }
    if !bundle.isEmpty { return .flag(flag, Argument(bytes: bundle, place: placeOfBundle)) }
    return .flag(flag, try value(of: flag, spelled: "-\(letter)"))
  }

  // MARK: curl's flags

  /// Whether people expect curl's flag of this meaning here: with commands like curl, and every other name of a flag
  /// with the commands that have the flag.
  private func isLikeCurl(_ meaning: CurlFlag.Meaning) -> Bool {
    guard let verb else { return true }
    if case .same(let name, _) = meaning {
      return Flag.named(name, for: verb)?.isKnown(to: verb) ?? false
    }
    return verb.isLikeCurl
  }

  /// What curl's flag means here; nil if it changes nothing.
  private mutating func item(
    _ meaning: CurlFlag.Meaning, _ spelled: String, _ value: Argument?
  ) throws(Failure) -> Item? {
    switch meaning {
    case .refused(let hint):
      bundle = []
      throw .usage("\(spelled) is not a flag of formstream: \(hint)")
    case .always:
      if value != nil {
        throw .usage("\(spelled) takes no value: leave out what follows the name.")
      }
      return try next()
    case .only(let accepted, let hint):
      let value = try given(value, nil, spelled)
      guard value.text == accepted else {
        throw .usage("\(value.named(spelled)) is not \(accepted): \(hint)")
      }
      return try next()
    case .same(let name, let fixed?):
      if value != nil {
        throw .usage("\(spelled) takes no value: leave out what follows the name.")
      }
      return item(try known(name), spelled, Argument(fixed))
    case .same(let name, nil):
      let flag = try known(name)
      guard flag.value != nil else { return item(flag, spelled, Argument("")) }
      return item(flag, spelled, try given(value, flag, spelled))
    }
  }

  /// The value in the same word, or else the next word.
  private mutating func given(
    _ value: Argument?, _ flag: Flag?, _ spelled: String
  ) throws(Failure) -> Argument {
    if let value { return value }
    return try self.value(of: flag, spelled: spelled)
  }

  private mutating func item(_ flag: Flag, _ spelled: String, _ value: Argument) -> Item {
    used.append((flag, spelled))
    return .flag(flag, value)
  }

  private func known(_ name: String) throws(Failure) -> Flag {
    guard let flag = Flag.named(name, for: verb) else {
      throw Failure(.bug, "--\(name) is missing among the flags.")
    }
    return flag
  }

  /// The data that makes `--json` curl's: what follows it and can't be a flag or a URL.
  ///
  /// - Parameter value: the value in the same word.
  private func jsonBody(_ value: Argument?) -> Argument? {
    guard verb?.sends ?? true else { return nil }
    return value ?? rest.first.flatMap { $0.looksLikeJSON ? $0 : nil }
  }

  /// The failure for a flag that no command has. A word that does not look like a flag is not shown.
  private func unknown(_ spelled: String, _ argument: Argument?) -> Failure {
    let isFlag =
      spelled.utf8.count <= 32
      && spelled.utf8.allSatisfy { byte in
        byte.isASCIILetterOrDigit || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".")
      }
    if let argument, !isFlag {
      return .usage(
        "\(argument.named("A word")) is not a flag; see \(Document.helpCommand(for: verb)).")
    }
    if let hint = verb.flatMap({ FlagAlias.hint(spelled, for: $0) }) {
      return .usage("\(spelled) is not a flag of formstream: \(hint)")
    }
    let known = Flag.all.filter { flag in verb.map(flag.isKnown) ?? true }.map(\.long)
    let suggestion =
      spelled.hasPrefix("--")
      ? Suggestion.text(for: String(spelled.dropFirst(2)), among: known, before: "--") : ""
    guard suggestion.isEmpty else { return .usage("\(spelled) is not a flag.\(suggestion)") }
    return .usage("\(spelled) is not a flag; see \(Document.helpCommand(for: verb)).")
  }

  /// - Parameter flag: nil if formstream has no flag of this name.
  private mutating func value(of flag: Flag?, spelled name: String) throws(Failure) -> Argument {
    guard let value = rest.popFirst() else {
      throw .usage("\(name) needs a value: \(name) \(flag?.value?.placeholder ?? "VALUE").")
    }
    return value
  }
}

extension Argument {
  /// Whether this is JSON or a piece of it, or curl's `@FILE`, by its first character; of a number, by all of them.
  fileprivate var looksLikeJSON: Bool {
    if let first = bytes.first(where: { !$0.isBlank }), "{}[]@\":,".utf8.contains(first) {
      return true
    }
    guard let text else { return false }
    // RFC 8259 §6: number = [ minus ] int [ frac ] [ exp ]
    return ["true", "false", "null"].contains(text)
      || text.wholeMatch(of: /-?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?/) != nil
  }
}
