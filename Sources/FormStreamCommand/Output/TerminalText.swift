/// Text that is safe on a terminal: what would move the cursor, change its colours, turn the direction
/// of writing or hide is spelled out, such as `\u{1B}`. All text for people goes through here.
func visible(_ text: String) -> String {
  var result = ""
  result.reserveCapacity(text.utf8.count)
  for scalar in text.unicodeScalars {
    if isHarmless(scalar) {
      result.unicodeScalars.append(scalar)
    } else {
      result += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
    }
  }
  return result
}

private func isHarmless(_ scalar: Unicode.Scalar) -> Bool {
  if scalar.isASCII { return scalar.value >= 0x20 && scalar.value != 0x7F }
  let properties = scalar.properties
  switch properties.generalCategory {
  case .control, .lineSeparator, .paragraphSeparator: return false
  // Joiners and variation selectors build emoji and letters; all else of the kind is invisible, or
  // turns the direction.
  case .format: return scalar.value == 0x200C || scalar.value == 0x200D
  default: return !properties.isDefaultIgnorableCodePoint || properties.isVariationSelector
  }
}
