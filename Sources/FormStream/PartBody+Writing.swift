import FormStreamPlatform
import Foundation

extension PartBody {
  /// Bytes that a function writes. Use this if your code produces the bytes by itself, not on request.
  ///
  /// ```swift
  /// Part(name: "report", filename: "report.csv", body: .writing { writer in
  ///   for try await row in rows { try await writer.write("\(row.id),\(row.price)\n") }
  /// })
  /// ```
  ///
  /// `write` runs in a task, a little ahead of the reader: its calls of ``BodyWriter/write(_:)-([UInt8])`` return when
  /// there is room. If the reader stops before the end, for example because the request ended, the task is cancelled.
  /// If `write` throws, reading fails, and the error of `write` is ``/FormStreamMultipart/MultipartError/underlying``.
  /// When `write` returns, the body is complete: other tasks that it started can't write any more. The documentation of
  /// ``asyncChunks(length:replay:_:)-(_,_,()->Chunks)`` says on which threads such a body may be read.
  ///
  /// - Parameters:
  ///   - length: the number of bytes, if it is known. If fewer or more bytes are written, reading fails, and the body
  ///     is never complete.
  ///   - replay: whether the body can be read more than once. Choose ``/FormStreamMultipart/Replay/repeatable`` if
  ///     `write` writes the same bytes each time it is called. A function can't write the same bytes again from a
  ///     sequence that can be iterated only once.
  ///   - write: writes the bytes. It is called each time the body is read.
  public static func writing(
    length: Int64? = nil, replay: Replay = .once,
    _ write: @escaping @Sendable (BodyWriter) async throws -> Void
  ) -> PartBody {
    .stream(length: length, replay: replay) { WrittenSource(write) }
  }
}

/// Accepts the bytes of a body; see ``FormStreamMultipart/PartBody/writing(length:replay:_:)``.
public struct BodyWriter: Sendable {
  fileprivate let buffer: WrittenBytes

  /// Writes bytes, in order, and waits until there is room for more.
  ///
  /// - Throws: `CancellationError` if the body is not read any more; ``/FormStreamMultipart/MultipartError`` with the
  ///   code `notOpen` if the function that writes the body has returned; nothing is written in this case.
  public func write(_ bytes: [UInt8]) async throws {
    try await buffer.append(bytes[...])
  }

  /// Writes bytes, such as `Data`.
  ///
  /// - Throws: the same errors as `write(_ bytes: [UInt8])`.
  public func write(_ bytes: some Collection<UInt8>) async throws {
    // After the write has begun, all of its bytes get into the body, even if the function returns meanwhile.
    try buffer.beginWrite()
    defer { buffer.endWrite() }
    // The write is done in pieces, so that a large collection is not copied at once.
    var rest = bytes[...]
    while !rest.isEmpty {
      let piece = rest.prefix(WrittenBytes.capacity)
      rest = rest[piece.endIndex...]
      try await buffer.append(Array(piece)[...])
    }
  }

  /// Writes a text as UTF-8.
  ///
  /// - Throws: the same errors as `write(_ bytes: [UInt8])`.
  public func write(_ text: String) async throws {
    try await write(Array(text.utf8))
  }
}

/// Turns a function that writes bytes into a source that can be read synchronously.
private final class WrittenSource: ByteSource {
  private let buffer = WrittenBytes()
  private let task: Task<Void, Never>
  private var piece: ArraySlice<UInt8> = []

  init(_ write: @escaping @Sendable (BodyWriter) async throws -> Void) {
    // The function needs its own thread: the reader may block one of the threads that tasks share. The task has the
    // task-local values of the code that opens the body.
    task = Task(executorPreference: SerialQueueExecutor()) { [buffer] in
      do {
        try await write(BodyWriter(buffer: buffer))
        buffer.finish(nil)
      } catch {
        buffer.finish(error)
      }
    }
  }

  func read(into room: UnsafeMutableRawBufferPointer) throws -> Int {
    if piece.isEmpty { piece = try buffer.take() }
    let part = piece.prefix(room.count)
    part.withUnsafeBytes { room.copyMemory(from: $0) }
    piece = piece.dropFirst(part.count)
    return part.count
  }

  func interrupt() {
    task.cancel()
    buffer.abandon()
  }

  func close() { interrupt() }
}

/// Runs the jobs of a task on a serial queue, so that they don't use the threads that tasks share.
private final class SerialQueueExecutor: TaskExecutor {
  private let queue = DispatchQueue(label: "FormStream.WrittenSource")

  func enqueue(_ job: consuming ExecutorJob) {
    handOver(job) { job in
      queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
  }
}

/// Passes bytes from a task that writes them to a thread that waits for them.
private final class WrittenBytes: Sendable {
  /// The number of bytes that may wait for the reader before the writer has to wait. One piece may be larger.
  static let capacity = 64 * 1024

  private struct State {
    var bytes: ArraySlice<UInt8> = []
    /// Whether the function has returned.
    var hasReturned = false
    /// How many writes were begun and not ended. Tasks that the function started may write after it has returned.
    var writesBegun = 0
    var isAbandoned = false
    var failure: (any Error)?
    /// The writers that wait for room. A function may use several tasks.
    var writers: [CheckedContinuation<Void, any Error>] = []

    /// Whether nothing more can be written.
    var hasEnded: Bool { hasReturned && writesBegun == 0 }

    func checkWritable() throws {
      if hasEnded {
        throw MultipartError(
          .notOpen, on: "the body",
          "The body can't be written any more: the function that writes it has returned. Wait in it for all tasks that "
            + "write.")
      }
      if isAbandoned { throw CancellationError() }
    }
  }

  private let state = Guarded(State())

  func append(_ bytes: ArraySlice<UInt8>) async throws {
    try await withCheckedThrowingContinuation { continuation in
      let result: Result<Void, any Error>? = state.withLock { state in
        do { try state.checkWritable() } catch { return .failure(error) }
        if state.bytes.isEmpty { state.bytes = bytes } else { state.bytes += bytes }
        guard state.bytes.count >= Self.capacity else { return .success(()) }
        state.writers.append(continuation)
        return nil
      }
      if let result { continuation.resume(with: result) }
    }
  }

  /// Begins a write of several pieces.
  func beginWrite() throws {
    try state.withLock { state in
      try state.checkWritable()
      state.writesBegun += 1
    }
  }

  func endWrite() {
    state.withLock { $0.writesBegun -= 1 }
  }

  func finish(_ error: (any Error)?) {
    state.withLock { state in
      state.failure = error
      state.hasReturned = true
    }
  }

  /// Waits for bytes, and takes all available bytes; returns no bytes at the end.
  func take() throws -> ArraySlice<UInt8> {
    let (bytes, writers) = try state.waitUntil({
      !$0.bytes.isEmpty || $0.hasEnded || $0.isAbandoned
    }) { state in
      if state.isAbandoned { throw CancellationError() }
      if state.bytes.isEmpty, let failure = state.failure { throw failure }
      defer { (state.bytes, state.writers) = ([], []) }
      return (state.bytes, state.writers)
    }
    for writer in writers { writer.resume() }
    return bytes
  }

  func abandon() {
    let writers = state.withLock { state in
      state.isAbandoned = true
      defer { state.writers = [] }
      return state.writers
    }
    for writer in writers { writer.resume(throwing: CancellationError()) }
  }
}
