import FormStreamMultipart

/// One argument as it was typed, byte for byte.
///
/// A message about a wrong argument names its flag and its place, and never the argument itself, because the argument may be
/// a secret. This applies to every flag: the user may have given a secret to the wrong flag.
public struct Argument: Hashable, Sendable {
  /// Where an argument was typed.
  enum Place: Hashable, Sendable, CustomStringConvertible {
    /// The number of a word of the command line, from 1.
    case word(Int)
    /// The number of a line of a configuration file, from 1.
    case line(Int, of: String)

    var description: String {
      switch self {
      case .word(let number): "argument \(number)"
      case .line(let number, let file): "line \(number) of \"\(file)\""
      }
    }
  }

  let bytes: [UInt8]
  /// Where the argument was typed; nil if it was not typed.
  var place: Place?
  /// The name of the flag whose value this is, as the flag was typed: people look for the name that they typed, not for
  /// another name of the flag.
  var flag: String?

  /// Makes an argument from the bytes of a C string.
  public init(bytes: some Sequence<CChar>) {
    self.bytes = bytes.map(UInt8.init(bitPattern:))
  }

  init(bytes: some Sequence<UInt8>, place: Place? = nil) {
    self.bytes = Array(bytes)
    self.place = place
  }

  /// Makes an argument from a part of another argument, or from the text that another argument stands for.
  init(bytes: some Sequence<UInt8>, from typed: Argument) {
    self.init(bytes: bytes, place: typed.place)
    flag = typed.flag
  }

  init(_ text: String) {
    bytes = Array(text.utf8)
  }

  /// Whether this is `-`, which stands for standard input or output.
  var isDash: Bool { bytes == [UInt8(ascii: "-")] }

  /// The argument as text; nil if it is not UTF-8.
  var text: String? { String(validating: bytes, as: UTF8.self) }

  /// The flag and the place of this value, for messages: `--retry (argument 3)`.
  ///
  /// - Parameter subject: what to call the argument if it is not the value of a flag that was typed.
  func named(_ subject: String) -> String {
    let name = flag ?? subject
    return place.map { "\(name) (\($0))" } ?? name
  }

  /// The argument as text, repaired if it is not UTF-8. Messages may show the text only if the argument is the name of
  /// a file.
  var shown: String { String(decoding: bytes, as: UTF8.self) }

  var path: LocalPath { LocalPath(bytes: bytes) }

  /// The argument as text; throws if it is not UTF-8.
  func text(for flag: String) throws(Failure) -> String {
    guard let text else {
      throw .usage("\(named(flag)) is not UTF-8: convert it, for example with iconv.")
    }
    return text
  }

  /// The text before and after the first `=`; nil if there is none.
  func splitAtEquals() -> (name: Argument, value: Argument)? {
    guard let separator = bytes.firstIndex(of: UInt8(ascii: "=")) else { return nil }
    return (
      Argument(bytes: bytes[..<separator], from: self),
      Argument(bytes: bytes[(separator + 1)...], from: self)
    )
  }

  /// The choice whose description is this argument.
  ///
  /// - Parameter kind: what a choice is, such as "policy".
  func choice<Choice: CustomStringConvertible>(
    for flag: String, _ kind: String, among all: [Choice]
  ) throws(Failure) -> Choice {
    if let choice = all.first(where: { $0.description == text }) { return choice }
    let known = all.map(\.description)
    throw .usage(
      "\(named(flag)) is not a \(kind): choose one of \(known.joined(separator: ", "))."
        + Suggestion.text(for: shown, among: known))
  }

  /// The argument as a number from 0 to `limit`.
  func count(for flag: String, upTo limit: Int) throws(Failure) -> Int {
    guard let text, text.isASCIIDigits, let count = Int(text), count <= limit else {
      throw .usage("\(named(flag)) is not a number from 0 to \(limit).")
    }
    return count
  }

  /// The argument as seconds, such as `2` or `0.5`.
  func seconds(for flag: String) throws(Failure) -> Duration {
    let longest = 1_000_000_000.0
    let isPlain = bytes.allSatisfy { $0.isASCIIDigit || $0 == UInt8(ascii: ".") }
    guard isPlain, let text, let seconds = Double(text), seconds <= longest else {
      throw .usage("\(named(flag)) is not a time: write seconds, such as 30 or 0.5.")
    }
    return .milliseconds(Int64((seconds * 1000).rounded(.up)))
  }
}

extension Int64 {
  /// Reads a number with or without a unit, such as `100` or `64K`; nil if the text is not a number, or the number is
  /// too large.
  init?(size text: String) {
    let shift =
      switch text.last {
      case "K", "k": 10
      case "M", "m": 20
      case "G", "g": 30
      case "T", "t": 40
      default: 0
      }
    let digits = text.dropLast(shift > 0 ? 1 : 0)
    guard digits.isASCIIDigits, let number = Int64(digits) else { return nil }
    let (size, overflow) = number.multipliedReportingOverflow(by: 1 << shift)
    guard !overflow else { return nil }
    self = size
  }
}
