/// Random numbers that are the same in each run (SplitMix64), so that a failure can be repeated.
public struct SeededSequence: RandomNumberGenerator {
  private var state: UInt64

  /// Starts a sequence.
  public init(seed: UInt64) { state = seed }

  /// The next number.
  public mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}

/// Pseudorandom bytes without CR, LF and hyphens, in which no two stretches are alike.
public func noise(_ count: Int, seed: UInt64 = 1) -> [UInt8] {
  var sequence = SeededSequence(seed: seed)
  var bytes: [UInt8] = []
  bytes.reserveCapacity(count + 8)
  while bytes.count < count {
    var word = sequence.next()
    for _ in 0..<8 {
      bytes.append(0x30 + UInt8(truncatingIfNeeded: word) % 0x4B)
      word >>= 8
    }
  }
  bytes.removeLast(bytes.count - count)
  return bytes
}
