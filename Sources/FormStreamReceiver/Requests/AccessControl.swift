import FormStreamIntake
import FormStreamMultipart
import FormStreamPlatform

/// Decides who may upload: clients that know the token may, and pages of other sites may not.
struct AccessControl: Sendable {
  private let token: [UInt8]?
  private let isLoopbackOnly: Bool
  private let usesTLS: Bool
  /// The names of this machine in its own network, in lowercase.
  private let ownNames: Set<[UInt8]>

  init(_ configuration: Receiver.Configuration) {
    token = configuration.token.map { Array($0.utf8) }
    isLoopbackOnly = configuration.isLoopbackOnly
    usesTLS = configuration.tls != nil
    let name = Self.lowercased((hostName() ?? "").utf8)
    let first = Array(name.prefix { $0 != UInt8(ascii: ".") })
    // RFC 6762 §3: names that end in .local are names of the local link.
    ownNames = first.isEmpty ? [] : [name, first, first + Array(".local".utf8)]
  }

  /// Why the client may not make this request; nil if it may make it.
  func refusal(of head: RequestHead) -> UploadRefusal? {
    if let token, !isTokenSent(token, in: head) {
      return UploadRefusal(
        .unauthorized, status: 401,
        "The token is missing or wrong: send \"Authorization: Bearer TOKEN\".")
    }
    return head.mayChangeSomething ? originRefusal(head) : nil
  }

  /// How much of the page for uploads a client may see.
  enum PageAccess {
    case complete
    /// The page must not say whose machine this is.
    case withoutOwner
  }

  /// How much of the page the client may see.
  ///
  /// A site can make its own name resolve to this machine (DNS rebinding), and read the responses that its visitors'
  /// browsers get from this receiver. A required token prevents this, because browsers ask the person for the token
  /// again for each name.
  ///
  /// - Throws: a refusal if only this machine may see the page.
  func pageAccess(_ head: RequestHead) throws(UploadRefusal) -> PageAccess {
    // A request without a Host (HTTP/1.0) does not come from a browser.
    guard token == nil, let host = head.values(of: "host").first else { return .complete }
    if Self.isThisMachine(host) { return .complete }
    guard !isLoopbackOnly else {
      throw UploadRefusal(
        .foreignOrigin, status: 403,
        "The page was opened by the name \(host.quoted), and only this machine may see it: open it as localhost, or "
          + "start the receiver with a token.")
    }
    let name = Self.withoutPort(host)
    return ownNames.contains(name) || Self.isAddress(name) ? .complete : .withoutOwner
  }

  /// Refuses requests from pages of other sites: such a page can make a browser post forms here, with the password that the
  /// person has entered for this receiver.
  ///
  /// A site can also make its own name resolve to this machine (DNS rebinding); then the site's pages have the same origin as
  /// the receiver's page. If only this machine can connect and no token is required, the page must have been opened by a name
  /// of this machine.
  private func originRefusal(_ head: RequestHead) -> UploadRefusal? {
    let origins = head.values(of: "origin")
    let host = head.values(of: "host").first ?? ""
    // A proxy in between may use TLS although this server does not. If this server uses TLS, pages from `http` are not
    // allowed: a page that came without TLS could have been changed on its way.
    let allowed = (usesTLS ? ["https"] : ["http", "https"]).map { "\($0)://\(host)" }
    if let origin = origins.first(where: { !allowed.contains(where: $0.isSameHeaderName) }) {
      return UploadRefusal(
        .foreignOrigin, status: 403,
        "The page that sends this is from \(origin.quoted), and this server is \(host.quoted): upload from the page "
          + "that this server shows. A proxy in between must pass on the Host header.")
    }
    if !origins.isEmpty, token == nil, isLoopbackOnly, !Self.isThisMachine(host) {
      return UploadRefusal(
        .foreignOrigin, status: 403,
        "The page that sends this is from \(host.quoted), and only this machine may upload: open the page as "
          + "localhost, or start the receiver with a token.")
    }
    return nil
  }

  /// Whether a Host names this machine, in any spelling. No site can make such a name resolve to another machine.
  private static func isThisMachine(_ host: String) -> Bool {
    let name = withoutPort(host)
    if let address = bracketed(name) { return AddressKind(address) != .other }
    // RFC 6761 §6.3: names that end in .localhost mean this machine, too.
    return name == Array("localhost".utf8) || Array(name.suffix(10)) == Array(".localhost".utf8)
      || AddressKind(String(decoding: name, as: UTF8.self)) != .other
  }

  /// The name or the address of a Host header, without the port, in lowercase.
  private static func withoutPort(_ host: String) -> [UInt8] {
    var name = lowercased(host.utf8)
    guard name.last != UInt8(ascii: "]") else { return name }
    let digits = name.reversed().prefix(while: \.isASCIIDigit).count
    if name.dropLast(digits).last == UInt8(ascii: ":") { name.removeLast(digits + 1) }
    // A dot at the end only marks a name as complete, so it is removed.
    if name.last == UInt8(ascii: ".") { name.removeLast() }
    return name
  }

  /// The text between the brackets; nil if there are no brackets.
  private static func bracketed(_ name: [UInt8]) -> String? {
    guard name.first == UInt8(ascii: "["), name.last == UInt8(ascii: "]") else { return nil }
    return String(decoding: name.dropFirst().dropLast(), as: UTF8.self)
  }

  /// Whether a name is a numeric address. No site can make a numeric address resolve to another.
  private static func isAddress(_ name: [UInt8]) -> Bool {
    let text = bracketed(name) ?? String(decoding: name, as: UTF8.self)
    return SocketAddress(text, port: 0) != nil
  }

  private static func lowercased(_ text: some Sequence<UInt8>) -> [UInt8] {
    text.map(\.asciiLowercased)
  }

  /// RFC 9110 §11.6.1: the authentication schemes that a client may use.
  static let challenges: HTTPHeaders = [
    "WWW-Authenticate": "Basic realm=\"FormStream\", charset=\"UTF-8\"",
    "WWW-Authenticate": "Bearer realm=\"FormStream\"",
  ]

  private func isTokenSent(_ token: [UInt8], in head: RequestHead) -> Bool {
    let values = head.values(of: "authorization")
    guard values.count == 1, let space = values[0].utf8.firstIndex(of: UInt8(ascii: " ")) else {
      return false
    }
    let scheme = Self.lowercased(values[0].utf8[..<space])
    let credentials = values[0].utf8[space...].drop { $0 == UInt8(ascii: " ") }
    switch scheme {
    case Array("bearer".utf8): return Self.areEqual(Array(credentials), token)
    case Array("basic".utf8):
      guard let text = base64Decoded(Substring(credentials)),
        let colon = text.firstIndex(of: UInt8(ascii: ":"))
      else { return false }
      return Self.areEqual(Array(text[(colon + 1)...]), token)
    default: return false
    }
  }

  /// Takes the same time wherever the first difference is, so that a token can't be guessed byte by byte.
  private static func areEqual(_ one: [UInt8], _ other: [UInt8]) -> Bool {
    guard one.count == other.count else { return false }
    return zip(one, other).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
  }
}
