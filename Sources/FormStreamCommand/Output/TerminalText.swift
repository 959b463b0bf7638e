import Multipart

/// Text that is safe on a terminal: what is not harmless is spelled out, such as `\u{1B}`. All text for
/// people goes through here.
func visible(_ text: String) -> String {
  var result = ""
  result.reserveCapacity(text.utf8.count)
  for scalar in text.unicodeScalars {
    if scalar.isHarmless {
      result.unicodeScalars.append(scalar)
    } else {
      result += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
    }
  }
  return result
}
