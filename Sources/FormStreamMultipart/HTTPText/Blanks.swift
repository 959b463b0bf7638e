extension UInt8 {
  /// Whether this is a space or a tab. RFC 9110 §5.6.3: OWS = *( SP / HTAB ).
  @inlinable
  package var isBlank: Bool { self == 0x20 || self == 0x09 }
}

extension BidirectionalCollection<UInt8> {
  /// These bytes without the blanks at both ends.
  @inlinable
  package func trimmingBlanks() -> SubSequence {
    let start = drop(while: \.isBlank)
    guard let end = start.lastIndex(where: { !$0.isBlank }) else { return start }
    return start[...end]
  }
}

extension StringProtocol where SubSequence == Substring {
  /// This text without the blanks at both ends.
  ///
  /// This compares bytes, because a space and the combining mark after it are one `Character`,
  /// which is not a blank.
  package func trimmingBlanks() -> Substring {
    let bytes = self[...].utf8.trimmingBlanks()
    return Substring(bytes)
  }
}

extension ArraySlice<UInt8> {
  /// Removes the blanks at the start.
  mutating func removeLeadingBlanks() {
    self = drop(while: \.isBlank)
  }
}
