extension UInt8 {
  /// Whether this is a space or a tab: RFC 9110 §5.6.3: OWS = *( SP / HTAB ).
  package var isBlank: Bool { self == 0x20 || self == 0x09 }
}

extension ArraySlice<UInt8> {
  /// These bytes without the blanks around them.
  func trimmingBlanks() -> ArraySlice<UInt8> {
    let start = drop(while: \.isBlank)
    guard let end = start.lastIndex(where: { !$0.isBlank }) else { return [] }
    return start[...end]
  }
}
