/// How many columns some text takes on a terminal: two for wide characters such as CJK and emoji, none for
/// combining marks.
///
/// If terminals differ, as for joined emoji, this is the largest width: a line that is a little short does no
/// harm, but a line that wraps can't be redrawn.
package func columns(of text: some StringProtocol) -> Int {
  text.unicodeScalars.reduce(0) { $0 + $1.columns }
}

extension Unicode.Scalar {
  /// UAX #11: "Wide (W): all other characters that are always wide"; they and Fullwidth (F) take two columns. The
  /// tests compare this with Python's tables.
  fileprivate var columns: Int {
    if value < 0x300 { return 1 }
    // A variation selector makes some narrow symbols wide.
    if properties.isVariationSelector { return 1 }
    switch properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format: return 0
    default: return isWide ? 2 : 1
    }
  }

  private var isWide: Bool {
    switch value {
    case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x4DBF, 0x4E00...0xA4CF, 0xA960...0xA97F,
      0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6F, 0xFF01...0xFF60,
      0xFFE0...0xFFE6, 0x16FE0...0x18DFF, 0x1AFF0...0x1B2FF, 0x1F200...0x1F64F,
      0x1F680...0x1FAFF, 0x20000...0x3FFFD:
      true
    default: properties.isEmojiPresentation || value == 0x2329 || value == 0x232A
    }
  }
}
