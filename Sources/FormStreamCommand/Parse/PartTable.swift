import FormStreamIntake
import FormStreamPlatform

/// The parts of a form as a table for people.
enum PartTable {
  private static let maximumWidth = 40

  static func text(of form: ReceivedForm) -> String {
    var rows = [["#", "name", "file name", "type", "bytes", "content"]]
    for part in form.parts {
      rows.append([
        "\(part.index + 1)", part.name ?? "", part.filename ?? "", part.contentType ?? "",
        "\(part.size)", content(of: part),
      ])
    }
    rows = rows.map { $0.map { visible($0, upTo: maximumWidth) } }
    var text = rows.count > 1 ? TextTable.text(of: rows, numeric: [0, 4]) : ""
    if form.isComplete {
      let count = form.parts.count
      let parts = count == 0 ? "no parts" : count == 1 ? "1 part" : "\(count) parts"
      text += "The form is complete: \(parts), \(counted(form.bodyBytes, "byte", "bytes")).\n"
    }
    return text
  }

  private static func content(of part: ReceivedPart) -> String {
    if let name = part.storedAs { return "stored as \(name)" }
    return part.value.map { textPrefix(of: $0, upTo: maximumWidth) } ?? ""
  }
}
