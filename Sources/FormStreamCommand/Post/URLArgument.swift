import FormStreamMultipart
import FormStreamTransfer

/// The URL as it was typed, or as it stands in the file of `--url-file`.
struct URLArgument {
  private let text: String
  /// The file that holds the URL, for messages; nil if the URL was typed.
  private let file: String?

  init(_ argument: Argument) throws(Failure) {
    text = try argument.text(for: "the URL")
    file = nil
    guard Self.hasScheme(text) else {
      throw .usage(
        "\(argument.named("The URL")) has no scheme: put https:// or http:// before it.")
    }
  }

  /// Reads the only line of a file. No message shows it.
  init(_ secrets: SecretFile, _ file: Argument) throws(Failure) {
    self.file = file.named("--url-file")
    text = String(decoding: try secrets.onlyLine(), as: UTF8.self)
    guard Self.hasScheme(text) else { throw invalid }
  }

  private init(_ text: String, _ file: String?) {
    self.text = text
    self.file = file
  }

  private static func hasScheme(_ text: String) -> Bool {
    let scheme = text.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) }
    return !scheme.isEmpty && text.dropFirst(scheme.count).hasPrefix("://")
  }

  private var invalid: Failure {
    .usage(
      "The file of \(file ?? "") holds no URL that can be requested: write one such as https://host/path."
    )
  }

  /// The URL with names and values appended to its query, and text that is appended as it is.
  func url(appending query: [URLEncodedField], _ data: [String]) throws(Failure) -> HTTPURL {
    do throws(TransferError) {
      var url = try HTTPURL(text).appending(query).appending(query: data)
      url.isSecret = file != nil
      return url
    } catch {
      throw file == nil ? Failure(error) : invalid
    }
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
      path + slash + PercentEncoding.unreserved.encoded(name) + text.dropFirst(path.count),
      self.file)
  }
}
