/// Writes bytes in percent codes. RFC 3986 §2.1: pct-encoded = "%" HEXDIG HEXDIG, upper case.
package struct PercentEncoding: Sendable {
  /// For each byte, whether it is written unchanged.
  private let isKept: [Bool]
  private let writesSpaceAsPlus: Bool

  /// - Parameter punctuation: the bytes that are written unchanged, in addition to ASCII letters
  ///   and digits.
  private init(keeping punctuation: StaticString, writesSpaceAsPlus: Bool = false) {
    var isKept = (UInt8.min...UInt8.max).map(\.isASCIILetterOrDigit)
    punctuation.withUTF8Buffer { for byte in $0 { isKept[Int(byte)] = true } }
    self.isKept = isKept
    self.writesSpaceAsPlus = writesSpaceAsPlus
  }

  /// Safe anywhere in a URL. RFC 3986 §2.3: unreserved = ALPHA / DIGIT / "-" / "." / "_" / "~".
  package static let unreserved = PercentEncoding(keeping: "-._~")
  /// As `unreserved`, with a space written as a plus: curl's `--data-urlencode`.
  package static let unreservedWithPlus = PercentEncoding(
    keeping: "-._~", writesSpaceAsPlus: true)
  /// WHATWG URL, application/x-www-form-urlencoded percent-encode set: all but ASCII letters,
  /// digits and `*-._`. A space is written as a plus.
  package static let formURLEncoded = PercentEncoding(keeping: "*-._", writesSpaceAsPlus: true)
  /// RFC 3986 §3.3: pchar = unreserved / pct-encoded / sub-delims / ":" / "@".
  package static let pathSegment = PercentEncoding(keeping: "-._~!$&'()*+,;=:@")
  /// RFC 8187 §3.2.1: attr-char = ALPHA / DIGIT / "!" / "#" / "$" / "&" / "+" / "-" / "." / "^" /
  /// "_" / "`" / "|" / "~".
  package static let attributeValue = PercentEncoding(keeping: "!#$&+-.^_`|~")

  /// The encoded bytes, as ASCII text.
  package func encoded(_ bytes: some Sequence<UInt8>) -> String {
    var text: [UInt8] = []
    append(bytes, to: &text)
    return String(decoding: text, as: UTF8.self)
  }

  /// Appends the encoded bytes.
  package func append(_ bytes: some Sequence<UInt8>, to text: inout [UInt8]) {
    for byte in bytes {
      if isKept[Int(byte)] {
        text.append(byte)
      } else if byte == 0x20, writesSpaceAsPlus {
        text.append(UInt8(ascii: "+"))
      } else {
        Self.appendCode(for: byte, to: &text)
      }
    }
  }

  /// Appends the percent code of a byte.
  static func appendCode(for byte: UInt8, to text: inout [UInt8]) {
    text.append(UInt8(ascii: "%"))
    text.append(Hexadecimal.digit(byte >> 4, uppercase: true))
    text.append(Hexadecimal.digit(byte, uppercase: true))
  }
}
