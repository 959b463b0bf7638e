/// A parsed `Content-Disposition` header.
///
/// Senders disagree about a quote inside quotes: browsers send `%22` and don't escape a backslash,
/// others send `\"`. So a value is first parsed with `\"` as a quote. If that fails, it is parsed
/// with the backslash as an ordinary character. Other backslashes are kept: old browsers send full
/// paths, such as `C:\fakepath\a.txt`. Percent codes are kept too, unless the caller names the
/// escaping profile of the sender.
public struct ContentDisposition: Hashable, Sendable {
  /// The type, in lower case; `form-data` in a form.
  public let type: String
  /// The `name` parameter.
  public let name: String?
  /// The file name: from `filename*` if it can be decoded, otherwise from `filename`.
  public let filename: String?

  /// Parses the value of the header; nil if it is malformed or has a parameter twice.
  ///
  /// - Parameters:
  ///   - value: the bytes after the colon.
  ///   - escaping: the profile of the sender, if it is known: characters that the profile escapes
  ///     are decoded. If nil, only `\"` is decoded.
  public init?(parsing value: [UInt8], escaping: EscapingProfile? = nil) {
    let readings: [ParameterText.Backslash] =
      switch escaping {
      case nil: [.quotes, .literal]
      case .backslash: [.quotedPairs]
      // These profiles write a quote as a percent code, so a backslash before a quote is the last
      // byte of the text. But aiohttp writes file names with percent codes, and names with quoted
      // pairs.
      default: [.literal, .quotes]
      }
    for backslash in readings {
      guard let parsed = ParameterText.parse(value, backslash: backslash),
        HTTPSyntax.isToken(parsed.value.utf8)
      else { continue }
      self.init(parsed, escaping: escaping)
      return
    }
    return nil
  }

  private init(_ parsed: ParameterText.Parsed, escaping: EscapingProfile?) {
    type = parsed.value.lowercased()
    name = parsed["name"].map { escaping?.decodedName($0) ?? Self.text($0) }
    let plain = parsed["filename"].map { escaping?.decodedFilename($0) ?? Self.text($0) }
    filename = parsed["filename*"].flatMap(Self.extendedValue) ?? plain
  }

  private static func text(_ bytes: [UInt8]) -> String {
    String(decoding: bytes, as: UTF8.self)
  }

  /// RFC 8187 §3.2.1: ext-value = charset "'" [ language ] "'" value-chars. A value in a charset
  /// other than UTF-8 and ISO-8859-1, or with an invalid percent code, is ignored.
  private static func extendedValue(_ value: [UInt8]) -> String? {
    let pieces = value.split(
      separator: UInt8(ascii: "'"), maxSplits: 2, omittingEmptySubsequences: false)
    guard pieces.count == 3, let bytes = PercentDecoder.strictlyDecoded(pieces[2]) else {
      return nil
    }
    switch String(decoding: pieces[0], as: UTF8.self).lowercased() {
    case "utf-8": return String(validating: bytes, as: UTF8.self)
    case "iso-8859-1":
      return String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
    default: return nil
    }
  }
}

extension EscapingProfile {
  /// Decodes a `name` that was written with this profile.
  fileprivate func decodedName(_ bytes: [UInt8]) -> String {
    self == .backslash
      ? String(decoding: bytes, as: UTF8.self)
      : String(decoding: PercentDecoder.decoded(bytes, .quotesAndLineBreaks), as: UTF8.self)
  }

  /// Decodes a `filename` that was written with this profile.
  fileprivate func decodedFilename(_ bytes: [UInt8]) -> String {
    guard self == .percent else { return decodedName(bytes) }
    return String(decoding: PercentDecoder.strictlyDecoded(bytes) ?? bytes, as: UTF8.self)
  }
}
