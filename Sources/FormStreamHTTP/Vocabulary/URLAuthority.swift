import FormStreamMultipart
import FormStreamPlatform

extension URLParts {
  /// The part of a URL between the slashes and its path: `user:password@host:port`.
  struct Authority {
    var userInfo: String?
    var user: String?
    var password: String?
    let host: URLHost
    let port: Int?

    /// The authority of a base, for a reference that has none. Users and passwords are not inherited.
    init(of base: URLParts) {
      (host, port) = (base.host, base.port)
    }

    /// RFC 3986 §3.2: `authority = [ userinfo "@" ] host [ ":" port ]`.
    init(_ bytes: ArraySlice<UInt8>) throws(URLFlaw) {
      // A backslash ends the authority for browsers, so that the host is what stands before it.
      guard !bytes.contains(UInt8(ascii: "\\")) else { throw .backslash }
      let at = bytes.firstIndex(of: UInt8(ascii: "@"))
      let place = at.map { bytes[$0...].dropFirst() } ?? bytes
      // With several, browsers take the last, and others the first.
      guard !place.contains(UInt8(ascii: "@")) else { throw .severalAts }
      let end = place.first == UInt8(ascii: "[") ? place.firstIndex(of: UInt8(ascii: "]")) : nil
      let colon = place[(end ?? place.startIndex)...].firstIndex(of: UInt8(ascii: ":"))
      host = try URLHost(place[..<(colon ?? place.endIndex)])
      if let colon { port = try Self.port(place[colon...].dropFirst()) } else { port = nil }
      guard let at else { return }
      let info = bytes[..<at]
      userInfo = String(decoding: info, as: UTF8.self)
      let name = info.prefix { $0 != UInt8(ascii: ":") }
      user = try Self.decoded(name, host)
      if name.endIndex < at { password = try Self.decoded(info[name.endIndex...].dropFirst(), host) }
    }

    /// The number of a port; nil if it has no digits, which means the default port (RFC 3986 §6.2.3).
    private static func port(_ digits: ArraySlice<UInt8>) throws(URLFlaw) -> Int? {
      guard !digits.isEmpty else { return nil }
      // A sign would be a number for Swift, too.
      guard digits.allSatisfy({ $0.isASCIIDigit }),
        let port = UInt16(String(decoding: digits, as: UTF8.self)), port > 0
      else { throw .port }
      return Int(port)
    }

    /// A user or a password with its percent-encoding removed. One that can't be decoded must not be dropped or changed: the
    /// request would be sent without credentials, or with wrong ones.
    private static func decoded(_ bytes: ArraySlice<UInt8>, _ host: URLHost) throws(URLFlaw) -> String {
      let decoded = PercentDecoder.decoded(bytes)
      guard HTTPSyntax.isFieldValue(decoded), !decoded.contains(0x09) else {
        throw .credentialCharacter(host.text)
      }
      guard let text = String(validating: decoded, as: UTF8.self) else { throw .credentialEncoding(host.text) }
      return text
    }
  }
}
