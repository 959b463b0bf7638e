extension PartBody {
  /// The bytes of an asynchronous sequence of chunks, such as `Data` or `[UInt8]`.
  ///
  /// The sequence runs a little ahead of the reader, on its own thread. Reading the body blocks the thread of the
  /// reader until there are bytes. So read on a separate thread: not in a Swift task, because tasks share a few threads
  /// and the sequence may need one of them; and not on the main thread, where the tasks of a `main.swift` run.
  /// `FormStreamTransfer` and ``/FormStreamMultipart/BodyLayout/chunks`` read on a separate thread.
  ///
  /// If your own function is generic too, it needs these constraints:
  ///
  /// ```swift
  /// func part<Chunks: AsyncSequence & Sendable>(_ chunks: Chunks) -> Part
  /// where Chunks.Element: Collection<UInt8> {
  ///   Part(name: "feed", body: .asyncChunks(chunks))
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - length: the number of bytes in all chunks, if it is known.
  ///   - replay: whether `make` can be called again for the same bytes.
  ///   - make: creates the sequence. It is called each time the body is read: it must make a new sequence with the same
  ///     bytes each time. Don't return a sequence that was made before. Most sequences, such as `AsyncStream`, can be
  ///     iterated only once, and have no bytes afterwards: use ``asyncChunks(_:length:)-(Chunks,_)`` for such a
  ///     sequence.
  public static func asyncChunks<Chunks: AsyncSequence & SendableMetatype>(
    length: Int64? = nil, replay: Replay = .repeatable, _ make: @escaping @Sendable () -> Chunks
  ) -> PartBody where Chunks.Element: Collection<UInt8> {
    let sequence = ChunkProducer(make)
    return .writing(length: length, replay: replay) { try await sequence.write(to: $0) }
  }

  /// The bytes of an asynchronous sequence of single bytes, which are collected into chunks of 16 KiB. A sequence of
  /// chunks is faster, and has no delay. Otherwise this function is like the other `asyncChunks`.
  public static func asyncChunks<Bytes: AsyncSequence & SendableMetatype>(
    length: Int64? = nil, replay: Replay = .repeatable, _ make: @escaping @Sendable () -> Bytes
  ) -> PartBody where Bytes.Element == UInt8 {
    .asyncChunks(length: length, replay: replay) { ByteChunks(bytes: make()) }
  }

  /// The bytes of an asynchronous sequence of chunks, which is iterated once: the body can be sent once.
  ///
  /// - Parameters:
  ///   - chunks: the sequence, with the constraints of the other `asyncChunks`.
  ///   - length: the number of bytes in all chunks, if it is known.
  public static func asyncChunks<Chunks: AsyncSequence & Sendable>(
    _ chunks: Chunks, length: Int64? = nil
  ) -> PartBody where Chunks.Element: Collection<UInt8> {
    .asyncChunks(length: length, replay: .once) { chunks }
  }

  /// The bytes of an asynchronous sequence of single bytes, which is iterated once: the body can be sent once.
  public static func asyncChunks<Bytes: AsyncSequence & Sendable>(
    _ bytes: Bytes, length: Int64? = nil
  ) -> PartBody where Bytes.Element == UInt8 {
    .asyncChunks(length: length, replay: .once) { bytes }
  }
}

/// Writes a sequence to a body.
///
/// This is a class so that the closure of the task refers to no generic type. The types of iterators need not be
/// `SendableMetatype`, and only the task uses the iterator.
private final class ChunkProducer<Chunks: AsyncSequence>: @unchecked Sendable
where Chunks.Element: Collection<UInt8> {
  private let make: @Sendable () -> Chunks

  init(_ make: @escaping @Sendable () -> Chunks) {
    self.make = make
  }

  func write(to writer: BodyWriter) async throws {
    for try await chunk in make() { try await writer.write(Array(chunk)) }
  }
}

/// Collects single bytes into chunks.
private struct ByteChunks<Bytes: AsyncSequence>: AsyncSequence where Bytes.Element == UInt8 {
  static var size: Int { 16 * 1024 }
  let bytes: Bytes

  struct AsyncIterator: AsyncIteratorProtocol {
    var bytes: Bytes.AsyncIterator

    mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async throws -> [UInt8]? {
      var chunk: [UInt8] = []
      while chunk.count < size, let byte = try await bytes.next(isolation: actor) {
        chunk.append(byte)
      }
      return chunk.isEmpty ? nil : chunk
    }
  }

  func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(bytes: bytes.makeAsyncIterator())
  }
}
