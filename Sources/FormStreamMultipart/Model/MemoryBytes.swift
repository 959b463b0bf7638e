import FormStreamPlatform

/// The bytes of a collection in memory. They are not copied if the collection is contiguous.
struct MemoryBytes: Sendable {
  let count: Int
  private let access: @Sendable ((UnsafeRawBufferPointer) -> Void) -> Void

  init<Bytes: Collection & Sendable>(_ bytes: Bytes) where Bytes.Element == UInt8 {
    let isContiguous = bytes.withContiguousStorageIfAvailable { $0.count == bytes.count } ?? false
    if isContiguous {
      count = bytes.count
      access = { body in
        _ = bytes.withContiguousStorageIfAvailable { body(UnsafeRawBufferPointer($0)) }
      }
    } else {
      let array = Array(bytes)
      count = array.count
      access = { body in array.withUnsafeBytes(body) }
    }
  }

  /// The error for a collection that has become shorter. This can happen, because a collection may
  /// refer to shared storage.
  func shrunk(in part: String) -> MultipartError {
    MultipartError(
      .sourceChanged, on: part,
      "Part \(part.quoted) has fewer than the \(counted(count, "byte that was", "bytes that were")) laid out: don't change them while they "
        + "are sent.", change: .shrunk)
  }

  func withBytes(_ body: (UnsafeRawBufferPointer) -> Void) {
    access(body)
  }
}
