/// A `Content-Disposition` header taken apart.
///
/// Senders don't agree on how a quote is written inside quotes: browsers send `%22` and leave a
/// backslash as it is, others send `\"`. So a value is first read with `\"` as a quote; where that
/// leaves no whole header, a backslash is only a backslash. All other backslashes stay: old browsers
/// send whole paths, `C:\fakepath\a.txt`. Percent codes stay, too, unless the reader is told who sent
/// them.
public struct ContentDisposition: Hashable, Sendable {
  /// The type in lower case; `form-data` in a form.
  public let type: String
  /// The `name` parameter.
  public let name: String?
  /// The file name: of `filename*` where that is there and can be decoded, else of `filename`.
  public let filename: String?

  /// Reads a header's value; nil where it does not have the form of one, or names a parameter twice.
  ///
  /// - Parameter escaping: the profile that the sender is known to use; what it escapes is then
  ///   decoded. Where nil, only `\"` is.
  public init?(parsing value: [UInt8], escaping: EscapingProfile? = nil) {
    let readings: [ParameterText.Backslash] =
      switch escaping {
      case nil: [.quotes, .literal]
      case .backslash: [.quotedPairs]
      // Their quotes are percent codes: a backslash before a quote is the text's last byte. But aiohttp
      // writes file names in percent codes, and names in quoted pairs.
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

  /// RFC 8187 §3.2.1: ext-value = charset "'" [ language ] "'" value-chars. Of the charsets, UTF-8 and
  /// ISO-8859-1 are known; what is of another, or has broken codes, is as if it were not there.
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
  /// What a `name` means that this profile has written.
  fileprivate func decodedName(_ bytes: [UInt8]) -> String {
    self == .backslash
      ? String(decoding: bytes, as: UTF8.self)
      : String(decoding: PercentDecoder.decoded(bytes, .quotesAndLineBreaks), as: UTF8.self)
  }

  /// What a `filename` means that this profile has written.
  fileprivate func decodedFilename(_ bytes: [UInt8]) -> String {
    guard self == .percent else { return decodedName(bytes) }
    return String(decoding: PercentDecoder.strictlyDecoded(bytes) ?? bytes, as: UTF8.self)
  }
}
