import FormStreamDigest
import FormStreamMultipart

/// A server's description of the version of a resource, by which the version can be recognized later.
struct ResourceVersion: Equatable, Sendable {
  /// The `ETag`, with its quotes. If there are several, they are joined, and prove nothing.
  let entityTag: String?
  let lastModified: String?
  /// When the server sent the response that has these values.
  let date: String?
  /// The `Content-Encoding`: each coding of a resource has bytes of its own.
  let encoding: String?
  /// The digest of the URL that the bytes came from, after redirects, without its query. The URL itself may hold secrets.
  let source: String
  /// The digest of the same URL with its query.
  let completeSource: String
  /// The complete length; nil if it isn't known.
  var length: Int64?

  init(
    entityTag: String?, lastModified: String?, date: String?, encoding: String?, source: String,
    completeSource: String, length: Int64?
  ) {
    (self.entityTag, self.lastModified, self.date) = (entityTag, lastModified, date)
    (self.encoding, self.source, self.completeSource) = (encoding, source, completeSource)
    self.length = length
  }

  /// - Parameter length: the length that the response announces for the complete resource.
  init(_ headers: HTTPHeaders, from url: HTTPURL, length: Int64?) throws {
    entityTag = headers.joined("ETag")
    lastModified = headers.joined("Last-Modified")
    date = headers["Date"]
    encoding = headers.joined("Content-Encoding")
    let text = url.absoluteString
    source = try SHA256.digest(of: String(text.prefix { $0 != "?" })).description
    completeSource = try SHA256.digest(of: text).description
    self.length = length
  }

  /// The value of `If-Range` that asks for the rest of this version, and of no other version; nil if there is no such value.
  ///
  /// RFC 9110 §13.1.5: "A client MUST NOT generate an If-Range header field containing an entity tag that is marked as
  /// weak", nor "containing an HTTP-date unless [...] The HTTP-date is a strong validator in the sense defined by
  /// Section 8.8.2.2 [and] The client has no entity tag for the corresponding representation."
  var validator: String? {
    if let entityTag { return Self.isStrong(entityTag) ? entityTag : nil }
    return isDateStrong ? lastModified : nil
  }

  /// RFC 9110 §8.8.3: opaque-tag = DQUOTE *etagc DQUOTE, etagc = %x21 / %x23-7E / obs-text. Bytes that are not UTF-8 have
  /// become the replacement character, so different tags can have the same text.
  private static func isStrong(_ tag: String) -> Bool {
    guard !tag.unicodeScalars.contains("\u{FFFD}") else { return false }
    let bytes = Array(tag.utf8)
    let quote = UInt8(ascii: "\"")
    // An empty tag is allowed, but it can't tell versions apart.
    guard bytes.count > 2, bytes.first == quote, bytes.last == quote else { return false }
    return bytes.dropFirst().dropLast().allSatisfy {
      $0 == 0x21 || (0x23...0x7E).contains($0) || $0 >= 0x80
    }
  }

  /// RFC 9110 §8.8.2.2: Last-Modified is strong if there is "a Date value which is at least one second after the
  /// Last-Modified value": within one second, a resource may change twice.
  private var isDateStrong: Bool {
    guard let lastModified = lastModified.flatMap({ HTTPDate.strictSeconds($0) }),
      let date = date.flatMap({ HTTPDate.strictSeconds($0) })
    else { return false }
    return date > lastModified
  }

  /// Whether another response belongs to this version, because it has the same validator.
  ///
  /// RFC 9110 §8.8.1: "A strong validator is representation metadata that changes value whenever a change occurs to the
  /// representation data".
  func isSameVersion(as other: ResourceVersion) -> Bool {
    validator != nil && entityTag == other.entityTag
      && (entityTag != nil || lastModified == other.lastModified) && encoding == other.encoding
      && isSource(of: other)
  }

  /// Whether another response claims to be of this version, but announces another complete length.
  func contradicts(_ other: ResourceVersion) -> Bool {
    guard let length, let otherLength = other.length, length != otherLength else { return false }
    return isSameVersion(as: other)
  }

  /// RFC 9110 §8.8.1: the same validator at two URLs says nothing. The query may differ, because redirects to storage get a new
  /// signature each time. If the query differs, only a tag proves the version, because many resources can have the same date.
  func isSource(of other: ResourceVersion) -> Bool {
    completeSource == other.completeSource || source == other.source && entityTag != nil
  }
}
