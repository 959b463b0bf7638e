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

  private mutating func long(_ argument: Argument) throws(Failure) -> Item {
    let split = argument.splitAtEquals()
    let name = String((split?.name ?? argument).shown.dropFirst(2))
    guard let flag = Flag.named(name, for: verb) else {
      if verb?.isLikeCurl ?? true || name.hasPrefix("form-"), let hint = CurlFlag.hint(name) {
        throw .usage("--\(name) is not a flag of formstream: \(hint)")
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

  private mutating func nextShort() throws(Failure) -> Item {
    let byte = bundle.popFirst() ?? 0
    let letter = byte < 0x80 ? Character(Unicode.Scalar(byte)) : "\u{FFFD}"
    guard let flag = Flag.named(letter) else {
      bundle = []
      if verb?.isLikeCurl ?? true, let hint = CurlFlag.hint(letter) {
        throw .usage("-\(letter) is not a flag of formstream: \(hint)")
      }
      throw unknown("-\(letter)", nil)
    }
    used.append((flag, "-\(letter)"))
    guard flag.value != nil else { return .flag(flag, Argument("")) }
    defer { bundle = [] }
    if !bundle.isEmpty { return .flag(flag, Argument(bytes: bundle, place: placeOfBundle)) }
    return .flag(flag, try value(of: flag, spelled: "-\(letter)"))
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

  private mutating func value(of flag: Flag, spelled name: String) throws(Failure) -> Argument {
    guard let value = rest.popFirst() else {
      throw .usage("\(name) needs a value: \(name) \(flag.value?.placeholder ?? "VALUE").")
    }
    return value
  }
}
