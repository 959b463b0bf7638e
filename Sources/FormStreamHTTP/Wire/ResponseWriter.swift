import FormStreamPlatform

/// Passes a response's body to its target, and never makes the engine wait.
protocol ResponseDelivery: AnyObject {
  /// Accepts the next bytes, all or none. They are passed on after `flush`.
  func write(_ bytes: UnsafeRawBufferPointer) -> ResponseAcceptance
  /// Passes the accepted bytes on.
  func flush()
  /// Completes the target after the last byte; discards it if a part of the body is missing.
  func finish(isComplete: Bool)
  /// Discards the target, and drops the bytes that the target has not received yet.
  func abandon()
  /// Whether nothing more will happen to the target.
  var isFinished: Bool { get }
  /// Why the target could not be opened, written or completed, and whether it was open.
  var failure: (error: any Error, wasOpen: Bool)? { get }
}

/// Whether a delivery has accepted bytes of a response.
enum ResponseAcceptance {
  case taken
  /// There is no room; the delivery reports when there is.
  case later
  case failed
}

/// Passes a response's body to the caller's file or closure. This happens on a worker thread, where it may take any time.
///
/// There are two buffers between the engine and the worker thread: one is written while the other is filled. If both are full,
/// the engine stops receiving until there is room.
final class ResponseWriter: ResponseDelivery, @unchecked Sendable {
  /// How many bytes libcurl reads at once if a writer passes them on. Each of these pieces wakes the worker thread once, which
  /// takes as long as receiving some ten kilobytes.
  static let pieceSize = 512 * 1024
  /// Like `pieceSize`, for a download. If the process is killed, three pieces are lost (two here, one in libcurl) and have to
  /// be received again: less than a megabyte.
  static let downloadPieceSize = 256 * 1024

  private struct State {
    /// The bytes that are written next.
    var filling: [UInt8] = []
    /// Whether a worker thread writes. Only that thread uses `sink` and `writing`.
    var isWriting = false
    var isOpen = false
    /// Whether the target is complete after the last byte; nil before the end is known.
    var endsComplete: Bool?
    /// Whether the caller doesn't want any more bytes.
    var isAbandoned = false
    var failure: (any Error)?
    /// Whether the target is complete or discarded.
    var isFinished = false
    /// Whether `write` returned `later`, so that the engine has to be notified of room.
    var isAwaited = false
  }

  private let target: ResponseTarget
  private let head: TransferResponse
  /// The size of one buffer. The engine goes on receiving into the buffer while the thread wakes up. The buffer must also have
  /// room for the unread bytes of a broken connection (`SalvagedResponse`).
  private let capacity: Int
  /// Decodes the body; nil if it is not coded. Only the worker thread uses it.
  private let decoder: ResponseDecoder?
  /// The request's wait until the target accepts bytes; nil if waits are not noted.
  private let wait: WaitingRequest?
  private let workers: WorkerThreads
  private let notify: @Sendable () -> Void
  private let state = Guarded(State())
  private var sink: ResponseSink?
  private var writing: [UInt8] = []

  /// - Parameters:
  ///   - head: the response.
  ///   - session: the session of the request.
  ///   - decoder: decodes the body; nil if it is not coded.
  ///   - notify: called on a worker thread when there is room after `write` returned `later`, when writing has failed,
  ///     and at the end.
  init(
    _ target: ResponseTarget, for head: TransferResponse, of session: ObjectIdentifier?,
    decodedBy decoder: ResponseDecoder?, on workers: WorkerThreads,
    notify: @escaping @Sendable () -> Void
  ) {
    (self.target, self.head, self.decoder) = (target, head, decoder)
    wait = session.map(WaitingRequest.init)
    capacity = target.isDownload ? Self.downloadPieceSize : 2 * Self.pieceSize
    self.workers = workers
    self.notify = notify
    // If the body is empty, an existing file must be replaced, too.
    if target.isFile { state.withLock { startWriting(&$0) } }
  }

