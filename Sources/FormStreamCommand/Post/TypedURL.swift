/// The URL as it was typed.
struct TypedURL {
  let text: String

  init(_ argument: Argument) throws(Failure) {
    text = try argument.text(for: "the URL")
    let scheme = text.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) }
    guard !scheme.isEmpty, text.dropFirst(scheme.count).hasPrefix("://") else {
      // What stands before an @ may be a password.
      let shown = text.contains("@") ? "" : " \"\(text)\""
      throw .usage("The URL\(shown) has no scheme: write https:// or http:// before it.")
    }
  }

  private init(_ text: String) {
    self.text = text
  }

  /// With a file's name behind it, where its path names none: as curl does it.
  func naming(_ file: Argument) -> TypedURL {
    guard file.bytes != Array("-".utf8) else { return self }
    let path = text.prefix { $0 != "?" && $0 != "#" }
    let behind = path.split(separator: "://", maxSplits: 1).last ?? ""
    let slash = behind.contains("/") ? "" : "/"
    guard behind.hasSuffix("/") || !slash.isEmpty else { return self }
    let name = file.bytes.split(separator: UInt8(ascii: "/")).last ?? []
    return TypedURL(path + slash + percentEncoded(name) + text.dropFirst(path.count))
  }
}

/// Bytes as they may stand anywhere in a URL: all but RFC 3986's unreserved characters are encoded.
func percentEncoded(_ bytes: some Sequence<UInt8>, space: String = "%20") -> String {
  var text = ""
  for byte in bytes {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"), UInt8(ascii: "."),
      UInt8(ascii: "_"), UInt8(ascii: "~"):
      text.unicodeScalars.append(Unicode.Scalar(byte))
    case 0x20: text += space
    default:
      let digits = String(byte, radix: 16, uppercase: true)
      text += "%" + (digits.count < 2 ? "0" : "") + digits
    }
  }
  return text
}
