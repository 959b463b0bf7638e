import FormStreamDigest
import FormStreamPlatform

/// Computes a SHA-256 on a thread of its own, while the thread that receives the bytes reads and stores them.
///
/// The bytes are copied. Copying takes a small part of the time that hashing takes.
final class BackgroundDigest {
  /// The most bytes in one buffer. Waking the thread for a buffer takes as long as hashing some ten kilobytes.
  private static let bufferSize = 512 * 1024
  private static let bufferCount = 3
  /// The most threads of this kind. With more, uploads would only take turns on the processors. The limit also keeps all
  /// buffers together at some megabytes.
  private static let maximumThreads = processorCount - 1
  private static let threads = Guarded(0)

  private let work: DigestWork
  /// The bytes that are handed over to the thread next.
  private var buffer: [UInt8] = []

  /// Continues a digest on a new thread; nil, with the digest unchanged, if the maximum number of threads is running already,
  /// or no thread can be started.
  init?(continuing digest: inout SHA256?) {
    let isAllowed = Self.threads.withLock { threads in
      guard threads < Self.maximumThreads else { return false }
      threads += 1
      return true
    }
    guard isAllowed else { return nil }
    let work = DigestWork(digest.take(), buffers: Self.bufferCount)
    self.work = work
    let isStarted = startThread("formstream-sha") {
      work.run()
      Self.threads.withLock { $0 -= 1 }
    }
    guard isStarted else {
      digest = work.takeDigest()
      Self.threads.withLock { $0 -= 1 }
      return nil
    }
  }

  deinit { work.end() }

  /// Adds the next bytes. Waits if the thread is behind.
  func update(_ bytes: UnsafeRawBufferPointer) {
    var rest = bytes
    while !rest.isEmpty {
      if buffer.isEmpty { buffer = work.takeFreeBuffer() }
      let piece = rest.prefix(Self.bufferSize - buffer.count)
      buffer.append(contentsOf: piece)
      rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(piece.count))
      if buffer.count == Self.bufferSize { work.add(&buffer) }
    }
  }

  /// Ends the thread, and returns the digest so far, which can be continued.
  func suspend() throws(DigestError) -> SHA256? {
    work.add(&buffer)
    work.end(finalizes: false)
    _ = try work.result().get()
    return work.takeDigest()
  }

  /// Waits for the digest of all bytes.
  func finalize() throws(DigestError) -> SHA256Digest? {
    work.add(&buffer)
    work.end()
    return try work.result().get()
  }
}

/// The state that the two threads of a digest share.
private final class DigestWork: Sendable {
  private struct State {
    var free: [[UInt8]]
    /// Copied bytes, in order.
    var filled: [[UInt8]] = []
    /// Whether no more bytes will be added.
    var isOver = false
    /// Whether the digest is computed at the end. Otherwise it can be continued.
    var finalizes = true
    var result: Result<SHA256Digest?, DigestError>?
  }

  private let state: Guarded<State>
  /// After the new thread has started, only that thread uses the digest.
  nonisolated(unsafe) private var digest: SHA256?

  init(_ digest: consuming SHA256?, buffers: Int) {
    self.digest = digest
    state = Guarded(State(free: [[UInt8]](repeating: [], count: buffers)))
  }

  func takeDigest() -> SHA256? { digest.take() }

  /// Waits until a buffer is free, or hashing has failed.
  func takeFreeBuffer() -> [UInt8] {
    state.waitUntil({ !$0.free.isEmpty || $0.result != nil }) { $0.free.popLast() } ?? []
  }

  /// Queues the bytes of a buffer, in order. After a failure, drops the bytes. Under the lock the buffer gets one owner
  /// again, so that changing it later copies nothing.
  func add(_ buffer: inout [UInt8]) {
    state.withLock { state in
      if state.result == nil { state.filled.append(buffer) }
      buffer = []
    }
  }

  func end(finalizes: Bool = true) {
    state.withLock { state in
      // The first call counts.
      if !state.isOver { state.finalizes = finalizes }
      state.isOver = true
    }
  }

  func result() -> Result<SHA256Digest?, DigestError> {
    state.waitUntil({ $0.result != nil }) { $0.result ?? .success(nil) }
  }

  func run() {
    let result = Result { () throws(DigestError) in
      while var buffer = next() {
        try buffer.withUnsafeBufferPointer { bytes throws(DigestError) in
          try digest?.update(UnsafeRawBufferPointer(bytes))
        }
        buffer.removeAll(keepingCapacity: true)
        state.withLock { state in
          state.free.append(buffer)
          buffer = []
        }
      }
      return state.withLock(\.finalizes) ? try digest.take()?.finalize() : nil
    }
    state.withLock { $0.result = result }
  }

  private func next() -> [UInt8]? {
    state.waitUntil({ $0.isOver || !$0.filled.isEmpty }) { state in
      state.filled.isEmpty ? nil : state.filled.removeFirst()
    }
  }
}
