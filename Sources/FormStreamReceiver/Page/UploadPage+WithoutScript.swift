package import FormStreamIntake
import FormStreamPlatform

extension UploadPage {
  /// The page that a browser without JavaScript shows after an upload: a list of what arrived, or the reason why nothing
  /// was kept.
  package static func response(
    parts: [ReceivedPart], failure: ReceivedForm.Failure?
  ) -> String {
    let isEmpty = !parts.isEmpty && parts.allSatisfy(isUnusedFileField)
    let title =
      failure == nil
      ? isEmpty ? "No file was chosen" : "Upload complete"
      // Even after a failure, files that had replaced others stay stored.
      : parts.contains { $0.storedAs != nil } ? "Not everything was stored" : "Nothing was stored"
    let message = failure.map { "<p class=\"bad\">\(escaped($0.message))</p>\n" } ?? ""
    let list =
      parts.isEmpty || isEmpty && failure == nil
      ? "" : "<ul role=\"list\">\n\(parts.map(row).joined())</ul>\n"
    let link = "<p><a href=\"/\">Send \(isEmpty ? "" : "more ")files</a></p>"
    return page(title: title, main: "<h1>\(title)</h1>\n\(message)\(list)\(link)\n")
  }

  /// HTML §4.10.21.4: if no file was chosen, the part has an empty file name and no bytes.
  private static func isUnusedFileField(_ part: ReceivedPart) -> Bool {
    part.filename == "" && part.size == 0
  }

  private static func row(of part: ReceivedPart) -> String {
    let name = [part.filename, part.name].compactMap { $0 }.first { !$0.isEmpty } ?? "(no name)"
    var details = byteCount(part.size)
    if isUnusedFileField(part) {
      details = "No file was chosen"
    } else if let storedAs = part.storedAs {
      details = "Stored as <bdi>\(escaped(storedAs))</bdi>, \(details)"
    } else if let value = part.value.flatMap({ String(validating: $0, as: UTF8.self) }) {
      // The complete value of a long field is in the record that scripts receive.
      let shown = value.unicodeScalars.prefix(200)
      let rest = shown.endIndex == value.endIndex ? "" : " …"
      details = "<bdi>\(escaped(String(shown)))\(rest)</bdi>, \(details)"
    } else {
      details += ", not stored"
    }
    let digest = part.sha256.map { "<code>SHA-256 \($0)</code>" } ?? ""
    let attributes = part.storedAs == nil ? "" : " class=\"arrived\""
    return
      "<li\(attributes)><p><bdi>\(escaped(name))</bdi></p><p>\(details)</p>\(digest)</li>\n"
  }

  /// A number of bytes for people, with the digits in groups of three.
  static func byteCount(_ count: Int64) -> String {
    var digits = ""
    for (index, digit) in String(count).reversed().enumerated() {
      if index > 0, index % 3 == 0 { digits.append(",") }
      digits.append(digit)
    }
    return String(digits.reversed()) + (count == 1 ? " byte" : " bytes")
  }

  /// Escapes text from a client, so that it can't contain markup. Characters that are invisible or change the direction
  /// of writing are shown as escapes, as on a terminal.
  static func escaped(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      case "'": result += "&#39;"
      case _ where scalar.isSafeToDisplay: result.unicodeScalars.append(scalar)
      default: result += scalar.escaped
      }
    }
    return result
  }
}
