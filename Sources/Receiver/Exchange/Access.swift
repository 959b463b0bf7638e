import Multipart
import Records

/// Who may upload: whoever knows the token, and no page of another site.
struct Access: Sendable {
  private let token: [UInt8]?

  init(token: String?) {
    self.token = token.map { Array($0.utf8) }
  }

  func refusal(of head: RequestHead) -> UploadRefusal? {
    if let token, !isKnown(token, to: head) {
      return UploadRefusal(
        .unauthorized, status: 401,
        "The token is missing, or another: send \"Authorization: Bearer TOKEN\".")
    }
    // A page of another site can have a browser post forms here, and with the password that the person gave.
    if head.isUpload {
      let host = head.values(of: "host").first ?? ""
      let allowed = ["http://\(host)", "https://\(host)"].map { $0.lowercased() }
      let foreign = head.values(of: "origin").first { !allowed.contains($0.lowercased()) }
      if let origin = foreign {
        return UploadRefusal(
          .foreignOrigin, status: 403,
          "The page that sends this is of \(origin.quoted), and this is \(host.quoted): upload from the page "
            + "that is served here. A proxy between must pass the Host header on.")
      }
    }
    return nil
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