  // MARK: On the engine's thread

  func write(_ bytes: UnsafeRawBufferPointer) -> ResponseAcceptance {
    state.withLock { state in
      if state.failure != nil { return .failed }
      guard state.filling.isEmpty || state.filling.count + bytes.count <= capacity else {
        state.isAwaited = true
        startWriting(&state)
        return .later
      }
      state.filling.append(contentsOf: bytes)
      return .taken
    }
  }

  func flush() {
    state.withLock { state in if !state.filling.isEmpty { startWriting(&state) } }
  }

  func finish(isComplete: Bool) {
    state.withLock { state in
      state.endsComplete = isComplete
      finishWriting(&state)
    }
  }

  /// A write that is running ends, and nothing is written after it.
  func abandon() {
    state.withLock { state in
      state.isAbandoned = true
      state.filling = []
      finishWriting(&state)
    }
  }

  private func finishWriting(_ state: inout State) {
    // A closure that has received all bytes needs no thread at the end. But if the bytes are coded, it has to be checked that
    // they are complete.
    let isChecked = decoder != nil && state.endsComplete == true && !state.isAbandoned
    if !target.isFile, !isChecked, !state.isWriting, state.filling.isEmpty {
      state.isFinished = true
      wait?.end()
    }
    startWriting(&state)
  }

  var isFinished: Bool { state.withLock(\.isFinished) }

  var failure: (error: any Error, wasOpen: Bool)? {
    state.withLock { state in state.failure.map { ($0, state.isOpen) } }
  }

  private func startWriting(_ state: inout State) {
    guard !state.isWriting, !state.isFinished else { return }
    state.isWriting = workers.run { [self] in
      if let wait { wait.running { writeWaiting() } } else { writeWaiting() }
    }
    guard !state.isWriting else { return }
    state.failure = TransferError.noThread
    state.isFinished = true
  }

  // MARK: On a worker thread

  private enum Step {
    case open
    case write
    case end(isComplete: Bool)
    case pause
  }

  private func writeWaiting() {
    while true {
      do {
        switch nextStep() {
        case .open:
          sink = try ResponseSink(target, for: head)
          state.withLock { $0.isOpen = true }
        case .write:
          try writing.withUnsafeBytes { try write($0, to: sink) }
          writing.removeAll(keepingCapacity: true)
        case .end(let isComplete):
          if isComplete { try decoder?.checkEnd() }
          try sink?.finish(isComplete: isComplete)
          return end(nil)
        case .pause: return
        }
      } catch {
        try? sink?.finish(isComplete: false)
        return end(error)
      }
    }
  }

  private func write(_ bytes: UnsafeRawBufferPointer, to sink: ResponseSink?) throws {
    guard let decoder else { return try sink?.write(bytes) ?? () }
    var rest = bytes
    while let piece = try decoder.next(&rest) {
      // A small piece may become very large by decoding, so decoding may take a long time.
      if state.withLock(\.isAbandoned) { return }
      try sink?.write(piece)
    }
  }

  private func nextStep() -> Step {
    let (step, hasRoom) = state.withLock { state -> (Step, Bool) in
      if state.isAbandoned { return (.end(isComplete: false), false) }
      if !state.isOpen { return (.open, false) }
      guard !state.filling.isEmpty else {
        if let isComplete = state.endsComplete { return (.end(isComplete: isComplete), false) }
        state.isWriting = false
        return (.pause, false)
      }
      swap(&state.filling, &writing)
      defer { state.isAwaited = false }
      return (.write, state.isAwaited)
    }
    if hasRoom { notify() }
    return step
  }

  private func end(_ error: (any Error)?) {
    sink = nil
    wait?.end()
    state.withLock { state in
      state.failure = state.failure ?? error
      state.filling = []
      (state.isFinished, state.isWriting) = (true, false)
    }
    notify()
  }
}
