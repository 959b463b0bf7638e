/// How names and file names are written into `Content-Disposition`.
public struct EscapingProfile: Hashable, Sendable, CustomStringConvertible {
  private enum Kind: String {
    case browser
    case rfc2231
    case backslash
    case percent
  }

  private let kind: Kind

  /// As in browsers (WHATWG HTML, "multipart/form-data encoding algorithm"): `"` is `%22`, CR is
  /// `%0D`, LF is `%0A`, and everything else is written as its bytes. In names, each lone CR or LF becomes
  /// CRLF first.
  public static let browser = EscapingProfile(kind: .browser)
  /// As `browser`, with `filename*` (RFC 2231, RFC 8187) after `filename` if the file name needs it. In `filename`, a
  /// backslash is written as `%5C`. RFC 7578 §4.2 forbids `filename*` in forms, but some receivers with mail parsers
  /// need it. File names that are not UTF-8 are an error.
  public static let rfc2231 = EscapingProfile(kind: .rfc2231)
  /// Quoted pairs, as in mail headers (RFC 822) and in old versions of curl: `\"` and `\\`. Names
  /// with CR or LF are an error.
  public static let backslash = EscapingProfile(kind: .backslash)
  /// File names percent-encoded as in a `file:` URI (RFC 7578 §2), so they are ASCII. Names are
  /// written as in `browser`: the rule of the RFC is for file names only, and `tags[]` must stay
  /// `tags[]`.
  public static let percent = EscapingProfile(kind: .percent)

  /// Every profile, the default first.
  public static let all: [EscapingProfile] = [browser, rfc2231, backslash, percent]

  /// The profile's name, such as `browser`.
  public var description: String { kind.rawValue }
}

/// A character that a profile can't write, such as "a NUL".
struct InexpressibleCharacter: Error {
  let description: String
}

extension EscapingProfile {
  /// Appends the value of the `name` parameter, including quotes.
  func appendName(_ name: String, to line: inout [UInt8]) throws(InexpressibleCharacter) {
    switch kind {
    case .browser, .rfc2231, .percent:
      try Self.appendPercentQuoted(Self.withBrowserNewlines(name.utf8), to: &line)
    case .backslash:
      try Self.appendBackslashQuoted(name.utf8, to: &line)
    }
  }

  /// Appends the parameters of the file name, from `filename=` on.
  func appendFilename(
    _ filename: some Collection<UInt8>, to line: inout [UInt8]
  ) throws(InexpressibleCharacter) {
    line.append(contentsOf: "filename=".utf8)
    switch kind {
    case .browser:
      try Self.appendPercentQuoted(filename, to: &line)
    case .rfc2231:
      // A backslash at the end would hide `filename*` from parsers that read the backslash and the closing quote as a
      // quoted pair.
      try Self.appendPercentQuoted(filename, withBackslashes: false, to: &line)
      if !filename.allSatisfy(Self.isPlain) {
        // RFC 8187 §3.2.1 requires a charset. Bytes that are not UTF-8 have none.
        guard String(validating: filename, as: UTF8.self) != nil else {
          throw InexpressibleCharacter(description: "bytes that are not UTF-8")
        }
        line.append(contentsOf: "; filename*=UTF-8''".utf8)
        PercentEncoding.attributeValue.append(filename, to: &line)
      }
    case .backslash:
      try Self.appendBackslashQuoted(filename, to: &line)
    case .percent:
      if filename.contains(0) { throw InexpressibleCharacter(description: "a NUL") }
      line.append(UInt8(ascii: "\""))
      PercentEncoding.pathSegment.append(filename, to: &line)
      line.append(UInt8(ascii: "\""))
    }
  }

  /// WHATWG HTML, "multipart/form-data encoding algorithm", step 1 for the entry's name (and for
  /// text values in browsers): "Replace every occurrence of U+000D (CR) not followed by U+000A
  /// (LF), and every occurrence of U+000A (LF) not preceded by U+000D (CR), … by a string
  /// consisting of a U+000D (CR) and U+000A (LF)."
  static func withBrowserNewlines(_ text: String.UTF8View) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(text.count)
    var previous: UInt8 = 0
    for byte in text {
      switch byte {
      case 0x0D:
        result.append(contentsOf: [0x0D, 0x0A])
      case 0x0A:
        // The LF of a CRLF was written with its CR.
        if previous != 0x0D { result.append(contentsOf: [0x0D, 0x0A]) }
      default:
        result.append(byte)
      }
      previous = byte
    }
    return result
  }

  /// WHATWG HTML, ibid.: "For field names and filenames for file fields, the result of the encoding
  /// … must be escaped by replacing any 0x0A (LF) bytes with the byte sequence `%0A`, 0x0D (CR)
  /// with `%0D` and 0x22 (") with `%22`. The user agent must not perform any other escapes."
  private static func appendPercentQuoted(
    _ text: some Sequence<UInt8>, withBackslashes: Bool = true, to line: inout [UInt8]
  ) throws(InexpressibleCharacter) {
    line.append(UInt8(ascii: "\""))
    for byte in text {
      switch byte {
      case UInt8(ascii: "\\") where !withBackslashes:
        PercentEncoding.appendCode(for: byte, to: &line)
      case 0x0A, 0x0D, UInt8(ascii: "\""): PercentEncoding.appendCode(for: byte, to: &line)
      case 0: throw InexpressibleCharacter(description: "a NUL")
      default: line.append(byte)
      }
    }
    line.append(UInt8(ascii: "\""))
  }

  /// RFC 822 §3.3: quoted-string = <"> *(qtext/quoted-pair) <">; qtext is any character but `"`,
  /// `\` and CR.
  private static func appendBackslashQuoted(
    _ text: some Sequence<UInt8>, to line: inout [UInt8]
  ) throws(InexpressibleCharacter) {
    line.append(UInt8(ascii: "\""))
    for byte in text {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"):
        line.append(contentsOf: [UInt8(ascii: "\\"), byte])
      case 0x0A, 0x0D: throw InexpressibleCharacter(description: "a line break")
      case 0: throw InexpressibleCharacter(description: "a NUL")
      default: line.append(byte)
      }
    }
    line.append(UInt8(ascii: "\""))
  }

  /// Whether every receiver reads the byte in a quoted string as itself, so that `filename*` is not
  /// needed.
  private static func isPlain(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "%"): false
    default: (0x20...0x7E).contains(byte)
    }
  }
}
