import FormStreamPlatform

/// A pattern for the names of files, like the patterns of `.gitignore` and rsync.
///
/// `*` matches any bytes except the slash, and `?` one byte except the slash. `[a-z]` matches one byte of a set, and
/// `[!a-z]` one byte that is not in the set. `**` matches any bytes. A backslash takes away the special meaning of the next
/// byte. A pattern without a slash is matched against the last component of a path. A pattern with a slash is matched
/// against the path below the root: `a/*.txt`, `**/a/b`, `/a`. A pattern with a slash at its end matches only directories.
public struct NamePattern: Hashable, Sendable, CustomStringConvertible {
  /// The greatest length of a pattern, in bytes.
  public static let maximumLength = 4096

  private enum Token: Hashable {
    case byte(UInt8)
    /// One byte except the slash.
    case any
    /// One byte of a set; never the slash.
    case set([ClosedRange<UInt8>], isNegated: Bool)
    /// Any bytes except the slash.
    case star
    /// Any bytes.
    case starStar
    /// Nothing, or any bytes followed by a slash.
    case directories
  }

  /// The pattern as it was written.
  let bytes: [UInt8]
  private let tokens: [Token]
  private let isPath: Bool
  private let matchesDirectoriesOnly: Bool

  /// The pattern as it was written. Bytes that are not UTF-8 are replaced.
  public var description: String { String(decoding: bytes, as: UTF8.self) }

  /// Reads a pattern.
  ///
  /// - Throws: `invalidPattern` if the pattern is empty or too long, if a `[` has no end or a range is empty, or if nothing
  ///   follows a backslash.
  public init(_ text: String) throws(BatchError) {
    try self.init(bytes: Array(text.utf8))
  }

  /// Reads a pattern that need not be UTF-8.
  public init(bytes: [UInt8]) throws(BatchError) {
    let shown = String(decoding: bytes, as: UTF8.self).quoted
    func invalid(_ reason: String) -> BatchError {
      BatchError(
        .invalidPattern, on: shown,
        "The pattern \(shown) \(reason); a backslash before *, ?, [ or \\ takes away its meaning.")
    }
    guard bytes.count <= Self.maximumLength else { throw invalid("is too long") }
    self.bytes = bytes
    var rest = bytes[...]
    matchesDirectoriesOnly = rest.last == UInt8(ascii: "/")
    if matchesDirectoriesOnly { rest.removeLast() }
    isPath = rest.contains(UInt8(ascii: "/"))
    if rest.first == UInt8(ascii: "/") { rest.removeFirst() }
    guard !rest.isEmpty else { throw invalid("is empty") }
    var tokens: [Token] = []
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "\\"):
        guard let next = rest.popFirst() else { throw invalid("has nothing after its backslash") }
        tokens.append(.byte(next))
      case UInt8(ascii: "?"): tokens.append(.any)
      case UInt8(ascii: "["):
        guard let set = Self.set(in: &rest) else {
          throw invalid("has a [ without a ], or a range that ends before it begins")
        }
        tokens.append(set)
      case UInt8(ascii: "*"):
        guard rest.first == UInt8(ascii: "*") else {
          if tokens.last != .star { tokens.append(.star) }
          continue
        }
        while rest.first == UInt8(ascii: "*") { rest.removeFirst() }
        let isComponent = tokens.isEmpty || tokens.last == .byte(UInt8(ascii: "/"))
        if isComponent, rest.first == UInt8(ascii: "/") {
          rest.removeFirst()
          tokens.append(.directories)
        } else {
          tokens.append(.starStar)
        }
      default: tokens.append(.byte(byte))
      }
    }
    self.tokens = tokens
  }

  /// Reads a set up to its closing `]`; nil if there is none, or if a range ends before it begins. A `]` that comes first
  /// is a member of the set.
  private static func set(in rest: inout ArraySlice<UInt8>) -> Token? {
    let isNegated = rest.first == UInt8(ascii: "!") || rest.first == UInt8(ascii: "^")
    if isNegated { rest.removeFirst() }
    var ranges: [ClosedRange<UInt8>] = []
    while var low = rest.popFirst() {
      if low == UInt8(ascii: "]"), !ranges.isEmpty { return .set(ranges, isNegated: isNegated) }
      if low == UInt8(ascii: "\\") {
        guard let escaped = rest.popFirst() else { return nil }
        low = escaped
      }
      let after = rest.dropFirst()
      guard rest.first == UInt8(ascii: "-"), var high = after.first, high != UInt8(ascii: "]")
      else {
        ranges.append(low...low)
        continue
      }
      rest = after.dropFirst()
      if high == UInt8(ascii: "\\") {
        guard let escaped = rest.popFirst() else { return nil }
        high = escaped
      }
      guard low <= high else { return nil }
      ranges.append(low...high)
    }
    return nil
  }

  /// Whether the pattern matches a path below the root.
  ///
  /// The method keeps all places in the pattern that the bytes so far may have reached. So the time is at most the length
  /// of the path times the number of tokens, whatever the pattern is.
  func matches(_ relative: [UInt8], isDirectory: Bool) -> Bool {
    guard isDirectory || !matchesDirectoriesOnly else { return false }
    let slash = UInt8(ascii: "/")
    let name = isPath ? 0 : relative.lastIndex(of: slash).map { $0 + 1 } ?? 0
    var places = [Bool](repeating: false, count: tokens.count + 1)
    var next = places
    reach(0, &places)
    for byte in relative[name...] {
      for (place, token) in tokens.enumerated() where places[place] {
        switch token {
        case .byte(let expected): if byte == expected { reach(place + 1, &next) }
        case .any: if byte != slash { reach(place + 1, &next) }
        case .set(let ranges, let isNegated):
          if byte != slash, ranges.contains(where: { $0.contains(byte) }) != isNegated {
            reach(place + 1, &next)
          }
        case .star: if byte != slash { reach(place, &next) }
        case .starStar: reach(place, &next)
        case .directories:
          // The rest of the pattern applies only after a slash.
          next[place] = true
          if byte == slash { reach(place + 1, &next) }
        }
      }
      swap(&places, &next)
      for place in next.indices { next[place] = false }
    }
    return places[tokens.count]
  }

  /// Marks a place as reached, and the places after it that can be reached without another byte.
  private func reach(_ place: Int, _ places: inout [Bool]) {
    var place = place
    places[place] = true
    while place < tokens.count, [.star, .starStar].contains(tokens[place]) {
      place += 1
      places[place] = true
    }
    if place < tokens.count, tokens[place] == .directories, !places[place + 1] {
      reach(place + 1, &places)
    }
  }
}
