/// A body that arrives in chunks of 64 KiB, which are slices of an array.
struct Chunks: AsyncSequence, Sendable {
  let bytes: [UInt8]

  struct AsyncIterator: AsyncIteratorProtocol {
    let bytes: [UInt8]
    var place = 0

    mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async -> ArraySlice<UInt8>? {
      guard place < bytes.count else { return nil }
      let end = Swift.min(place + 64 * 1024, bytes.count)
      defer { place = end }
      return bytes[place..<end]
    }
  }

  func makeAsyncIterator() -> AsyncIterator { AsyncIterator(bytes: bytes) }
}
