import FormStreamPlatform

extension BodyLayout {
  /// The bytes of the body, in chunks of up to 64 KiB, for clients and servers that accept an
  /// asynchronous sequence.
  ///
  /// ```swift
  /// for try await chunk in layout.chunks { … }
  /// ```
  public var chunks: BodyChunks { BodyChunks(layout: self) }
}

/// The bytes of a body as an asynchronous sequence of chunks. See ``BodyLayout/chunks``.
///
/// Chunks are read when they are asked for, so at most one chunk is in memory. Each iteration reads the body from its
/// start.
public struct BodyChunks: AsyncSequence, Sendable {
  /// The number of bytes in a chunk, except after a stream and at the end.
  static let size = 64 * 1024

  let layout: BodyLayout

  /// Starts at the beginning of the body. Nothing is opened before the first chunk.
  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(reading: ChunkReading(layout))
  }

  /// Reads one chunk at a time.
  public struct AsyncIterator: AsyncIteratorProtocol {
    fileprivate let reading: ChunkReading

    /// The next chunk, with at least one byte; nil after the last.
    ///
    /// Bytes in memory, and bytes of a file in the system's cache, are read at once, on the caller's actor. Bytes that
    /// must come from a disk of this machine are read on one of the threads that tasks share. Reading streams, and
    /// files on other machines, may take arbitrarily long, so they are read on a separate thread.
    ///
    /// - Throws: ``MultipartError``; `CancellationError` if the task is cancelled. Afterwards, every
    ///   call throws.
    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async throws -> [UInt8]? {
      try await reading.next(isolation: actor)
    }
  }
}

/// The reader of one iteration. Its thread ends when the iteration is released.
private final class ChunkReading {
  private let thread: ReadingThread

  init(_ layout: BodyLayout) {
    thread = ReadingThread(layout.makeReader())
  }

  deinit { thread.stop() }

  func next(isolation actor: isolated (any Actor)?) async throws -> [UInt8]? {
    try Task.checkCancellation()
    let thread = thread
    if !thread.waitsForNext {
      var chunk = try thread.readAtOnce()
      if chunk == nil { chunk = try await thread.readFromDisk() }
      if let chunk { return chunk.isEmpty ? nil : chunk }
    }
    return try await withTaskCancellationHandler {
      // A closure that doesn't mention the actor would not run on it.
      _ = actor
      return try await withCheckedThrowingContinuation { thread.read(for: $0) }
    } onCancel: {
      thread.cancel()
    }
  }
}

/// Reads a body on a thread, which is started when it is first needed.
///
/// Between a request and its result, only the thread uses the reader. At all other times, only the caller uses it.
/// After a request was cancelled, the caller does not use the reader any more.
private final class ReadingThread: @unchecked Sendable {
  typealias Request = CheckedContinuation<[UInt8]?, any Error>

  private struct State {
    /// The request that waits for a chunk.
    var request: Request?
    var isRunning = false
    var isCancelled = false
    var isStopped = false
  }

  private let reader: BodyReader
  private let state = Guarded(State())

  init(_ reader: BodyReader) {
    self.reader = reader
  }

  /// Whether reading the next bytes may take arbitrarily long.
  var waitsForNext: Bool { !state.withLock(\.isCancelled) && reader.waitsForNext }

  /// Reads bytes that are available without waiting; returns nil if reading must wait, even if only for a disk.
  func readAtOnce() throws -> [UInt8]? {
    if state.withLock(\.isCancelled) { throw CancellationError() }
    return try reader.readAtOnce(upTo: BodyChunks.size)
  }

  /// Reads bytes from a disk of this machine, on one of the threads that tasks share; returns nil if reading the next
  /// bytes may take arbitrarily long.
  @concurrent func readFromDisk() async throws -> [UInt8]? {
    if state.withLock(\.isCancelled) { throw CancellationError() }
    return try reader.readUnlessSlow(upTo: BodyChunks.size)
  }

  func read(for request: Request) {
    let failure: (any Error)? = state.withLock { state in
      if state.isCancelled { return CancellationError() }
      if !state.isRunning { state.isRunning = startThread("formstream-read") { [self] in run() } }
      guard state.isRunning else { return noThread }
      state.request = request
      return nil
    }
    if let failure { request.resume(throwing: failure) }
  }

  /// Ends the wait for a chunk, even if the source can't be interrupted. Nothing can be read afterwards.
  func cancel() {
    state.withLock { state in
      state.isCancelled = true
      return state.request.take()
    }?.resume(throwing: CancellationError())
    reader.interrupt()
  }

  func stop() {
    state.withLock { $0.isStopped = true }
    reader.interrupt()
  }

  private func run() {
    while isRequested() {
      let result = Result { try reader.read(upTo: BodyChunks.size) }
      state.withLock { $0.request.take() }?.resume(with: result.map { $0.isEmpty ? nil : $0 })
    }
    reader.close()
  }

  /// Waits for a request; returns false at the end.
  private func isRequested() -> Bool {
    state.waitUntil({ $0.request != nil || $0.isStopped || $0.isCancelled }) { $0.request != nil }
  }

  private var noThread: MultipartError {
    MultipartError(
      .streamFailed, on: "the body",
      "The body can't be read: the system can't start another thread. Raise the limits for memory and processes "
        + "(ulimit).")
  }
}
