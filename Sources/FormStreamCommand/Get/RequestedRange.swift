import FormStreamPlatform

/// The value of `--range`: one range of bytes.
///
/// RFC 9110 §14.1.1: int-range = first-pos "-" [ last-pos ], suffix-range = "-" suffix-length.
enum RequestedRange: Hashable, Sendable {
  case from(Int64, to: Int64?)
  case last(Int64)

  init?(_ text: String) {
    let words = text.split(separator: "-", omittingEmptySubsequences: false)
    guard words.count == 2, words.allSatisfy({ $0.isEmpty || $0.isASCIIDigits }) else { return nil }
    switch (Int64(words[0]), Int64(words[1])) {
    case (let first?, let last?) where first <= last: self = .from(first, to: last)
    case (let first?, nil) where words[1].isEmpty: self = .from(first, to: nil)
    case (nil, let count?) where words[0].isEmpty && count > 0: self = .last(count)
    default: return nil
    }
  }

  /// The value of the `Range` header.
  var header: String {
    switch self {
    case .from(let first, let last): "bytes=\(first)-\(last.map(String.init) ?? "")"
    case .last(let count): "bytes=-\(count)"
    }
  }

  /// Whether the bytes of a response are those that were asked for. They may end with the resource, before the range does.
  ///
  /// - Parameter total: the length of the resource; nil if the server doesn't know it.
  func isAnswered(by bytes: Range<Int64>, of total: Int64?) -> Bool {
    let last = bytes.upperBound - 1
    let isLast = total == bytes.upperBound
    switch self {
    case .from(bytes.lowerBound, let wanted):
      return last == wanted || isLast && last < wanted ?? .max
    case .last(let count):
      return isLast
        && (bytes.upperBound - bytes.lowerBound == count || bytes.lowerBound == 0 && last < count)
    default: return false
    }
  }
}
