import FormStreamIntake
import FormStreamPlatform

/// Decides who may upload: clients that know the token, and no page of another site.
struct AccessControl: Sendable {
  private let token: [UInt8]?
  private let isLoopbackOnly: Bool

  init(_ configuration: Receiver.Configuration) {
    token = configuration.token.map { Array($0.utf8) }
    isLoopbackOnly = configuration.isLoopbackOnly
  }

  /// Why the client may not make this request; nil if it may.
  func refusal(of head: RequestHead) -> UploadRefusal? {
    if let token, !isTokenSent(token, in: head) {
      return UploadRefusal(
        .unauthorized, status: 401,
        "The token is missing or wrong: send \"Authorization: Bearer TOKEN\".")
    }
    return head.isUpload ? originRefusal(head) : nil
  }

  /// Refuses requests from pages of other sites: such a page can make a browser post forms here, with the password that
  /// the person has entered.
  ///
  /// A site can also let its own name resolve to this machine (DNS rebinding); then its pages have the same origin as
  /// ours. If only this machine can connect and no token is required, the page must have been opened by a name of this
  /// machine.
  private func originRefusal(_ head: RequestHead) -> UploadRefusal? {
    let origins = head.values(of: "origin")
    let host = head.values(of: "host").first ?? ""
    let allowed = ["http://\(host)", "https://\(host)"].map { $0.lowercased() }
    if let origin = origins.first(where: { !allowed.contains($0.lowercased()) }) {
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

  /// Whether a Host names this machine in any spelling: no site can let such a name resolve to somewhere else.
  private static func isThisMachine(_ host: String) -> Bool {
    let hasPort = !host.hasSuffix("]")
    var name = hasPort ? host[..<(host.lastIndex(of: ":") ?? host.endIndex)] : host[...]
    if name.hasPrefix("["), name.hasSuffix("]") {
      return AddressKind(String(name.dropFirst().dropLast())) != .other
    }
    // A name with a dot at its end is complete.
    if name.hasSuffix(".") { name.removeLast() }
    // RFC 6761 §6.3: names below localhost are this machine, too.
    let text = name.lowercased()
    return text == "localhost" || text.hasSuffix(".localhost") || AddressKind(text) != .other
  }

  /// RFC 9110 §11.6.1: the authentication schemes that a client may use.
  static let challenges = [
    PartDescription.Header("WWW-Authenticate", "Basic realm=\"FormStream\", charset=\"UTF-8\""),
    PartDescription.Header("WWW-Authenticate", "Bearer realm=\"FormStream\""),
  ]

  private func isTokenSent(_ token: [UInt8], in head: RequestHead) -> Bool {
    let values = head.values(of: "authorization")
    guard values.count == 1, let space = values[0].firstIndex(of: " ") else { return false }
    let scheme = values[0][..<space].lowercased()
    let credentials = values[0][space...].drop { $0 == " " }
    switch scheme {
    case "bearer": return Self.areEqual(Array(credentials.utf8), token)
    case "basic":
      guard let text = base64Decoded(credentials),
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
