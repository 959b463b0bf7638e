import FormStreamMultipart
package import FormStreamRecords

extension UploadPage {
  /// What a browser without the script is shown: what arrived, or why nothing is kept.
  package static func answer(parts: [ParsedPartRecord], failure: RecordFailure?) -> String {
    let isEmpty = !parts.isEmpty && parts.allSatisfy(isNoFile)
    let title =
      failure != nil ? "Nothing was stored" : isEmpty ? "No file was chosen" : "All has arrived"
    let told = failure.map { "<p class=\"bad\">\(escaped($0.message))</p>\n" } ?? ""
    let list =
      parts.isEmpty || isEmpty && failure == nil
      ? "" : "<ul role=\"list\">\n\(parts.map(row).joined())</ul>\n"
    return page(
      title: title,
      "<h1>\(title)</h1>\n\(told)\(list)<p><a href=\"/\">Send \(isEmpty ? "" : "more ")files</a></p>"
    )
  }

  /// HTML, §4.10.21.4: a form with no file chosen has one without a name and without bytes.
  private static func isNoFile(_ part: ParsedPartRecord) -> Bool {
    part.filename == "" && part.size == 0
  }

  private static func row(of part: ParsedPartRecord) -> String {
    let name = [part.filename, part.name].compactMap { $0 }.first { !$0.isEmpty } ?? "(no name)"
    var told = bytes(part.size)
    if isNoFile(part) {
      told = "No file was chosen"
    } else if let storedAs = part.storedAs {
      told = "Stored as <bdi>\(escaped(storedAs))</bdi>, \(told)"
    } else if let value = part.value.flatMap({ String(validating: $0, as: UTF8.self) }) {
      // A value that is long is in the record that scripts get.
      let shown = value.unicodeScalars.prefix(200)
      let rest = shown.endIndex == value.endIndex ? "" : " …"
      told = "<bdi>\(escaped(String(shown)))\(rest)</bdi>, \(told)"
    } else {
      told += ", not stored"
    }
    let digest = part.sha256.map { "<code>SHA-256 \($0)</code>" } ?? ""
    let kind = part.storedAs == nil ? "" : " class=\"arrived\""
    return "<li\(kind)><p><bdi>\(escaped(name))</bdi></p><p>\(told)</p>\(digest)</li>\n"
  }

  /// A count for people, in groups of three.
  private static func bytes(_ count: Int64) -> String {
    var digits = ""
    for (place, digit) in String(count).reversed().enumerated() {
      if place > 0, place % 3 == 0 { digits.append(",") }
      digits.append(digit)
    }
    return String(digits.reversed()) + (count == 1 ? " byte" : " bytes")
  }

  /// Text from outside as text of the page, and in no case as more. What hides or turns the direction of
  /// writing is spelled out, as on a terminal.
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
