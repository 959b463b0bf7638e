import FormStreamMultipart

/// A file of header lines, named by `;headers=@PATH`, with one header on each line. A line that begins with `#` is a
/// comment. A line that begins with a blank continues the line before it, and the blank is kept.
enum HeaderFile {
  /// A larger file is a mistake.
  private static let maximumSize = 64 * 1024

  static func lines(of file: Argument) throws(Failure) -> [String] {
    let contents = try readSmallFile(file.path, for: "headers=", limit: maximumSize)
    guard let text = String(validating: contents, as: UTF8.self) else {
      throw .usage(
        "The header file \"\(file.shown)\" is not UTF-8: convert it, for example with iconv.")
    }
    var lines: [String] = []
    var canContinue = false
    for line in text.utf8.split(separator: 0x0A, omittingEmptySubsequences: false) {
      let end = line.lastIndex { $0 != 0x0D && !$0.isBlank }
      guard let end, let first = line.first, first != UInt8(ascii: "#") else {
        canContinue = false
        continue
      }
      let text = String(Substring(line[...end]))
      if !first.isBlank {
        lines.append(text)
      } else if canContinue {
        lines[lines.count - 1] += text
      } else {
        throw .usage(
          "A line of the header file \"\(file.shown)\" begins with a blank, and there is no line before it to "
            + "continue.")
      }
      canContinue = true
    }
    return lines
  }
}
