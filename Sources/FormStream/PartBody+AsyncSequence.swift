import FormStreamPlatform
import Foundation

extension PartBody {
  /// The bytes of an asynchronous sequence of chunks, such as `Data` or `[UInt8]` from a download.
  ///
  /// The sequence runs one chunk ahead of the reader, on its own thread. Reading the body blocks
  /// the thread of the reader until there is a chunk. So read on a separate thread: not in a Swift
  /// task, because tasks share a few threads and the sequence may need one of them; and not on the
  /// main thread, where the tasks of a `main.swift` run.
  ///
  /// - Parameters:
  ///   - length: the number of bytes in all chunks, if it is known.
  ///   - replay: whether `make` can be called again for the same bytes.
  ///   - make: creates the sequence. It is called each time the body is read.
  public static func asyncChunks<Chunks: AsyncSequence & SendableMetatype>(
    length: Int64? = nil, replay: Replay = .repeatable,
    _ make: @escaping @Sendable () -> Chunks
  ) -> PartBody
  where Chunks.Element: Collection<UInt8> & Sendable, Chunks.AsyncIterator: SendableMetatype {
    .stream(length: length, replay: replay) { AsyncSource(make) }
  }

  /// The bytes of an asynchronous sequence of single bytes. They are collected into chunks of 16
  /// KiB, so ``asyncChunks(length:replay:_:)`` is faster and has no delay; see there for the
  /// threads.
  public static func asyncBytes<Bytes: AsyncSequence & SendableMetatype>(
    length: Int64? = nil, replay: Replay = .repeatable,
    _ make: @escaping @Sendable () -> Bytes
  ) -> PartBody where Bytes.Element == UInt8, Bytes.AsyncIterator: SendableMetatype {
    .asyncChunks(length: length, replay: replay) { ByteChunks(bytes: make()) }
  }
}

/// Collects single bytes into chunks.
private struct ByteChunks<Bytes: AsyncSequence & SendableMetatype>: AsyncSequence
where Bytes.Element == UInt8, Bytes.AsyncIterator: SendableMetatype {
  static var size: Int { 16 * 1024 }
  let bytes: Bytes

  struct AsyncIterator: AsyncIteratorProtocol {
    var bytes: Bytes.AsyncIterator

    mutating func next() async throws -> [UInt8]? {
      var chunk: [UInt8] = []
      while chunk.count < size, let byte = try await bytes.next() { chunk.append(byte) }
      return chunk.isEmpty ? nil : chunk
    }
  }

  func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(bytes: bytes.makeAsyncIterator())
  }
}

/// Makes an asynchronous sequence a source that can be read synchronously.
private final class AsyncSource: ByteSource {
  private let channel = Channel()
  private let task: Task<Void, Never>
  private var chunk: ArraySlice<UInt8> = []

  init<Chunks: AsyncSequence & SendableMetatype>(_ make: @escaping @Sendable () -> Chunks)
  where Chunks.Element: Collection<UInt8> & Sendable, Chunks.AsyncIterator: SendableMetatype {
    // The loop needs its own thread: the reader may block one of the threads that tasks share.
    task = Task.detached(executorPreference: SerialQueueExecutor()) { [channel] in
      do {
        for try await chunk in make() {
          guard await channel.put(Array(chunk)) else { return }
        }
        channel.finish(nil)
      } catch {
        channel.finish(error)
      }
    }
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
    while chunk.isEmpty {
      guard let next = try channel.take() else { return 0 }
      chunk = next[...]
    }
    let piece = chunk.prefix(buffer.count)
    piece.withUnsafeBytes { buffer.copyMemory(from: $0) }
    chunk = chunk.dropFirst(piece.count)
    return piece.count
  }

  func close() {
    channel.abandon()
    task.cancel()
  }
}

/// Runs the jobs of a task on a serial queue, so that they don't use the threads that tasks share.
private final class SerialQueueExecutor: TaskExecutor {
  private let queue = DispatchQueue(label: "FormStream.AsyncSource")

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}

/// Passes chunks, one at a time, from a task that creates them to a thread that waits for them.
private final class Channel: Sendable {
  private struct State {
    var chunk: [UInt8]?
    var hasFinished = false
    var isAbandoned = false
    var failure: (any Error)?
    /// The task, while it waits until the chunk is read.
    var producer: CheckedContinuation<Void, Never>?
  }

  private let state = Guarded(State())

  /// Passes a chunk on and waits until it is read. Returns false if the reader is gone.
  func put(_ next: [UInt8]) async -> Bool {
    await withCheckedContinuation { continuation in
      state.withLock { state in
        guard !state.isAbandoned else { return continuation.resume() }
        state.chunk = next
        state.producer = continuation
      }
    }
    return state.withLock { !$0.isAbandoned }
  }

  func finish(_ error: (any Error)?) {
    state.withLock { state in
      state.failure = error
      state.hasFinished = true
    }
  }

  /// Waits for a chunk; returns nil at the end.
  func take() throws -> [UInt8]? {
    try state.waitUntil({ $0.chunk != nil || $0.hasFinished }) { state in
      guard let chunk = state.chunk.take() else {
        if let failure = state.failure { throw failure }
        return nil
      }
      state.producer.take()?.resume()
      return chunk
    }
  }

  func abandon() {
    state.withLock { state in
      state.isAbandoned = true
      state.producer.take()?.resume()
    }
  }
}
