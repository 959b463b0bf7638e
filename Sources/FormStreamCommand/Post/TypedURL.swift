import FormStreamMultipart

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
    return TypedURL(
      path + slash + PercentEncoding.unreserved.encoded(name) + text.dropFirst(path.count))
  }
}
