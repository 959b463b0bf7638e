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

  /// A collection that holds a reference may come to have fewer bytes than it had.
  func shrunk(in part: String) -> MultipartError {
    MultipartError(
      .sourceChanged, on: part,
      "The bytes of part \(part.quoted) are fewer than the \(count) that were laid out: don't change "
        + "them while they are sent.", change: .shrunk)
  }

  func withBytes(_ body: (UnsafeRawBufferPointer) -> Void) {
    lend(body)
  }
}
