import FormStreamMultipart

/// The URL as it was typed.
struct URLArgument {
  let text: String

  init(_ argument: Argument) throws(Failure) {
    text = try argument.text(for: "the URL")
    let scheme = text.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) }
    guard !scheme.isEmpty, text.dropFirst(scheme.count).hasPrefix("://") else {
      // A password may precede an @.
      let shown = text.contains("@") ? "" : " \"\(text)\""
      throw .usage("The URL\(shown) has no scheme: put https:// or http:// before it.")
    }
  }

  private init(_ text: String) {
    self.text = text
  }

  /// The URL with the file's name added if its path is empty or ends in a slash, as in curl.
  func appendingName(of file: Argument) -> URLArgument {
    guard !file.isDash else { return self }
    let path = text.prefix { $0 != "?" && $0 != "#" }
    let afterScheme = path.split(separator: "://", maxSplits: 1).last ?? ""
    let slash = afterScheme.contains("/") ? "" : "/"
    guard afterScheme.hasSuffix("/") || !slash.isEmpty else { return self }
    let name = file.bytes.split(separator: UInt8(ascii: "/")).last ?? []
    return URLArgument(
      path + slash + PercentEncoding.unreserved.encoded(name) + text.dropFirst(path.count))
  }
}
