import FormStreamMultipart
import FormStreamPlatform

/// Splits a command line into flags with their values, and other words. It knows how flags are written (`--long`,
/// `--long=value`, `-s`, `-sVALUE`, `-abc`, `--`), but not what they mean.
struct ArgumentParser {
  enum Item {
    case flag(Flag, Argument)
    /// A switch is turned off, if it was on: `--no-location`.
    case off(Flag)
    case word(Argument)
  }

  private var rest: ArraySlice<Argument>
  /// The rest of a bundle of short flags such as `-hV`.
  private var bundle: ArraySlice<UInt8> = []
  private var placeOfBundle: Argument.Place?
  private var isAfterFlags = false
  /// The flags so far, each as it was typed.
  private(set) var used: [(flag: Flag, spelled: String)] = []
  /// curl's flags that change nothing here, as they were typed.
  private(set) var unneeded: Set<String> = []
  /// The command whose flags are suggested; nil for all commands.
  var verb: Verb?

  init(_ arguments: [Argument]) {
    rest = arguments[...]
  }

  mutating func next() throws(Failure) -> Item? {
    if !bundle.isEmpty { return try nextShort() }
    guard let argument = rest.popFirst() else { return nil }
    let bytes = argument.bytes
    if !isAfterFlags, let failure = argument.mistypedFlag(of: verb) { throw failure }
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
    let flag = Flag.named(name, for: verb)
    guard let flag, isKnown(flag) else {
      if let meaning = CurlFlag.meaning(name), isLikeCurl(meaning) {
        return try item(meaning, "--\(name)", split?.value)
      }
      if let switched = try switchedOff(name, split?.value) { return switched }
      if let flag { return foreign(flag, "--\(name)", hasValue: split != nil) }
      throw unknown("--\(name)", argument)
    }
    guard flag.value != nil else {
      if split != nil { throw .usage("--\(name) takes no value: leave out what follows the name.") }
      return item(flag, "--\(name)", Argument(""))
    }
    if flag.value?.isOptional == true { return item(flag, "--\(name)", split?.value ?? Argument("")) }
    return item(flag, "--\(name)", try given(split?.value, flag, "--\(name)"))
  }

  private mutating func nextShort() throws(Failure) -> Item? {
    let byte = bundle.popFirst() ?? 0
    let letter =
      byte < 0x80
      ? Character(Unicode.Scalar(byte))
      : String(decoding: [byte] + bundle, as: UTF8.self).first ?? "\u{FFFD}"
    guard let flag = Flag.named(letter, for: verb) else {
      if let meaning = CurlFlag.meaning(letter), isLikeCurl(meaning) {
        return try item(meaning, "-\(letter)", nil)
      }
      bundle = []
      throw unknown("-\(letter)", nil)
    }
    if let (jobs, count) = try jobs(letter) {
      rest.removeFirst()
      return item(jobs, "-j", count)
    }
    guard flag.value != nil else { return item(flag, "-\(letter)", Argument("")) }
    defer { bundle = [] }
    guard isKnown(flag) else { return foreign(flag, "-\(letter)", hasValue: !bundle.isEmpty) }
    let value = bundle.isEmpty ? nil : Argument(bytes: bundle, place: placeOfBundle)
    return item(flag, "-\(letter)", try given(value, flag, "-\(letter)"))
  }

  private func isKnown(_ flag: Flag) -> Bool { verb.map(flag.isKnown) ?? true }

  /// A flag of another command. It is refused after all arguments are read. Until then, neither a value nor a missing
  /// value is an error: curl's flag of this name may have no value.
  private mutating func foreign(_ flag: Flag, _ spelled: String, hasValue: Bool) -> Item {
    if flag.value != nil, !hasValue { _ = rest.popFirst() }
    return item(flag, spelled, Argument(""))
  }

  /// Turns a switch off, as in curl: `--no-NAME` turns off the switch `--NAME`, and `--NAME` turns off a switch that is
  /// named `--no-NAME`. Nil if there is no such switch.
  private mutating func switchedOff(_ name: String, _ value: Argument?) throws(Failure) -> Item? {
    let isNegated = name.hasPrefix("no-")
    let opposite = isNegated ? String(name.dropFirst(3)) : "no-\(name)"
    guard let flag = Flag.named(opposite, for: verb), isKnown(flag) else {
      guard isNegated, let meaning = CurlFlag.meaning(opposite), isLikeCurl(meaning),
        case .always = meaning
      else { return nil }
      throw .usage(
        "--\(name) is not a flag of formstream: formstream does what --\(opposite) says in any case.")
    }
    guard flag.value == nil else {
      throw .usage(
        "--\(name) is not a flag: --\(opposite) has a value, and only switches are turned off. Leave --\(opposite) out."
      )
    }
    if value != nil { throw .usage("--\(name) takes no value: leave out what follows the name.") }
    used.append((flag, "--\(name)"))
    return .off(flag)
  }

