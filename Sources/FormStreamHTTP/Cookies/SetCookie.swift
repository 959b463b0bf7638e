import FormStreamMultipart
import FormStreamPlatform

/// The value of a `Set-Cookie` header (RFC 6265bis §5.6).
///
/// `SameSite` is not read: a program visits no site from another one. Neither is the limit of 400 days kept to that RFC 6265bis
/// §5.5 recommends for browsers: a file of cookies lives as long as its servers say.
struct SetCookie: Sendable, Hashable {
  let name: [UInt8]
  let value: [UInt8]
  /// In lower case, without a dot before it; nil if there is none, or if it is empty.
  private(set) var domain: [UInt8]?
  /// Nil if there is none that begins with a slash.
  private(set) var path: [UInt8]?
  private(set) var isSecure = false
  private(set) var isHTTPOnly = false
  /// In seconds; nil if there is none that is a number.
  private var maximumAge: Int64?
  /// Since 1970; nil if there is none that is a date.
  private var expires: Int64?

  /// RFC 6265bis §5.6: "If the sum of the lengths of the name string and the value string is more than 4096 octets, abort this
  /// algorithm and ignore the set-cookie-string entirely."
  static let maximumSize = 4096
  /// RFC 6265bis §5.6: "If the attribute-value is longer than 1024 octets, ignore the cookie-av string".
  static let maximumAttributeSize = 1024

  /// Nil if the text is to be ignored.
  init?(_ text: some Sequence<UInt8>) {
    let text = Array(text)[...]
    // RFC 6265bis §5.6: "If the set-cookie-string contains a %x00-08 / %x0A-1F / %x7F character (CTL characters excluding HTAB):
    // Abort this algorithm".
    guard !text.contains(where: \.isControlExceptTab) else { return nil }
    var pairs = text.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false).map(Pair.init)[...]
    guard let first = pairs.popFirst() else { return nil }
    // "If the name-value-pair string lacks a %x3D ("=") character, then the name string is empty, and the value string is the
    // value of name-value-pair."
    name = first.value == nil ? [] : Array(first.name)
    value = Array(first.value ?? first.name)
    guard Cookie.isReadable(name, value), name.count + value.count <= Self.maximumSize else { return nil }
    // In a file of cookies, a tab would end the text that it is in. As in curl, such a cookie is ignored.
    let values = [name, value] + pairs.compactMap(\.value).map(Array.init)
    guard !values.contains(where: { $0.contains(0x09) }) else { return nil }
    for pair in pairs { read(pair) }
  }

  /// A text before and after its first `=`, without blanks around the two.
  private struct Pair {
    let name: ArraySlice<UInt8>
    /// Nil if there is no `=`.
    let value: ArraySlice<UInt8>?

    init(_ text: ArraySlice<UInt8>) {
      let parts = text.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
      name = (parts.first ?? []).trimmingBlanks()
      value = parts.count > 1 ? parts[1].trimmingBlanks() : nil
    }
  }

  /// RFC 6265bis §5.6.1 to §5.6.6. Of several attributes with one name, the last counts.
  private mutating func read(_ attribute: Pair) {
    let value = attribute.value ?? []
    guard value.count <= Self.maximumAttributeSize else { return }
    switch String(decoding: attribute.name, as: UTF8.self).lowercased() {
    case "domain":
      let name = value.first == UInt8(ascii: ".") ? value.dropFirst() : value
      domain = name.isEmpty ? nil : name.map(\.asciiLowercased)
    case "path":
      path = value.withoutQuotes.first == UInt8(ascii: "/") ? Array(value) : nil
    case "secure": isSecure = true
    case "httponly": isHTTPOnly = true
    case "expires": if let seconds = CookieDate.seconds(value) { expires = seconds }
    case "max-age":
      // "If the first character of the attribute-value is neither a DIGIT, nor a "-" character followed by a DIGIT, ignore the
      // cookie-av. If the remainder of attribute-value contains a non-DIGIT character, ignore the cookie-av."
      let isNegative = value.first == UInt8(ascii: "-")
      let digits = isNegative ? value.dropFirst() : value
      guard !digits.isEmpty, digits.allSatisfy(\.isASCIIDigit) else { return }
      maximumAge = isNegative ? 0 : Int64(String(decoding: digits, as: UTF8.self)) ?? .max
    default: break
    }
  }

  /// When the cookie expires, in seconds since 1970; nil for a session cookie. RFC 6265bis §5.7: `Max-Age` takes precedence over
  /// `Expires`.
  func expiry(now: Int64) -> Int64? {
    guard let maximumAge else { return expires }
    // "If delta-seconds is less than or equal to zero, let expiry-time be the earliest representable date and time."
    guard maximumAge > 0 else { return .min }
    let (sum, isTooLong) = now.addingReportingOverflow(maximumAge)
    return isTooLong ? .max : sum
  }
}

extension UInt8 {
  /// Whether this is a control character that no cookie may have: a server could refuse the whole request.
  var isControlExceptTab: Bool { self < 0x20 && self != 0x09 || self == 0x7F }
}

extension ArraySlice<UInt8> {
  /// A path without quotes around it.
  var withoutQuotes: ArraySlice<UInt8> {
    let quote = UInt8(ascii: "\"")
    let rest = first == quote ? dropFirst() : self
    return rest.last == quote ? rest.dropLast() : rest
  }
}
