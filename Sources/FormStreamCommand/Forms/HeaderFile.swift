import FormStreamMultipart

/// A file of header lines, as `;headers=@PATH` names it: one a line, `#` begins a comment, and a line
/// that begins with a blank goes on with the one before, blank and all.
enum HeaderFile {
  /// More is not a part's headers.
  private static let maximumSize = 64 * 1024

  static func lines(of file: Argument) throws(Failure) -> [String] {
    let contents = try readSmallFile(file.path, for: "headers=", limit: maximumSize)
    guard let text = String(validating: contents, as: UTF8.self) else {
      throw .usage(
        "The header file \"\(file.shown)\" is not UTF-8: convert it, for example with iconv.")
    }
    var lines: [String] = []
    var goesOn = false
    for line in text.utf8.split(separator: 0x0A, omittingEmptySubsequences: false) {
      let end = line.lastIndex { $0 != 0x0D && !$0.isBlank }
      guard let end, let first = line.first, first != UInt8(ascii: "#") else {
        goesOn = false
        continue
      }
      let text = String(Substring(line[...end]))
      if !first.isBlank {
        lines.append(text)
      } else if goesOn {
        lines[lines.count - 1] += text
      } else {
        throw .usage(
          "The header file \"\(file.shown)\" has a line that begins with a blank, \"\(text)\", and none "
            + "before it to go on with.")
      }
      goesOn = true
    }
    return lines
  }
}
