import FormStreamMultipart

/// An absolute `http` or `https` URL: the target of a request.
public struct HTTPURL: Hashable, Sendable {
  /// Scheme, host and port (RFC 6454 §4). Headers and credentials for one origin are not sent to another.
  public struct Origin: Hashable, Sendable, CustomStringConvertible {
    /// `http` or `https`.
    public let scheme: String
    /// The host, in lower case.
    public let host: String
    /// The port, even if it is the default one.
    public let port: Int
    /// The zone of an IPv6 address (RFC 6874), such as `eth0`: the same link-local address is a different machine in each zone.
    var zone: String?

    /// The origin as text, such as `https://example.org:8443`.
    public var description: String {
      let zone = zone.map { "%25\($0)]" } ?? ""
      return "\(scheme)://\(zone.isEmpty ? host : host.dropLast() + zone):\(port)"
    }
  }

  /// Scheme, host and port.
  public var origin: Origin { parts.value.origin }
  /// The URL as it is requested: without user, password and fragment, which are not sent in the request line. It may contain
  /// secrets, in its query or elsewhere.
  public var absoluteString: String { parts.value.absoluteString }
  /// Whether the URL is a secret as a whole, as the URL of a webhook often is. If it is, everything that is meant for people
  /// names only its origin: descriptions, errors, traces and records.
  public var isSecret = false
  /// The user and the password of the URL, which are sent as `Authorization`.
  package var credentials: Credentials? { parts.value.credentials }
  /// Whether the URL has a user and no password.
  package var namesUserOnly: Bool { parts.value.namesUserOnly }
  private let parts: Shared<Parts>

  private struct Parts: Hashable {
    let origin: Origin
    var absoluteString: String
    let credentials: Credentials?
    let namesUserOnly: Bool
    /// Whether `.` and `..` stay in the URL's path, and in the path of a redirect.
    let keepsPath: Bool
    let fragment: Fragment
  }

  /// The text after `#`. It is never sent, so URLs that differ only in this text are equal.
  private struct Fragment: Hashable {
    let text: String?

    static func == (_: Self, _: Self) -> Bool { true }
    func hash(into _: inout Hasher) {}
  }

  /// Parses a URL. Characters that can't occur in a URL, such as characters beyond ASCII, are percent-encoded; a host beyond
  /// ASCII is written as its name in ASCII (`xn--…`).
  ///
  /// - Throws: `invalidURL`.
  public init(_ text: String) throws(TransferError) {
    try self.init(CurlURL(parsing: text), subject: text)
  }

  /// Parses a URL whose path is requested as it is, with the `.` and `..` in it.
  package init(withPathAsIs text: String) throws(TransferError) {
    try self.init(CurlURL(parsing: text, keepsPath: true), subject: text)
  }

  /// Resolves a reference that this URL's server sent, such as a `Location` (RFC 9110 §10.2.2).
  ///
  /// - Throws: `invalidURL`, even for an empty reference: a server that names nothing has made a mistake.
  package func resolving(_ reference: String) throws(TransferError) -> HTTPURL {
    guard !reference.isEmpty else { throw .emptyReference }
    let handle = try CurlURL(parsing: absoluteString, keepsPath: parts.value.keepsPath)
    // libcurl 7.88 would treat a reference that is only a fragment as an empty path (RFC 3986 §5.2.2).
    if !reference.hasPrefix("#") { try handle.set(.url, reference, subject: reference) }
    var url = try HTTPURL(handle, subject: reference)
    url.isSecret = isSecret
    return url
  }

  /// The URL with its fragment and its secrets, but without user and password, for a user who asks for it. If the URL is a
  /// secret as a whole, this is its origin.
  package var completeText: String {
    isSecret ? description : absoluteString + (parts.value.fragment.text.map { "#\($0)" } ?? "")
  }

  /// The complete URL, secrets included, of a reference that this URL's server sent; nil if the reference can't be resolved.
  package func completeText(resolving reference: String) -> String? {
    guard let handle = try? CurlURL(parsing: absoluteString, keepsPath: parts.value.keepsPath),
      (try? handle.set(.url, reference, subject: reference)) != nil
    else { return nil }
    return handle.text(.url)
  }

