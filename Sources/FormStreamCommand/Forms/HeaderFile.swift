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
    for var line in text.utf8.split(separator: UInt8(ascii: "\n")).map({ Substring($0) }) {
      while let last = line.utf8.last, last == 0x0D || isBlank(last) {
        line.unicodeScalars.removeLast()
      }
      guard let first = line.utf8.first, first != UInt8(ascii: "#") else { continue }
      if isBlank(first) {
        guard !lines.isEmpty else {
          throw .usage(
            "The header file \"\(file.shown)\" begins with a blank: there is no line to go on with."
          )
        }
        lines[lines.count - 1] += line
      } else {
        lines.append(String(line))
      }
    }
    return lines
  }

  private static func isBlank(_ byte: UInt8) -> Bool {
    byte == 0x20 || byte == 0x09
  }
}
