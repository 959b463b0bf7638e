extension Unicode.Scalar {
  /// Whether the scalar can be displayed and stored unchanged.
  ///
  /// It can't if it moves a terminal's cursor, changes colors, ends a line (some programs treat U+0085, U+2028 and
  /// U+2029 as line ends), changes the writing direction, or is invisible.
  package var isSafeToDisplay: Bool {
    if isASCII { return value >= 0x20 && value != 0x7F }
    switch properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator: return false
    // Emoji and letters are built with joiners and variation selectors. The other scalars of these
    // kinds are invisible or change the writing direction.
    case .format: return value == 0x200C || value == 0x200D
    default: return !properties.isDefaultIgnorableCodePoint || properties.isVariationSelector
    }
  }

  /// The scalar as an ASCII escape, such as `\u{1B}`.
  package var escaped: String { "\\u{\(String(value, radix: 16, uppercase: true))}" }
}
