public import Foundation
import FormStreamMultipart

/// An absolute URL of http or https: where a request goes.
public struct HTTPURL: Hashable, Sendable {
  /// Who answers for a resource: scheme, host and port (RFC 6454 §4). What is meant for one origin is no
  /// other's business.
  public struct Origin: Hashable, Sendable, CustomStringConvertible {
    /// `http` or `https`.
    public let scheme: String
    /// The host, in lower case.
    public let host: String
    /// The port, also where it is the usual one.
    public let port: Int

    /// The origin as it is written, such as `https://example.org:8443`.
    public var description: String { "\(scheme)://\(host):\(port)" }
  }

  /// Who answers.
  public let origin: Origin
  /// The URL without user, password and fragment, which are not sent in it.
  public let description: String
  /// The user and the password that stood in it: what a request bears as `Authorization`.
  package let credentials: Credentials?

  /// Takes a URL as it is typed. Characters that no URL may hold, such as those beyond ASCII, are
  /// percent-encoded.
  ///
  /// - Throws: `invalidURL`.
  public init(_ text: String) throws(TransferError) {
    try self.init(URLHandle(parsing: text), subject: text)
  }

  /// Takes a URL of Foundation.
  public init(_ url: URL) throws(TransferError) {
    try self.init(url.absoluteString)
  }

  /// What a reference means that stands in an answer from here (RFC 9110 §10.2.2), such as a Location.
  func resolving(_ reference: String) throws(TransferError) -> HTTPURL {
    let handle = try URLHandle(parsing: description)
    try handle.set(.url, reference, subject: reference)
    return try HTTPURL(handle, subject: reference)
  }

  /// The URL with names and values behind its query, encoded as forms have it.
  package func appending(_ query: [URLEncodedField]) throws(TransferError) -> HTTPURL {
    guard !query.isEmpty else { return self }
    // By hand: libcurl would write the percent-encoding of all of it anew.
    let joint = !description.contains("?") ? "?" : description.hasSuffix("?") ? "" : "&"
    let longer = description + joint + URLEncodedField.text(of: query)
    _ = try URLHandle(parsing: longer)
    return HTTPURL(origin: origin, description: longer, credentials: credentials)
  }

  private init(origin: Origin, description: String, credentials: Credentials?) {
    self.origin = origin
    self.description = description
    self.credentials = credentials
  }

  private init(_ handle: URLHandle, subject: String) throws(TransferError) {
    let subject = subject.hidingCredentials
    let scheme = handle.text(.scheme)?.lowercased() ?? ""
    guard scheme == "http" || scheme == "https" else {
      throw TransferError(
        .invalidURL, on: subject,
        "The URL \(subject.quoted) is of scheme \(scheme.quoted): only http and https are sent to.")
    }
    guard let host = handle.text(.host)?.lowercased(), !host.isEmpty,
      let port = handle.text(.port).flatMap({ Int($0) })
    else {
      throw TransferError(
        .invalidURL, on: subject,
        "The URL \(subject.quoted) names no host: write http://host/path or https://host/path.")
    }
    let user = handle.decodedText(.user)
    let password = handle.decodedText(.password)
    // What can't be decoded is there all the same: a request without it would be another's.
    for (part, decoded) in [(URLHandle.Part.user, user), (.password, password)]
    where handle.text(part) != nil && decoded.map({ HTTPSyntax.isFieldValue($0.utf8) }) != true {
      throw TransferError(
        .invalidURL, on: host,
        "The user or the password in the URL for \(host.quoted) has a control character in it: take it out."
      )
    }
    if user != nil || password != nil {
      credentials = .basic(user: user ?? "", password: password ?? "")
    } else {
      credentials = nil
    }
    for part in [URLHandle.Part.user, .password, .fragment] { handle.clear(part) }
    origin = Origin(scheme: scheme, host: host, port: port)
    description = handle.text(.url) ?? "\(scheme)://\(host):\(port)/"
  }
}

extension HTTPURL: CustomStringConvertible {}
