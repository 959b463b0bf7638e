/// A character that word processors put in place of a typed hyphen, quote or space. Commands don't recognize it as a
/// hyphen, quote or space.
struct LookAlike: CustomStringConvertible {
  enum Kind {
    case hyphen
    case quote
    case space
  }

  let kind: Kind
  /// What the character is called, and the character itself: `an en dash (–)`.
  let description: String

  /// Nil if the character is not a look-alike.
  init?(_ scalar: Unicode.Scalar) {
    let kind: Kind
    let name: String
    switch scalar.value {
    case 0x2010: (kind, name) = (.hyphen, "a hyphen of typography")
    case 0x2011: (kind, name) = (.hyphen, "a non-breaking hyphen")
    case 0x2012: (kind, name) = (.hyphen, "a figure dash")
    case 0x2013: (kind, name) = (.hyphen, "an en dash")
    case 0x2014, 0x2E3A, 0x2E3B: (kind, name) = (.hyphen, "an em dash")
    case 0x2015: (kind, name) = (.hyphen, "a horizontal bar")
    case 0x2212: (kind, name) = (.hyphen, "a minus sign")
    case 0xFE58, 0xFE63, 0xFF0D: (kind, name) = (.hyphen, "a wide or small hyphen")
    case 0x2018...0x201B: (kind, name) = (.quote, "a curly quote")
    case 0x201C...0x201F: (kind, name) = (.quote, "a curly quote")
    case 0x00A0, 0x2007, 0x202F:
      (self.kind, description) = (.space, "a no-break space")
      return
    default: return nil
    }
    self.kind = kind
    description = "\(name) (\(scalar))"
  }

  /// The first look-alike in a text; nil if there is none.
  static func first(in text: String) -> LookAlike? {
    text.unicodeScalars.lazy.compactMap(LookAlike.init).first
  }
}

extension Argument {
  /// The failure for a word that would be a flag if its dash were a hyphen, or if it had no curly quotes. Nil for all
  /// other words: they may be names of files, even if they begin with a look-alike.
  func mistypedFlag(of verb: Verb?) -> Failure? {
    guard let text else { return nil }
    let head = text.unicodeScalars.prefix { $0 != "=" }
    guard let mark = head.lazy.compactMap(LookAlike.init).first else { return nil }
    let start = head.prefix { $0 == "-" || LookAlike($0) != nil }
    let isFlag = start.contains { $0 == "-" || LookAlike($0)?.kind == .hyphen }
    let name = head.dropFirst(start.count).reversed().drop { LookAlike($0)?.kind == .quote }
    let plain = String(String.UnicodeScalarView(name.reversed()))
    guard isFlag, let spelled = Self.flag(named: plain, of: verb) else { return nil }
    let fault = mark.kind == .hyphen ? "\(mark) in place of a hyphen" : "\(mark) in it"
    return .usage(
      "\(named("A flag")) has \(fault): write \(spelled). Programs for text change what is typed.")
  }

  /// The flag with this name or letter, including its hyphens; nil if there is none.
  private static func flag(named name: String, of verb: Verb?) -> String? {
    if name.count == 1, let letter = name.first {
      return Flag.named(letter) != nil || CurlFlag.meaning(letter) != nil ? "-\(name)" : nil
    }
    let positive = name.hasPrefix("no-") ? String(name.dropFirst(3)) : name
    let isKnown = [name, positive].contains {
      Flag.named($0, for: verb) != nil || CurlFlag.meaning($0) != nil
    }
    return isKnown ? "--\(name)" : nil
  }
}
