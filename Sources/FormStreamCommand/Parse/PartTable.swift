import Records

/// What was found in a form, for people.
enum PartTable {
  private static let maximumWidth = 40
  /// What people see as one character may be made of any number of these.
  private static let maximumScalars = 4 * maximumWidth

  static func text(of record: ParsedRecord) -> String {
    var rows = [["#", "name", "file name", "type", "bytes", "content"]]
    for part in record.parts {
      rows.append([
        "\(part.index + 1)", part.name ?? "", part.filename ?? "", part.contentType ?? "",
        "\(part.size)", content(of: part),
      ])
    }
    rows = rows.map { $0.map(cell) }
    var text = rows.count > 1 ? TextTable.text(of: rows, numeric: [0, 4]) : ""
    if record.isComplete {
      let count = record.parts.count
      let parts = count == 0 ? "no parts" : count == 1 ? "1 part" : "\(count) parts"
      text += "The form is whole: \(parts), \(record.bodyBytes) bytes.\n"
    }
    return text
  }

  private static func content(of part: ParsedPartRecord) -> String {
    if let name = part.storedAs { return "stored as \(name)" }
    guard let value = part.value else { return "" }
    // A scalar has at most four bytes: of these there is one more than is shown, so that the cell tells
    // that it was cut.
    return String(decoding: value.prefix(4 * (maximumScalars + 1)), as: UTF8.self)
  }

  private static func cell(_ text: String) -> String {
    let scalars = text.unicodeScalars.prefix(maximumScalars)
    let isWhole = scalars.endIndex == text.unicodeScalars.endIndex
    let text = visible(String(scalars))
    return isWhole && text.count <= maximumWidth ? text : text.prefix(maximumWidth - 1) + "…"
  }
}