  // MARK: curl's flags

  /// Whether people expect the command to have curl's flag with this meaning. If curl's flag is another name of a flag,
  /// people expect it from every command that has the flag. They expect other flags of curl only from the commands that
  /// are like curl.
  private func isLikeCurl(_ meaning: CurlFlag.Meaning) -> Bool {
    guard let verb else { return true }
    if case .same(let name, _) = meaning {
      return Flag.named(name, for: verb)?.isKnown(to: verb) ?? false
    }
    return verb.isLikeCurl
  }

  /// The item that curl's flag stands for, or the next item if curl's flag changes nothing here.
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
      unneeded.insert(spelled)
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

  /// The flag's value: the value in the flag's own word, or else the next word.
  private mutating func given(
    _ value: Argument?, _ flag: Flag?, _ spelled: String
  ) throws(Failure) -> Argument {
    if let value { return value }
    return try self.value(of: flag, spelled: spelled)
  }

  private mutating func item(_ flag: Flag, _ spelled: String, _ value: Argument) -> Item {
    used.append((flag, spelled))
    var value = value
    value.flag = spelled
    return .flag(flag, value)
  }

  private func known(_ name: String) throws(Failure) -> Flag {
    guard let flag = Flag.named(name, for: verb) else {
      throw Failure(.bug, "--\(name) is missing among the flags.")
    }
    return flag
  }

  /// The data of `--json`, if the flag has curl's meaning: the value in the flag's own word, or the next word if it
  /// looks like JSON. Nil if the flag has formstream's meaning.
  ///
  /// - Parameter value: the value in the flag's own word; nil if there is none.
  private func jsonBody(_ value: Argument?) -> Argument? {
    guard verb?.sends ?? true else { return nil }
    return value ?? rest.first.flatMap { $0.looksLikeJSON ? $0 : nil }
  }

  /// The flag and the value of `-j N`, if `get` is meant to get N URLs at the same time. No URL is a number, so a number after
  /// `-j` can't be meant for curl's `-j`, which has no value.
  private func jobs(_ letter: Character) throws(Failure) -> (Flag, Argument)? {
    guard letter == "j", verb == .get else { return nil }
    let digits = bundle.prefix(while: \.isASCIIDigit)
    guard digits.isEmpty else {
      // For curl, these would be the flags -4 and -6, or others.
      throw .usage(
        "-j\(String(decoding: digits, as: UTF8.self)) has no space before the number: write -j \(String(decoding: digits, as: UTF8.self))."
      )
    }
    guard bundle.isEmpty, let count = rest.first, !count.bytes.isEmpty,
      count.bytes.allSatisfy(\.isASCIIDigit), let jobs = Flag.named("jobs", for: .get)
    else { return nil }
    return (jobs, count)
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
    let suggestion =
      spelled.hasPrefix("--")
      ? Suggestion.text(forFlag: String(spelled.dropFirst(2)), of: verb) : ""
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
  /// Whether this looks like JSON, a piece of JSON, or curl's `@FILE`. The first character decides, but numbers, true,
  /// false and null are compared completely. An empty word counts as JSON: it can't be a flag or a URL.
  fileprivate var looksLikeJSON: Bool {
    if bytes.isEmpty { return true }
    if let first = bytes.first(where: { !$0.isBlank }), "{}[]@\":,".utf8.contains(first) {
      return true
    }
    guard let text else { return false }
    return ["true", "false", "null"].contains(text) || isNumber
  }

  /// RFC 8259 §6: number = [ minus ] int [ frac ] [ exp ]. Leading zeros are accepted, too.
  private var isNumber: Bool {
    var rest = bytes[...]
    /// Takes the next byte if it is one of `wanted`.
    func take(_ wanted: String) -> Bool {
      guard let first = rest.first, wanted.utf8.contains(first) else { return false }
      rest.removeFirst()
      return true
    }
    func takeDigits() -> Bool {
      let count = rest.prefix(while: \.isASCIIDigit).count
      rest.removeFirst(count)
      return count > 0
    }
    _ = take("-")
    guard takeDigits() else { return false }
    if take("."), !takeDigits() { return false }
    if take("eE") {
      _ = take("-+")
      guard takeDigits() else { return false }
    }
    return rest.isEmpty
  }
}
