import FormStreamPlatform

/// Text that is safe on a terminal: control characters, and characters that hide or reverse text, are spelled out, such
/// as `\u{1B}`. All text for people passes through here.
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

/// Text that is safe on a terminal and takes at most `limit` columns there. Text that is cut ends in `…`.
package func visible(_ text: some StringProtocol, upTo limit: Int) -> String {
  guard limit > 0 else { return "" }
  // One character on the screen may consist of any number of scalars.
  let scalars = text.unicodeScalars.prefix(4 * limit)
  let isComplete = scalars.endIndex == text.unicodeScalars.endIndex
  let shown = visible(String(String.UnicodeScalarView(scalars)))
  if isComplete, columns(of: shown) <= limit { return shown }
  var (result, width) = ("", 1)
  for character in shown {
    width += columns(of: String(character))
    guard width <= limit else { break }
    result.append(character)
  }
  return result + "…"
}

/// The end of some text, safe on a terminal and in at most `limit` columns. Text that is cut begins with `…`. The end of a path
/// says more than its start.
package func visible(endOf text: String, upTo limit: Int) -> String {
  guard limit > 0 else { return "" }
  let scalars = text.unicodeScalars.suffix(4 * limit)
  let isComplete = scalars.startIndex == text.unicodeScalars.startIndex
  let shown = visible(String(String.UnicodeScalarView(scalars)))
  if isComplete, columns(of: shown) <= limit { return shown }
  var (kept, width) = ([Character](), 1)
  for character in shown.reversed() {
    width += columns(of: String(character))
    guard width <= limit else { break }
    kept.append(character)
  }
  return "…" + String(kept.reversed())
}

/// The start of some bytes as text, repaired if they are not UTF-8: long enough for `visible(_:upTo:)` to detect that there is
/// more text.
func textPrefix(of bytes: [UInt8], upTo limit: Int) -> String {
  // A scalar has at most four bytes.
  String(decoding: bytes.prefix(4 * (4 * limit + 1)), as: UTF8.self)
}
