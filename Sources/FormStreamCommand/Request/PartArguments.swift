import FormStreamMultipart
import FormStreamPlatform

/// A part as it was typed.
struct PartArguments {
  enum Content {
    case value(Argument)
    /// A path, or - for standard input. Its last component is the file name.
    case file(Argument)
    /// A path, or - for standard input, whose contents are the value of a text field.
    case contents(Argument)
    /// Parts of its own, which are `children`: a list of files after `@`, or the parts between `=(` and `=)`.
    case parts
  }

  let name: String
  let content: Content
  /// The flag that added the part, for messages.
  let spelling: String
  var type: String?
  var filename: String?
  var range: FileRange?
  /// Header lines, `Name: value`.
  var headers: [String] = []
  /// Whether the part is in a list of files. Such a part has no name: only the list has one.
  var isListed = false
  /// Files of header lines.
  var headerFiles: [Argument] = []
  /// The parts in this part, if its content is `.parts`.
  var children: [PartArguments] = []

  var path: Argument? {
    switch content {
    case .value, .parts: nil
    case .file(let path), .contents(let path): path
    }
  }

  var isStandardInput: Bool { path?.isDash ?? false }

  /// The part itself; or, if it has parts of its own, the leaves of those parts.
  var leaves: [PartArguments] {
    if case .parts = content { children.flatMap(\.leaves) } else { [self] }
  }

  /// The part itself and all parts in it.
  var withDescendants: [PartArguments] { [self] + children.flatMap(\.withDescendants) }

  /// Splits a flag's value at the first `=` into the part's name and its content.
  static func split(
    _ argument: Argument, of flag: String, as form: String
  ) throws(Failure) -> (name: String, content: Argument) {
    guard let (name, content) = argument.splitAtEquals() else {
      throw .usage(
        "\(argument.named(flag)) has no = in it: write \(argument.flag ?? flag) \(form).")
    }
    return (try name.text(for: flag), content)
  }

  /// Reads `OFF:LEN`, or `OFF:` for everything from the offset to the end.
  static func range(_ argument: Argument) throws(Failure) -> FileRange {
    let ends = argument.shown.split(separator: ":", omittingEmptySubsequences: false)
    guard ends.count == 2, let offset = number(ends[0]) else { throw badRange(argument) }
    if ends[1].isEmpty { return FileRange(offset: offset) }
    guard let length = number(ends[1]) else { throw badRange(argument) }
    return FileRange(offset: offset, length: length)
  }

  private static func number(_ text: Substring) -> Int64? {
    text.isASCIIDigits ? Int64(text) : nil
  }

  private static func badRange(_ argument: Argument) -> Failure {
    .usage(
      "\(argument.named("--range")) is not a range: write OFF:LEN in bytes, such as 0:1024, or OFF: for "
        + "everything from there on.")
  }
}
