import FormStreamMultipart
import FormStreamPlatform

/// Reads a body without ever making the engine wait.
///
/// Bytes that are in memory or in the system's cache are read at once, on the engine's thread and into libcurl's buffer.
/// Everything else is read a little ahead on a worker thread: streams, files on other machines or in other programs (NFS,
/// FUSE), and bytes that have to come from a disk.
///
/// Reading starts when the engine first asks for bytes, so that a one-shot stream is still unread if the server can't be
/// reached. If this source is closed while a thread waits in a stream, the stream is interrupted. A file can't be interrupted,
/// and a stream may ignore the interruption. The thread is then free when the blocked call returns.
final class BodyUploadSource: UploadSource, @unchecked Sendable {
  private static let pieceSize = 128 * 1024
  private static let maximumPieces = 2

  private struct State {
    /// Pieces that were read ahead, in order.
    var full: [Piece] = []
    var empty: [UnsafeMutableRawBufferPointer] = []
    /// How many pieces have memory; 0 until a read has to wait.
    var pieceCount = 0
    /// What follows the last piece: the end, or a failure.
    var end: UploadRead?
    /// Whether a worker thread reads ahead. Meanwhile only that thread uses the reader; otherwise only the engine's thread
    /// does.
    var isReadingAhead = false
    var isClosed = false
    /// Whether `read` returned `later`, so that the engine has to be notified of the next bytes.
    var isAwaited = false
  }

  private struct Piece {
    let memory: UnsafeMutableRawBufferPointer
    var unread: Range<Int>
  }

  private let state = Guarded(State())
  private let reader: BodyReader
  /// Why the reader could not be moved to the first byte; nil if it could.
  private let failure: TransferError?
  /// The request's wait for the bytes; nil if the program's code doesn't produce them.
  private let wait: WaitingRequest?
  private let workers: WorkerThreads
  private let notify: @Sendable () -> Void

  /// - Parameters:
  ///   - offset: the offset of the first byte.
  ///   - wait: the request's wait for the bytes; nil if the program's code doesn't produce them.
  ///   - notify: called on a worker thread when there are bytes after `read` returned `later`.
  init(
    _ layout: BodyLayout, from offset: Int64 = 0, during wait: WaitingRequest?, on workers: WorkerThreads,
    notify: @escaping @Sendable () -> Void
  ) {
    reader = layout.makeReader()
    do throws(MultipartError) {
      // A body that goes on is in files and in memory, where moving reads nothing.
      try reader.seek(to: offset)
      failure = nil
    } catch {
      failure = TransferError(error)
    }
    self.wait = wait
    wait?.begin()
    self.workers = workers
    self.notify = notify
  }

  deinit {
    state.withLock { state in
      for memory in state.empty + state.full.map(\.memory) { memory.deallocate() }
    }
  }

  // MARK: On the engine's thread

  func read(into buffer: UnsafeMutableRawBufferPointer) -> UploadRead {
    if let failure { return .failed(failure) }
    if let result = readFromPieces(into: buffer) { return result }
    do throws(MultipartError) {
      if let count = try reader.readAtOnce(into: buffer) { return count > 0 ? .bytes(count) : .end }
    } catch {
      return .failed(TransferError(error))
    }
    return state.withLock { state in
      startReadingAhead(&state)
      if let end = state.end { return end }
      state.isAwaited = true
      return .later
    }
  }

  /// Reads the bytes that were read ahead; returns nil if there are no more, and the reader is free.
  private func readFromPieces(into buffer: UnsafeMutableRawBufferPointer) -> UploadRead? {
    state.withLock { state in
      guard var piece = state.full.first else {
        if let end = state.end { return end }
        guard state.isReadingAhead else { return nil }
        state.isAwaited = true
        return .later
      }
      let count = min(buffer.count, piece.unread.count)
      let part = piece.unread.lowerBound..<piece.unread.lowerBound + count
      buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: piece.memory[part]))
      piece.unread = part.upperBound..<piece.unread.upperBound
      guard piece.unread.isEmpty else {
        state.full[0] = piece
        return .bytes(count)
      }
      state.empty.append(piece.memory)
      state.full.removeFirst()
      if !state.isReadingAhead, state.end == nil, reader.waitsForNext { startReadingAhead(&state) }
      return .bytes(count)
    }
  }

  func close() {
    wait?.end()
    let isReaderFree = state.withLock { state in
      state.isClosed = true
      return !state.isReadingAhead
    }
    guard isReaderFree else {
      // Interrupting runs code of the caller, such as the handlers of a task that is cancelled.
      if !workers.run({ [self] in reader.interrupt() }) { reader.interrupt() }
      return
    }
    // Closing a file may wait, too.
    if reader.waitsForNext, workers.run({ [self] in reader.close() }) { return }
    reader.close()
  }

  private func startReadingAhead(_ state: inout State) {
    state.isReadingAhead = workers.run { [self] in
      if let wait { wait.running { readAhead() } } else { readAhead() }
    }
    if !state.isReadingAhead { state.end = .failed(.noThreadForBody) }
  }

  // MARK: On a worker thread

  private func readAhead() {
    while let memory = takeEmptyPiece() {
      let result: UploadRead
      do throws(MultipartError) {
        let count = try reader.read(into: memory)
        result = count > 0 ? .bytes(count) : .end
      } catch {
        result = .failed(TransferError(error))
      }
      store(result, in: memory)
    }
  }

  /// Returns nil if there is nothing more to do. From then on, the engine's thread uses the reader again.
  private func takeEmptyPiece() -> UnsafeMutableRawBufferPointer? {
    let (piece, isClosed) = state.withLock { state -> (UnsafeMutableRawBufferPointer?, Bool) in
      if !state.isClosed, state.end == nil {
        if let piece = state.empty.popLast() { return (piece, false) }
        if state.pieceCount < Self.maximumPieces {
          state.pieceCount += 1
          return (.allocate(byteCount: Self.pieceSize, alignment: 16), false)
        }
      }
      state.isReadingAhead = false
      return (nil, state.isClosed)
    }
    if isClosed { reader.close() }
    return piece
  }

  private func store(_ result: UploadRead, in memory: UnsafeMutableRawBufferPointer) {
    if case .bytes = result {} else { wait?.end() }
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
