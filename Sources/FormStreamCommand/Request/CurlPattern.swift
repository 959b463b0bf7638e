import FormStreamPlatform

/// curl's patterns, which stand for several texts: `{a,b}`, `[1-9]`, `[001-100:2]` and `[a-z]`.
struct CurlPattern {
  /// One of the texts, with the choice that was taken at each place of the pattern.
  struct Match {
    let text: [UInt8]
    let choices: [[UInt8]]
  }

  /// What is wrong with a pattern.
  enum Fault: Error {
    case malformed, tooMany
    /// A number does not fit into an `Int`.
    case tooLarge
  }

  static let maximumCount = 10_000

  private var rest: ArraySlice<UInt8>
  private let isURL: Bool
  /// The text before each place of the pattern, and the choices at the place.
  private var places: [(before: [UInt8], choices: [[UInt8]])] = []
  private var end: [UInt8] = []

  /// The texts that a pattern stands for, in curl's order: the last place changes first.
  ///
  /// - Parameter isURL: whether the text is a URL, in which `[]` and addresses such as `[::1]` are not patterns.
  static func matches(of text: [UInt8], isURL: Bool) throws(Fault) -> [Match] {
    var pattern = CurlPattern(rest: text[...], isURL: isURL)
    try pattern.parse()
    var matches = [Match(text: [], choices: [])]
    for place in pattern.places {
      guard matches.count * place.choices.count <= maximumCount else { throw .tooMany }
      matches = matches.flatMap { match in
        place.choices.map {
          Match(text: match.text + place.before + $0, choices: match.choices + [$0])
        }
      }
    }
    return matches.map { Match(text: $0.text + pattern.end, choices: $0.choices) }
  }

  private init(rest: ArraySlice<UInt8>, isURL: Bool) {
    (self.rest, self.isURL) = (rest, isURL)
  }

  private mutating func parse() throws(Fault) {
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "[") where isURL && beginsAddress:
        end.append(byte)
        while let byte = rest.popFirst() {
          end.append(byte)
          if byte == UInt8(ascii: "]") { break }
        }
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        guard let choices = byte == UInt8(ascii: "{") ? set() : try range() else {
          throw .malformed
        }
        places.append((end, choices))
        end = []
      case UInt8(ascii: "}"), UInt8(ascii: "]"): throw .malformed
      case UInt8(ascii: "\\") where rest.first.map("[]{}".utf8.contains) ?? false:
        end.append(rest.removeFirst())
      default: end.append(byte)
      }
    }
  }

  /// Whether an IPv6 address follows, or the closing bracket of `[]`. RFC 6874: a zone begins with `%25`; curl also
  /// accepts `%` alone.
  private var beginsAddress: Bool {
    let text = rest.prefix { $0 != UInt8(ascii: "]") }
    guard text.count < rest.count else { return false }
    let address = text.prefix { $0 != UInt8(ascii: "%") }
    return text.isEmpty || isAddress("[\(String(decoding: address, as: UTF8.self))]")
  }

  /// Reads a list of texts up to the closing brace. Nil if it is not a list.
  private mutating func set() -> [[UInt8]]? {
    var texts: [[UInt8]] = [[]]
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "}"): return texts == [[]] ? nil : texts
      // A quote is a sign of JSON, which curl would send without its braces, or in pieces.
      case UInt8(ascii: "\"") where isURL: return nil
      case UInt8(ascii: ","): texts.append([])
      case UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: "]"): return nil
      case UInt8(ascii: "\\") where !rest.isEmpty: texts[texts.count - 1].append(rest.removeFirst())
      default: texts[texts.count - 1].append(byte)
      }
    }
    return nil
  }

  /// Reads `1-9`, `001-100:2` or `a-z`, up to the closing bracket. Nil if the text is not a range.
  private mutating func range() throws(Fault) -> [[UInt8]]? {
    let text = rest.prefix { $0 != UInt8(ascii: "]") }
    guard text.count < rest.count else { return nil }
    rest = rest.dropFirst(text.count + 1)
    let words = text.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
    let ends = words[0].split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
    let step = words.count == 2 ? Self.number(words[1]) : 1
    guard words.count <= 2, ends.count == 2, let step, step > 0 else { return nil }
    if ends[0].count == 1, ends[1].count == 1, let first = ends[0].first, let last = ends[1].first,
      first.isASCIILetterOrDigit, !(0x30...0x39).contains(first)
    {
      // Letters of one case are less than 26 apart.
      guard last.isASCIILetterOrDigit, first <= last, last - first < 26,
        step <= max(Int(last - first), 1)
      else { return nil }
      return stride(from: Int(first), through: Int(last), by: step).map { [UInt8($0)] }
    }
    guard ends.allSatisfy({ !$0.isEmpty && $0.allSatisfy { (0x30...0x39).contains($0) } }) else {
      return nil
    }
    guard let first = Self.number(ends[0]), let last = Self.number(ends[1]) else { throw .tooLarge }
    guard first <= last, step <= max(last - first, 1) else { return nil }
    guard (last - first) / step < Self.maximumCount else { throw .tooMany }
    let width = ends[0].first == UInt8(ascii: "0") ? ends[0].count : 0
    // No number is larger than `last`, so the sum can't overflow.
    return (0...(last - first) / step).map { index in
      let digits = Array("\(first + index * step)".utf8)
      return Array(repeating: UInt8(ascii: "0"), count: max(0, width - digits.count)) + digits
    }
  }

  private static func number(_ text: ArraySlice<UInt8>) -> Int? {
    guard !text.isEmpty, text.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    return Int(String(decoding: text, as: UTF8.self))
  }
}

extension CurlPattern {
  /// The URLs that a word stands for.
  static func urls(_ word: Argument, isGlobbingOff: Bool) throws(Failure) -> [Match] {
    if isGlobbingOff { return [Match(text: word.bytes, choices: [])] }
    do throws(Fault) {
      return try matches(of: word.bytes, isURL: true)
    } catch {
      let (reason, remedy) =
        switch error {
        case .malformed: ("has a [ ] { or } that is no pattern", "write {a,b}, [1-9] or [a-z]")
        case .tooMany: ("stands for more than \(maximumCount) URLs", "take a smaller range")
        case .tooLarge: ("has a range with a number that is too large", "take a smaller range")
        }
      throw .usage(
        "\(word.named("The URL")) \(reason): \(remedy), or -g, which takes [ ] { } as they are.")
    }
  }

  /// The files that a value of `-T` stands for.
  static func files(_ upload: Argument, isGlobbingOff: Bool) throws(Failure) -> [Argument] {
    guard !isGlobbingOff, upload.bytes.contains(where: "[{".utf8.contains), !exists(upload.path)
    else { return [upload] }
    do throws(Fault) {
      return try matches(of: upload.bytes, isURL: false)
        .map { Argument(bytes: $0.text, from: upload) }
    } catch {
      let (reason, remedy) =
        switch error {
        case .malformed:
          (
            "names no file that exists, and is no pattern",
            "write {a,b}, [1-9] or [a-z]; -g takes [ ] { } as they are"
          )
        case .tooMany: ("stands for more than \(maximumCount) files", "send sends any number")
        case .tooLarge:
          ("has a range with a number that is too large", "-g takes [ ] { } as they are")
        }
      throw .usage("\(upload.named("-T")) \(reason): \(remedy).")
    }
  }
}
