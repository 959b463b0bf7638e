extension Unicode.Scalar {
  /// Whether the scalar may be shown and stored as it is. What would move a terminal's cursor, change its
  /// colours, end a line (U+0085, U+2028 and U+2029 do for some readers), turn the direction of writing
  /// or hide is not.
  package var isSafeToDisplay: Bool {
    if isASCII { return value >= 0x20 && value != 0x7F }
    switch properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator: return false
    // Joiners build emoji and letters, variation selectors too; all else of the kind is invisible, or
    // turns the direction.
    case .format: return value == 0x200C || value == 0x200D
    default: return !properties.isDefaultIgnorableCodePoint || properties.isVariationSelector
    }
  }

  /// The scalar as ASCII, such as `\u{1B}`: for those that are not harmless.
  package var escaped: String { "\\u{\(String(value, radix: 16, uppercase: true))}" }
}
