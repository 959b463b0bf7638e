import FormStreamPlatform

/// curl's patterns in the value of `-T`, which stand for several names: `{a,b}`, `[1-9]`, `[001-100:2]` and `[a-z]`.
struct UploadPattern {
  /// More files are the business of `send`.
  private static let maximumCount = 10_000

  private let argument: Argument
  private var rest: ArraySlice<UInt8>
  /// What stands at each place, in order: one text, or several.
  private var places: [[[UInt8]]] = []

  /// The names that a value stands for, in curl's order: the last place changes first.
  static func names(in argument: Argument) throws(Failure) -> [Argument] {
    guard argument.bytes.contains(where: "[{".utf8.contains), !exists(argument.path) else {
      return [argument]
    }
    var pattern = UploadPattern(argument: argument, rest: argument.bytes[...])
    try pattern.parse()
    var names: [[UInt8]] = [[]]
    for place in pattern.places {
      guard names.count * place.count <= maximumCount else {
        throw pattern.failure("stands for more than \(maximumCount) files", "send sends any number")
      }
      names = names.flatMap { name in place.map { name + $0 } }
    }
    return names.map { Argument(bytes: $0, place: argument.place) }
  }

  private init(argument: Argument, rest: ArraySlice<UInt8>) {
    (self.argument, self.rest) = (argument, rest)
  }

  private mutating func parse() throws(Failure) {
    var literal: [UInt8] = []
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        places.append([literal])
        literal = []
        places.append(byte == UInt8(ascii: "{") ? try set() : try range())
      case UInt8(ascii: "}"), UInt8(ascii: "]"): throw malformed
      case UInt8(ascii: "\\") where rest.first.map("[]{}".utf8.contains) ?? false:
        literal.append(rest.removeFirst())
      default: literal.append(byte)
      }
    }
    places.append([literal])
  }

  /// Reads a list of texts up to the closing brace.
  private mutating func set() throws(Failure) -> [[UInt8]] {
    var texts: [[UInt8]] = [[]]
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "}"):
        guard texts != [[]] else { throw malformed }
        return texts
      case UInt8(ascii: ","): texts.append([])
      case UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: "]"): throw malformed
      case UInt8(ascii: "\\") where !rest.isEmpty: texts[texts.count - 1].append(rest.removeFirst())
      default: texts[texts.count - 1].append(byte)
      }
    }
    throw malformed
  }

  /// Reads `1-9`, `001-100:2` or `a-z`, up to the closing bracket.
  private mutating func range() throws(Failure) -> [[UInt8]] {
    let text = rest.prefix { $0 != UInt8(ascii: "]") }
    guard text.count < rest.count else { throw malformed }
    rest = rest.dropFirst(text.count + 1)
    let words = text.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
    let ends = words[0].split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
    let step = words.count == 2 ? Self.number(words[1]) : 1
    guard words.count <= 2, ends.count == 2, let step, step > 0 else { throw malformed }
    if ends[0].count == 1, ends[1].count == 1, let first = ends[0].first, let last = ends[1].first,
      first.isASCIILetterOrDigit, !(0x30...0x39).contains(first)
    {
      // Both are letters of one case, or what is between them is no letter.
      guard last.isASCIILetterOrDigit, first <= last, last - first < 26 else { throw malformed }
      return stride(from: Int(first), through: Int(last), by: step).map { [UInt8($0)] }
    }
    guard let first = Self.number(ends[0]), let last = Self.number(ends[1]), first <= last else {
      throw malformed
    }
    guard (last - first) / step < Self.maximumCount else {
      throw failure("stands for more than \(Self.maximumCount) files", "send sends any number")
    }
    let width = ends[0].first == UInt8(ascii: "0") ? ends[0].count : 0
    return stride(from: first, through: last, by: step).map { number in
      let digits = Array("\(number)".utf8)
      return Array(repeating: UInt8(ascii: "0"), count: max(0, width - digits.count)) + digits
    }
  }

  private static func number(_ text: ArraySlice<UInt8>) -> Int? {
    guard text.count < 10, text.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    return Int(String(decoding: text, as: UTF8.self))
  }

  private var malformed: Failure {
    failure(
      "names no file that exists, and is no pattern",
      "write {a,b}, [1-9] or [a-z]; -g takes [ ] { } as they are")
  }

  private func failure(_ reason: String, _ remedy: String) -> Failure {
    .usage("\(argument.named("-T")) \(reason): \(remedy).")
  }
}
