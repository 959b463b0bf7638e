import FormStreamMultipart

/// Text that is safe on a terminal: what is not harmless is spelled out, such as `\u{1B}`. All text for
/// people goes through here.
func visible(_ text: String) -> String {
  var result = ""
  result.reserveCapacity(text.utf8.count)
  for scalar in text.unicodeScalars {
    if scalar.isSafeToDisplay {
      result.unicodeScalars.append(scalar)
    } else {
      result += scalar.escaped
    }
  }
  return result
}

/// The same of a text of any length: where it takes more columns than so, the end is an ellipsis.
func visible(_ text: some StringProtocol, upTo width: Int) -> String {
  // What people see as one character may be made of any number of these.
  let scalars = text.unicodeScalars.prefix(4 * width)
  let isWhole = scalars.endIndex == text.unicodeScalars.endIndex
  let shown = visible(String(String.UnicodeScalarView(scalars)))
  return isWhole && shown.count <= width ? shown : shown.prefix(width - 1) + "…"
}

/// The beginning of bytes as text, repaired where it is not UTF-8: of no less than `visible(_:upTo:)` shows, and
/// more where there is more.
func beginning(of bytes: [UInt8], upTo width: Int) -> String {
  // A scalar has at most four bytes.
  String(decoding: bytes.prefix(4 * (4 * width + 1)), as: UTF8.self)
}
