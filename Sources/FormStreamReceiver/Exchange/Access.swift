import FormStreamMultipart
import FormStreamRecords

/// Who may upload: whoever knows the token, and no page of another site.
struct Access: Sendable {
  private let token: [UInt8]?
  private let isLoopbackOnly: Bool

  init(_ configuration: Receiver.Configuration) {
    token = configuration.token.map { Array($0.utf8) }
    isLoopbackOnly = configuration.isLoopbackOnly
  }

  func refusal(of head: RequestHead) -> UploadRefusal? {
    if let token, !isKnown(token, to: head) {
      return UploadRefusal(
        .unauthorized, status: 401,
        "The token is missing, or another: send \"Authorization: Bearer TOKEN\".")
    }
    return head.isUpload ? refusalOfOrigin(head) : nil
  }

  /// A page of another site can have a browser post forms here, and with the password that the person gave. And a
  /// site can have its own name lead to this machine: where that is the only one that is served, and no password
  /// is asked for, the page must have been reached by a name of this machine.
  private func refusalOfOrigin(_ head: RequestHead) -> UploadRefusal? {
    let origins = head.values(of: "origin")
    let host = head.values(of: "host").first ?? ""
    let allowed = ["http://\(host)", "https://\(host)"].map { $0.lowercased() }
    if let origin = origins.first(where: { !allowed.contains($0.lowercased()) }) {
      return UploadRefusal(
        .foreignOrigin, status: 403,
        "The page that sends this is of \(origin.quoted), and this is \(host.quoted): upload from the page "
          + "that is served here. A proxy between must pass the Host header on.")
    }
    if !origins.isEmpty, token == nil, isLoopbackOnly, !Self.isOfThisMachine(host) {
      return UploadRefusal(
        .foreignOrigin, status: 403,
        "The page that sends this is of \(host.quoted), and only this machine is served: open it as localhost, or "
          + "have the receiver ask for a token.")
    }
    return nil
  }

  private static func isOfThisMachine(_ host: String) -> Bool {
    let hasPort = !host.hasSuffix("]")
    let name = hasPort ? host[..<(host.lastIndex(of: ":") ?? host.endIndex)] : host[...]
    let digits = name.split(separator: ".", omittingEmptySubsequences: false)
    return name.lowercased() == "localhost" || name == "[::1]"
      || digits.count == 4 && digits[0] == "127" && digits.allSatisfy { UInt8($0) != nil }
  }

  /// RFC 9110 §11.6.1: what a client may answer with.
  static let challenges = [
    PartDescription.Header("WWW-Authenticate", "Basic realm=\"FormStream\", charset=\"UTF-8\""),
    PartDescription.Header("WWW-Authenticate", "Bearer realm=\"FormStream\""),
  ]

  private func isKnown(_ token: [UInt8], to head: RequestHead) -> Bool {
    let values = head.values(of: "authorization")
    guard values.count == 1, let space = values[0].firstIndex(of: " ") else { return false }
    let scheme = values[0][..<space].lowercased()
    let rest = values[0][space...].drop { $0 == " " }
    switch scheme {
    case "bearer": return Self.areEqual(Array(rest.utf8), token)
    case "basic":
      guard let text = base64Decoded(rest), let colon = text.firstIndex(of: UInt8(ascii: ":"))
      else { return false }
      return Self.areEqual(Array(text[(colon + 1)...]), token)
    default: return false
    }
  }

  /// Takes the same time wherever they differ: nobody can guess a token byte by byte.
  private static func areEqual(_ one: [UInt8], _ other: [UInt8]) -> Bool {
    guard one.count == other.count else { return false }
    return zip(one, other).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
  }
}