  /// Returns the URL with names and values appended to its query, encoded as in URL-encoded forms.
  package func appending(_ query: [URLEncodedField]) throws(TransferError) -> HTTPURL {
    try appending(query: query.isEmpty ? [] : [URLEncodedField.text(of: query)])
  }

  /// Returns the URL with texts appended to its query, joined by `&`. Only characters that can't occur in a query are encoded:
  /// white space, control characters, characters beyond ASCII, and the hash, which would begin the fragment (RFC 3986 §3.4).
  package func appending(query texts: [String]) throws(TransferError) -> HTTPURL {
    guard !texts.isEmpty else { return self }
    // The texts are appended here and not by libcurl, because libcurl would rewrite the percent-encoding of the complete
    // query.
    let (text, end) = (absoluteString, absoluteString.hasSuffix("?") ? "" : "&")
    let extended =
      text + (text.contains("?") ? end : "?") + Self.encodedQuery(texts.joined(separator: "&"))
    _ = try CurlURL(parsing: extended)
    var parts = parts.value
    parts.absoluteString = extended
    return HTTPURL(parts: Shared(parts), isSecret: isSecret)
  }

  private static func encodedQuery(_ text: String) -> String {
    var query: [UInt8] = []
    for byte in text.utf8 {
      if (0x21...0x7E).contains(byte), byte != UInt8(ascii: "#") {
        query.append(byte)
      } else {
        PercentEncoding.unreserved.append([byte], to: &query)
      }
    }
    return String(decoding: query, as: UTF8.self)
  }

  private init(parts: Shared<Parts>, isSecret: Bool) {
    (self.parts, self.isSecret) = (parts, isSecret)
  }

  private init(_ handle: CurlURL, subject typed: String) throws(TransferError) {
    let subject = typed.hidingSecretsOfInvalidURL
    let scheme = handle.text(.scheme)?.lowercased() ?? ""
    guard scheme == "http" || scheme == "https" else {
      throw .schemeNotSupported(scheme, of: subject)
    }
    guard let host = handle.text(.host)?.lowercased(), !host.isEmpty,
      let port = handle.text(.port).flatMap({ Int($0) })
    else {
      throw .noHost(in: subject)
    }
    let user = handle.decodedText(.user)
    let password = handle.decodedText(.password)
    // A user or password that can't be decoded must not be dropped: the request would be sent without credentials.
    for (part, decoded) in [(CurlURL.Part.user, user), (.password, password)]
    where handle.text(part) != nil && decoded.map({ HTTPSyntax.isFieldValue($0.utf8) }) != true {
      throw .controlCharacterInCredentials(ofURLFor: host)
    }
    let hasCredentials = user != nil || password != nil
    let fragment = Fragment(text: handle.text(.fragment))
    for part in [CurlURL.Part.user, .password, .fragment] { handle.clear(part) }
    let text = handle.text(.url) ?? "\(scheme)://\(host):\(port)/"
    // libcurl leaves out a query without characters, and RFC 3986 §6.2.3 says that "http://a/?" is another URL than
    // "http://a/".
    let absoluteString = typed.hasEmptyQuery && !text.contains("?") ? text + "?" : text
    parts = Shared(
      Parts(
        origin: Origin(scheme: scheme, host: host, port: port, zone: handle.text(.zone)),
        absoluteString: absoluteString,
        credentials: hasCredentials ? .basic(user: user ?? "", password: password ?? "") : nil,
        namesUserOnly: user != nil && password == nil, keepsPath: handle.keepsPath,
        fragment: fragment))
  }
}

extension String {
  /// Whether a URL or a reference has a question mark at its end or directly before its fragment.
  fileprivate var hasEmptyQuery: Bool {
    let bytes = utf8.prefix { $0 != UInt8(ascii: "#") }
    guard let mark = bytes.firstIndex(of: UInt8(ascii: "?")) else { return false }
    return bytes.index(after: mark) == bytes.endIndex
  }
}

extension HTTPURL: CustomStringConvertible, CustomReflectable {
  /// The URL for people. Query values are masked if their names say that they are secrets. If the whole URL is a secret,
  /// this is its origin.
  public var description: String {
    isSecret ? "\(origin)/***" : absoluteString.hidingURLSecrets
  }

  /// The description, for `dump` and debuggers.
  public var customMirror: Mirror { Mirror(self, children: ["url": description]) }
}
