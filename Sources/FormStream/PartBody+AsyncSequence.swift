import FormStreamPlatform
import Foundation

extension PartBody {
  /// What an asynchronous sequence of chunks gives, such as `Data` or `[UInt8]` from a download.
  ///
  /// The sequence runs ahead of the reader by one chunk. Whoever reads the body blocks a thread until
  /// there is one, so read on a thread of your own: not in a Swift task, since tasks share a few threads
  /// and what feeds the sequence may need one of them, and not on the main thread, where every `Task`
  /// of a `main.swift` runs. The loop over the sequence has a thread of its own.
  ///
  /// - Parameters:
  ///   - length: the number of bytes in all chunks, where it is known.
  ///   - replay: whether `make` gives the same bytes each time.
  ///   - make: makes the sequence; called each time the body is read.
  public static func asyncChunks<Chunks: AsyncSequence & SendableMetatype>(
    length: Int64? = nil, replay: Replay = .repeatable,
    _ make: @escaping @Sendable () -> Chunks
  ) -> PartBody
  where Chunks.Element: Collection<UInt8> & Sendable, Chunks.AsyncIterator: SendableMetatype {
    .stream(length: length, replay: replay) { AsyncSource(make) }
  }

  /// What an asynchronous sequence of single bytes gives. Chunks cost less, and come through at once:
  /// bytes are gathered to 16 KiB before they are handed on.
  ///
  /// See ``asyncChunks(length:replay:_:)``.
  public static func asyncBytes<Bytes: AsyncSequence & SendableMetatype>(
    length: Int64? = nil, replay: Replay = .repeatable,
    _ make: @escaping @Sendable () -> Bytes
  ) -> PartBody where Bytes.Element == UInt8, Bytes.AsyncIterator: SendableMetatype {
    .asyncChunks(length: length, replay: replay) { ByteChunks(bytes: make()) }
  }
}

/// Single bytes gathered into chunks.
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

/// A bridge from a sequence that is awaited to a source that is pulled.
private final class AsyncSource: ByteSource {
  private let channel = Channel()
  private let task: Task<Void, Never>
  private var chunk: ArraySlice<UInt8> = []

  init<Chunks: AsyncSequence & SendableMetatype>(_ make: @escaping @Sendable () -> Chunks)
  where Chunks.Element: Collection<UInt8> & Sendable, Chunks.AsyncIterator: SendableMetatype {
    // A thread of its own: the reader may be blocking one of the threads that tasks share.
    task = Task.detached(executorPreference: OwnThreads()) { [channel] in
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

/// Runs jobs of one task on a serial queue, whose thread is not one that tasks share.
private final class OwnThreads: TaskExecutor {
  private let queue = DispatchQueue(label: "FormStream.AsyncSource")

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}

/// Room for one chunk between a task that makes them and a thread that waits for them.
private final class Channel: Sendable {
  private struct State {
    var chunk: [UInt8]?
    var hasFinished = false
    var isAbandoned = false
    var failure: (any Error)?
    /// The task, which waits until the chunk has been taken.
    var producer: CheckedContinuation<Void, Never>?
  }

  private let state = Guarded(State())

  /// Hands a chunk over and waits until it is taken; returns false if no reader will take it.
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
