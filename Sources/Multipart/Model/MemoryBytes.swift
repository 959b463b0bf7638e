/// Bytes that are in memory already, lent without a copy whatever collection holds them.
struct MemoryBytes: Sendable {
  let count: Int
  private let lend: @Sendable ((UnsafeRawBufferPointer) -> Void) -> Void

  init<Bytes: Collection & Sendable>(_ bytes: Bytes) where Bytes.Element == UInt8 {
    let isContiguous = bytes.withContiguousStorageIfAvailable { $0.count == bytes.count } ?? false
    if isContiguous {
      count = bytes.count
      lend = { body in
        _ = bytes.withContiguousStorageIfAvailable { body(UnsafeRawBufferPointer($0)) }
      }
    } else {
      let array = Array(bytes)
      count = array.count
      lend = { body in array.withUnsafeBytes(body) }
    }
  }

  func withBytes(_ body: (UnsafeRawBufferPointer) -> Void) {
    lend(body)
  }
}
