/// The bytes that a parser keeps because they may be the beginning of a delimiter. Their address
/// does not change, so that events can point to them.
final class HeldBytes {
  private let memory: UnsafeMutableRawBufferPointer
  private(set) var count = 0

  init(capacity: Int) {
    memory = .allocate(byteCount: capacity, alignment: 1)
  }

  deinit { memory.deallocate() }

  var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: memory[..<count]) }

  /// Appends bytes. The capacity must suffice.
  func append(_ bytes: UnsafeRawBufferPointer) {
    UnsafeMutableRawBufferPointer(rebasing: memory[count...]).copyMemory(from: bytes)
    count += bytes.count
  }

  /// Removes the bytes from `place` on.
  func truncate(to place: Int) {
    count = place
  }

  /// Removes the bytes before `place`. Pointers to the held bytes become invalid.
  func dropFirst(_ place: Int) {
    let rest = UnsafeRawBufferPointer(rebasing: memory[place..<count])
    memory.copyMemory(from: rest)
    count -= place
  }
}
