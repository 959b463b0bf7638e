import FormStreamMultipart
import FormStreamPlatform
import FormStreamHTTP

/// The URL as it was typed, or as it stands in the file of `--url-file`.
struct URLArgument: Hashable {
  private let text: String
  /// The file that holds the URL, for messages; nil if the URL was typed.
  private let file: String?

  init(_ argument: Argument) throws(Failure) {
    let typed = try argument.text(for: "the URL")
    guard !typed.isEmpty else { throw Self.empty }
    file = nil
    guard !Self.isOnThisMachine(typed) else {
      text = "http://\(typed)"
      return
    }
    text = typed
    guard Self.hasScheme(text) else {
      throw .usage("\(argument.named("The URL")) \(Self.flaw(of: argument, typed))")
    }
  }

  static let empty = Failure.usage("The URL is empty: is a variable unset?")

  /// What is wrong with a URL that has no scheme, and what to write. The text itself is not shown.
  private static func flaw(of argument: Argument, _ text: String) -> String {
    if let mark = text.unicodeScalars.first.flatMap(LookAlike.init), mark.kind == .quote {
      return "begins with \(mark): type straight quotes around it, or none."
    }
    if argument.isPathOfWindows {
      return "is a path of Windows: write a URL such as https://host/path."
    }
    let typed = text.lowercased()
    for scheme in ["https", "http"] where typed.hasPrefix(scheme) {
      let rest = typed.dropFirst(scheme.count)
      let flaw: String
      switch rest {
      case ":", ":/": flaw = "has no host"
      case let rest where rest.hasPrefix(":/"):
        flaw = "has one slash in place of two after \(scheme)"
      case let rest where rest.hasPrefix(":"): flaw = "has no slashes after the colon of \(scheme)"
      case let rest where rest.hasPrefix("//"): flaw = "has no colon after \(scheme)"
      default: continue
      }
      return "\(flaw): write \(scheme)://HOST/PATH."
    }
    // A URL that begins with a colon is HTTPie's short form for localhost.
    let remedy =
      text.hasPrefix(":") ? "localhost before its colon" : "https:// or http:// before it"
    return "has no scheme: put \(remedy)."
  }

  /// Whether a word is a URL, as opposed to a path.
  static func isURL(_ argument: Argument) -> Bool {
    argument.text.map { hasScheme($0) || isOnThisMachine($0) } ?? false
  }

  /// Whether a URL without a scheme names a server on this machine: requests to such a server need no https.
  private static func isOnThisMachine(_ text: String) -> Bool {
    let authority = text.prefix { !"/?#".contains($0) }
    let host: Substring
    if authority.hasPrefix("[") {
      host = authority.prefix { $0 != "]" }
      guard authority.dropFirst(host.count).dropFirst().isPort else { return false }
      return host == "[::1"
    }
    host = authority.prefix { $0 != ":" }
    guard authority.dropFirst(host.count).isPort else { return false }
    let words = host.split(separator: ".", omittingEmptySubsequences: false)
    return host.lowercased() == "localhost"
      || words.count == 4 && words[0] == "127" && words.allSatisfy { UInt8($0) != nil }
  }

  /// Reads the only line of a file. No message shows the line.
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
  ///
  /// - Parameter keepsPath: whether `.` and `..` stay in its path.
  func url(
    appending query: [URLEncodedField], _ data: [String], withPathAsIs keepsPath: Bool
  ) throws(Failure) -> HTTPURL {
    do throws(TransferError) {
      let typed = try keepsPath ? HTTPURL(withPathAsIs: text) : HTTPURL(text)
      var url = try typed.appending(query).appending(query: data)
      url.isSecret = file != nil
      return url
    } catch {
      throw file == nil ? Failure(error) : invalid
    }
  }

  /// Whether a file's name is added to the URL.
  var takesName: Bool { placeOfName != nil }

  /// The URL with the file's name added if its path is empty or ends in a slash, as in curl.
  func appendingName(of file: Argument) -> URLArgument {
    guard !file.isDash, let place = placeOfName else { return self }
    let name = file.bytes.split(separator: UInt8(ascii: "/")).last ?? []
    return URLArgument(
      place.path + PercentEncoding.unreserved.encoded(name) + place.rest, self.file)
  }

  /// The URL's text before and after the place for a file's name; nil if the URL has a name already.
  private var placeOfName: (path: String, rest: Substring)? {
    let path = text.prefix { $0 != "?" && $0 != "#" }
    let afterScheme = path.split(separator: "://", maxSplits: 1).last ?? ""
    let slash = afterScheme.contains("/") ? "" : "/"
    guard afterScheme.hasSuffix("/") || !slash.isEmpty else { return nil }
    return ("\(path)\(slash)", text.dropFirst(path.count))
  }
}

extension URLArgument {
  /// The URL on the command line, or in the file of `--url-file`. Warnings about the file are added to `notes`.
  ///
  /// - Parameter operand: the word on the command line; nil if there is none.
  init(
    _ operand: Argument?, orIn file: Argument?, for verb: Verb, _ input: InputReader,
    _ notes: inout [String]
  ) throws(Failure) {
    if let file {
      if verb != .send, let operand {
        throw .usage(
          "\(operand.named("The URL")) and --url-file both name the URL: give one of them.")
      }
      try self.init(try input.secretFile(file, for: "--url-file", &notes), file)
      return
    }
    guard let operand else {
      throw .usage(
        "Name the URL to send to: formstream \(verb.rawValue) [FLAG]... https://example.org/path.")
    }
    try self.init(operand)
  }
}

extension Substring {
  /// Whether the text is empty, or a colon and a number.
  fileprivate var isPort: Bool {
    isEmpty || hasPrefix(":") && dropFirst().isASCIIDigits
  }
}
