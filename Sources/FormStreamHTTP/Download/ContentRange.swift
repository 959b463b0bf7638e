package import FormStreamMultipart
import FormStreamPlatform

/// The header `Content-Range`: which bytes a response has, and the complete length.
///
/// RFC 9110 §14.4: range-resp = first-pos "-" last-pos "/" ( complete-length / "*" ), or for a response of status 416,
/// "*/" complete-length.
package struct ContentRange: Equatable {
  /// The bytes that a response of status 206 has; nil for a response of status 416.
  package let bytes: Range<Int64>?
  /// The complete length; nil if the server doesn't know it.
  package let total: Int64?

  /// Reads the header; nil if it is missing, repeated or malformed, or if it is contradictory.
  package init?(_ headers: HTTPHeaders) {
    let values = headers.fields.filter { $0.name.isSameHeaderName(as: "Content-Range") }.map(
      \.value)
    guard values.count == 1, let value = values.first else { return nil }
    let words = value.split(separator: " ", omittingEmptySubsequences: true)
    guard words.count == 2, words[0].lowercased() == "bytes" else { return nil }
    let halves = words[1].split(separator: "/", omittingEmptySubsequences: false)
    guard halves.count == 2 else { return nil }
    total = Self.number(halves[1])
    guard total != nil || halves[1] == "*" else { return nil }
    if halves[0] == "*" {
      guard total != nil else { return nil }
      bytes = nil
      return
    }
    let ends = halves[0].split(separator: "-", omittingEmptySubsequences: false)
    guard ends.count == 2, let first = Self.number(ends[0]), let last = Self.number(ends[1]),
      first <= last, last < total ?? .max
    else { return nil }
    bytes = first..<(last + 1)
  }

  private static func number(_ digits: Substring) -> Int64? {
    digits.isASCIIDigits ? Int64(digits) : nil
  }
}

extension HTTPHeaders {
  /// Whether the body has several parts, each with a range. RFC 9110 §15.3.7.2: "A server MUST NOT generate a multipart
  /// response to a request for a single range".
  package var isOfSeveralRanges: Bool {
    (joined("Content-Type") ?? "").lowercased().utf8.starts(with: "multipart/byteranges".utf8)
  }

  /// Whether there is a `Content-Range` of bytes, valid or not. Other units have other meanings: databases, for example, use
  /// them to number the rows of a page, in responses of status 200.
  var hasRangeOfBytes: Bool {
    fields.contains {
      $0.name.isSameHeaderName(as: "Content-Range")
        && $0.value.utf8.prefix(5).elementsEqual("bytes".utf8) { $0 | 0x20 == $1 }
    }
  }
}
