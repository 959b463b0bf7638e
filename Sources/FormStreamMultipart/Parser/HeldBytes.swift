/// The few bytes that a parser holds back because a delimiter may begin in them. They stand still in
/// memory, so that they can be lent as events are.
final class HeldBytes {
  private let memory: UnsafeMutableRawBufferPointer
  private(set) var count = 0

  init(capacity: Int) {
    memory = .allocate(byteCount: capacity, alignment: 1)
  }

  deinit { memory.deallocate() }

  var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: memory[..<count]) }

  /// Takes in bytes, no more than there is room for.
  func append(_ bytes: UnsafeRawBufferPointer) {
    UnsafeMutableRawBufferPointer(rebasing: memory[count...]).copyMemory(from: bytes)
    count += bytes.count
  }

  /// Forgets all from `place` on.
  func truncate(to place: Int) {
    count = place
  }

  /// Forgets all before `place`. What was lent before is overwritten.
  func dropFirst(_ place: Int) {
    let rest = UnsafeRawBufferPointer(rebasing: memory[place..<count])
    memory.copyMemory(from: rest)
    count -= place
  }
}
