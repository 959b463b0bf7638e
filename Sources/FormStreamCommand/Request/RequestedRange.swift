import FormStreamPlatform

/// The value of `--range`: a range of bytes, or several.
///
/// RFC 9110 §14.1.2: ranges-specifier = range-unit "=" range-set, range-set = 1#range-spec.
/// RFC 9110 §14.1.1: int-range = first-pos "-" [ last-pos ], suffix-range = "-" suffix-length.
enum RequestedRange: Hashable, Sendable {
  case from(Int64, to: Int64?)
  case last(Int64)
  case several([RequestedRange])

  init?(_ text: String) {
    let pieces = text.split(separator: ",", omittingEmptySubsequences: false)
    guard pieces.count == 1 else {
      let ranges = pieces.compactMap { RequestedRange(one: $0.drop { $0 == " " }) }
      guard ranges.count == pieces.count else { return nil }
      self = .several(ranges)
      return
    }
    self.init(one: text[...])
  }

  private init?(one text: Substring) {
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
  var header: String { "bytes=\(text)" }

  private var text: String {
    switch self {
    case .from(let first, let last): "\(first)-\(last.map(String.init) ?? "")"
    case .last(let count): "-\(count)"
    case .several(let ranges): ranges.map(\.text).joined(separator: ",")
    }
  }

  /// Whether there are several ranges, which a server sends in parts.
  var isSeveral: Bool { if case .several = self { true } else { false } }

  /// Whether a response has the bytes that were asked for. The bytes may end before the range does if the resource ends there.
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
    case .several(let ranges):
      // RFC 9110 §15.3.7.1: a server may send only one of the ranges, or join ranges that are next to each other.
      return ranges.contains { $0.isAnswered(by: bytes, of: total) }
        || Self.joined(ranges, of: total).map {
          $0.lowerBound == bytes.lowerBound
            && (last == $0.upperBound || isLast && last < $0.upperBound)
        } ?? false
    default: return false
    }
  }

  /// The span from the first byte to the last byte of several ranges. Ranges that begin after the end of the resource
  /// don't count. Nil if the span is not known.
  private static func joined(_ ranges: [RequestedRange], of total: Int64?) -> ClosedRange<Int64>? {
    var all: ClosedRange<Int64>?
    for case .from(let first, let last?) in ranges where first < total ?? .max {
      all = min(all?.lowerBound ?? first, first)...max(all?.upperBound ?? last, last)
    }
    return ranges.allSatisfy { if case .from(_, _?) = $0 { true } else { false } } ? all : nil
  }
}
