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
  /// What stands in the request line.
  var requestTarget: String { parts.value.url.requestTarget }
  /// The value of `Host`.
  var hostField: String { parts.value.url.hostField }
  /// Whether the URL is a secret as a whole, as the URL of a webhook often is. If it is, everything that is meant for people
  /// names only its origin: descriptions, errors, traces and records.
  public var isSecret = false
  /// The user and the password of the URL, which are sent as `Authorization`.
  package var credentials: Credentials? { parts.value.credentials }
  /// Whether the URL has a user and no password.
  package var namesUserOnly: Bool { parts.value.namesUserOnly }
  private let parts: Shared<Parts>

  private struct Parts: Hashable {
    let url: URLParts
    let origin: Origin
    let absoluteString: String
    let credentials: Credentials?
    /// Whether `.` and `..` stay in the URL's path, and in the path of a redirect.
    let keepsPath: Bool

    init(_ url: URLParts, keepsPath: Bool) {
      self.url = url
      self.keepsPath = keepsPath
      origin = Origin(
        scheme: url.scheme.rawValue, host: url.host.text.lowercased(), port: url.effectivePort, zone: url.host.zone)
      absoluteString = url.absoluteString
      credentials = url.user.map { .basic(user: $0, password: url.password ?? "") }
    }

    var namesUserOnly: Bool { url.user != nil && url.password == nil }

    /// The fragment is never sent, so URLs that differ only in it are equal.
    static func == (one: Self, other: Self) -> Bool {
      one.absoluteString == other.absoluteString && one.credentials == other.credentials
        && one.namesUserOnly == other.namesUserOnly && one.keepsPath == other.keepsPath
    }

    func hash(into hasher: inout Hasher) { hasher.combine(absoluteString) }
  }

  /// Parses a URL. Characters that can't occur in a URL, such as characters beyond ASCII, are percent-encoded; a host beyond
  /// ASCII is written as its name in ASCII (`xn--…`).
  ///
  /// - Throws: `invalidURL`.
  public init(_ text: String) throws(TransferError) {
    try self.init(text, keepsPath: false)
  }

  /// Parses a URL whose path is requested as it is, with the `.` and `..` in it.
  package init(withPathAsIs text: String) throws(TransferError) {
    try self.init(text, keepsPath: true)
  }

  private init(_ text: String, keepsPath: Bool) throws(TransferError) {
    do throws(URLFlaw) {
      parts = Shared(Parts(try URLParts(parsing: text, keepsPath: keepsPath), keepsPath: keepsPath))
    } catch {
      throw .invalidURL(text, error)
    }
  }

  /// Resolves a reference that this URL's server sent, such as a `Location` (RFC 9110 §10.2.2).
  ///
  /// - Throws: `invalidURL`, even for an empty reference: a server that names nothing has made a mistake.
  package func resolving(_ reference: String) throws(TransferError) -> HTTPURL {
    guard !reference.isEmpty else { throw .emptyReference }
    do throws(URLFlaw) {
      return HTTPURL(parts: try resolved(reference), isSecret: isSecret)
    } catch {
      throw .invalidURL(reference, error)
    }
  }

  private func resolved(_ reference: String) throws(URLFlaw) -> Parts {
    let (base, keepsPath) = (parts.value.url, parts.value.keepsPath)
    return Parts(try base.resolving(reference, keepsPath: keepsPath), keepsPath: keepsPath)
  }

  /// The URL with its fragment and its secrets, but without user and password, for a user who asks for it. If the URL is a
  /// secret as a whole, this is its origin.
  package var completeText: String {
    isSecret ? description : absoluteString + (parts.value.url.fragment.map { "#\($0)" } ?? "")
  }

  /// The complete URL, secrets included, of a reference that this URL's server sent; nil if the reference can't be resolved.
  package func completeText(resolving reference: String) -> String? {
    try? resolved(reference).url.completeString
  }

  /// Returns the URL with names and values appended to its query, encoded as in URL-encoded forms.
  package func appending(_ query: [URLEncodedField]) throws(TransferError) -> HTTPURL {
    try appending(query: query.isEmpty ? [] : [URLEncodedField.text(of: query)])
  }

  /// Returns the URL with texts appended to its query, joined by `&`. Only characters that can't occur in a query are encoded:
  /// white space, control characters, characters beyond ASCII, and the hash, which would begin the fragment (RFC 3986 §3.4).
  package func appending(query texts: [String]) throws(TransferError) -> HTTPURL {
    guard !texts.isEmpty else { return self }
    let added = Self.encodedQuery(texts.joined(separator: "&"))
    do throws(URLFlaw) {
      let extended = try parts.value.url.appending(query: added)
      return HTTPURL(parts: Parts(extended, keepsPath: parts.value.keepsPath), isSecret: isSecret)
    } catch {
      throw .invalidURL(absoluteString, error)
    }
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

  private init(parts: Parts, isSecret: Bool) {
    (self.parts, self.isSecret) = (Shared(parts), isSecret)
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
