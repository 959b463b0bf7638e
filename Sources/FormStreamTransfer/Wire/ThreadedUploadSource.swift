import FormStream
import FormStreamPlatform

/// Reads streams, which may block, a little ahead on a separate thread.
///
/// Reading starts when the engine first asks for bytes, so that a stream that can be read once is still complete if
/// the server can't be reached. A thread that is blocked in a source can't be interrupted: if this source is closed
/// meanwhile, the thread ends when the blocked read returns.
final class ThreadedUploadSource: UploadSource, @unchecked Sendable {
  private static let pieceSize = 128 * 1024
  private static let pieceCount = 2

  private struct State {
    /// Pieces that were read, in order.
    var full: [Piece] = []
    var empty: [UnsafeMutableRawBufferPointer]
    /// What follows the last piece: the end, or a failure.
    var end: UploadRead?
    var isClosed = false
    /// Whether `read` returned `later`, and is notified of the next bytes.
    var isAwaited = false
    var hasStarted = false
  }

  private struct Piece {
    let memory: UnsafeMutableRawBufferPointer
    var unread: Range<Int>
  }

  private let state: Guarded<State>
  private let layout: BodyLayout
  private let notify: @Sendable () -> Void

  /// - Parameter notify: called on the reading thread when there are bytes after `read` returned `later`.
  init(_ layout: BodyLayout, notify: @escaping @Sendable () -> Void) {
    self.layout = layout
    self.notify = notify
    let empty: [UnsafeMutableRawBufferPointer] = (0..<Self.pieceCount).map { _ in
      .allocate(byteCount: Self.pieceSize, alignment: 16)
    }
    state = Guarded(State(empty: empty))
  }

  deinit {
    state.withLock { state in
      for memory in state.empty + state.full.map(\.memory) { memory.deallocate() }
    }
  }

  // MARK: On the engine's thread

  func read(into buffer: UnsafeMutableRawBufferPointer) -> UploadRead {
    state.withLock { state in
      guard var piece = state.full.first else {
        if state.end == nil, !state.hasStarted { start(&state) }
        if let end = state.end { return end }
        state.isAwaited = true
        return .later
      }
      let count = min(buffer.count, piece.unread.count)
      let part = piece.unread.lowerBound..<piece.unread.lowerBound + count
      buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: piece.memory[part]))
      piece.unread = part.upperBound..<piece.unread.upperBound
      if piece.unread.isEmpty {
        state.empty.append(piece.memory)
        state.full.removeFirst()
      } else {
        state.full[0] = piece
      }
      return .bytes(count)
    }
  }

  func close() {
    state.withLock { $0.isClosed = true }
  }

  private func start(_ state: inout State) {
    state.hasStarted = true
    guard !startThread("formstream-read", { [self] in readAhead() }) else { return }
    state.end = .failed(
      TransferError(
        MultipartError(.streamFailed, on: "the body", TransferError.noThread.description)))
  }

  // MARK: On the reading thread

  private func readAhead() {
    let stream = FormInputStream(layout)
    stream.open()
    defer { stream.close() }
    while let memory = waitForEmptyPiece() {
      let result = stream.readOnce(into: memory)
      store(result, in: memory)
      guard case .bytes = result else { return }
    }
  }

  /// Waits for an empty piece; returns nil if the source was closed.
  private func waitForEmptyPiece() -> UnsafeMutableRawBufferPointer? {
    state.waitUntil({ !$0.empty.isEmpty || $0.isClosed }) { state in
      state.isClosed ? nil : state.empty.removeLast()
    }
  }

  private func store(_ result: UploadRead, in memory: UnsafeMutableRawBufferPointer) {
    let wakesEngine = state.withLock { state in
      if case .bytes(let count) = result {
        state.full.append(Piece(memory: memory, unread: 0..<count))
      } else {
        state.empty.append(memory)
        state.end = result
      }
      defer { state.isAwaited = false }
      return state.isAwaited && !state.isClosed
    }
    if wakesEngine { notify() }
  }
}
