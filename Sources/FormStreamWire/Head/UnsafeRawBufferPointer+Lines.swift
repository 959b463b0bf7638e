extension UnsafeRawBufferPointer {
  /// The index of the first CR, LF or NUL from `start` on; `count` if there is none.
  ///
  /// Eight bytes are looked at together, because most bytes of a head are none of these.
  func firstLineBreakOrNUL(from start: Int) -> Int {
    var index = start
    while count - index >= 8 {
      let word = UInt64(littleEndian: loadUnaligned(fromByteOffset: index, as: UInt64.self))
      // The highest bit of each byte that is less than 14. The lowest such bit is exact: a borrow only spreads upwards.
      let low = (word &- 0x0E0E_0E0E_0E0E_0E0E) & ~word & 0x8080_8080_8080_8080
      guard low != 0 else {
        index += 8
        continue
      }
      index += low.trailingZeroBitCount / 8
      if self[index].endsLineOrIsNUL { return index }
      index += 1
    }
    while index < count, !self[index].endsLineOrIsNUL { index += 1 }
    return index
  }

  /// Removes bytes from the front, and returns them.
  mutating func takeFirst(_ size: Int) -> UnsafeRawBufferPointer {
    let first = UnsafeRawBufferPointer(rebasing: self[..<size])
    self = UnsafeRawBufferPointer(rebasing: self[size...])
    return first
  }
}

extension UInt8 {
  static let cr: UInt8 = 0x0D
  static let lf: UInt8 = 0x0A
  static let space: UInt8 = 0x20

  fileprivate var endsLineOrIsNUL: Bool { self == .lf || self == .cr || self == 0 }
}
