import FormStreamMultipart

/// One argument as it was typed, byte for byte.
public struct Argument: Hashable, Sendable {
  let bytes: [UInt8]

  /// Takes an argument's bytes.
  public init(bytes: some Sequence<CChar>) {
    self.bytes = bytes.map(UInt8.init(bitPattern:))
  }

  init(bytes: some Sequence<UInt8>) {
    self.bytes = Array(bytes)
  }

  init(_ text: String) {
    bytes = Array(text.utf8)
  }

  /// The argument as text, or nil where it is not UTF-8.
  var text: String? { String(validating: bytes, as: UTF8.self) }

  /// The argument as text, for a message: repaired where it is not UTF-8.
  var shown: String { String(decoding: bytes, as: UTF8.self) }

  var path: LocalPath { LocalPath(bytes: bytes) }

  /// The argument as text that goes into a header or is looked up.
  func text(for flag: String) throws(Failure) -> String {
    guard let text else {
      throw .usage(
        "The value of \(flag), \"\(shown)\", is not UTF-8: convert it, for example with iconv.")
    }
    return text
  }

  /// What stands before and behind the first `=`.
  func splitAtEquals() -> (name: Argument, value: Argument)? {
    guard let place = bytes.firstIndex(of: UInt8(ascii: "=")) else { return nil }
    return (Argument(bytes: bytes[..<place]), Argument(bytes: bytes[(place + 1)...]))
  }

  /// The one of all that is called so.
  func choice<Choice: CustomStringConvertible>(
    for flag: String, _ kind: String, among all: [Choice]
  ) throws(Failure) -> Choice {
    if let choice = all.first(where: { $0.description == text }) { return choice }
    let known = all.map(\.description)
    throw .usage(
      "\(flag) \"\(shown)\" is not a \(kind): choose one of \(known.joined(separator: ", "))."
        + Suggestion.text(for: shown, among: known))
  }
}
