import FormStreamMultipart

/// A part as it was typed: what a form language makes of its text, before anything is looked at.
struct TypedPart {
  enum Content {
    case value(Argument)
    /// A path, or - for standard input; called by its own name.
    case file(Argument)
    /// A path, or - for standard input, whose contents are a text field's value.
    case contents(Argument)
  }

  let name: String
  let content: Content
  /// The flag that named the part, for messages.
  let spelling: String
  var type: String?
  var filename: String?
  var range: FileRange?
  /// Header lines, `Name: value`.
  var headers: [String] = []
  /// Files of header lines.
  var headerFiles: [Argument] = []

  static func split(
    _ argument: Argument, of flag: String, as form: String
  ) throws(Failure) -> (name: String, content: Argument) {
    guard let (name, content) = argument.splitAtEquals() else {
      throw .usage("\(flag) \"\(argument.shown)\" has no = in it: write \(flag) \(form).")
    }
    return (try name.text(for: flag), content)
  }

  /// `OFF:LEN`, or `OFF:` for all that follows.
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
      "--range \"\(argument.shown)\" is not a range: write OFF:LEN in bytes, such as 0:1024, or OFF: for "
        + "all from there on.")
  }
}
