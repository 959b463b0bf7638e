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

  /// Removes the bytes from `index` on.
  func truncate(to index: Int) {
    count = index
  }

  /// Removes the bytes before `index`. Pointers to the held bytes become invalid.
  func dropFirst(_ index: Int) {
    let rest = UnsafeRawBufferPointer(rebasing: memory[index..<count])
    memory.copyMemory(from: rest)
    count -= index
  }
}
