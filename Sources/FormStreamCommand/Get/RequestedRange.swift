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

  /// Whether a `Content-Range` is what was asked for. It may end with the resource, before the range does.
  ///
  /// RFC 9110 §14.4: Content-Range = "bytes" SP first-pos "-" last-pos "/" ( complete-length / "*" ).
  func isAnswered(by contentRange: String) -> Bool {
    let words = contentRange.split(separator: " ")
    guard words.count == 2, words[0].lowercased() == "bytes" else { return false }
    let parts = words[1].split(separator: "/", omittingEmptySubsequences: false)
    let ends = parts[0].split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 2, ends.count == 2, ends.allSatisfy(\.isASCIIDigits),
      let first = Int64(ends[0]), let last = Int64(ends[1]), first <= last, last < .max
    else { return false }
    let total = Int64(parts[1])
    guard total.map({ $0 > last }) ?? (parts[1] == "*") else { return false }
    let isLast = total == last + 1
    switch self {
    case .from(first, let wanted): return last == wanted || isLast && last < wanted ?? .max
    case .last(let count):
      return isLast && (last - first == count - 1 || first == 0 && last < count)
    default: return false
    }
  }
}
