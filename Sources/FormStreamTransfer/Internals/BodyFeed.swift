import FormStream
import Foundation
import FormStreamPlatform

/// What the engine reads a body from, on its own thread and without waiting.
protocol BodyFeed: AnyObject {
  /// Puts bytes into `room`, as many as are there at once.
  func read(into room: UnsafeMutableRawBufferPointer) -> FeedRead
  /// Frees what is held. Nothing is read after it.
  func close()
}

enum FeedRead {
  /// At least one byte.
  case bytes(Int)
  case end
  /// There is nothing yet. Whoever made the feed is told when there is.
  case later
  case failed(MultipartError)
}

/// Reads files and memory: they don't keep anybody waiting.
final class DirectFeed: BodyFeed {
  private let stream: FormInputStream

  init(_ layout: BodyLayout) {
    stream = FormInputStream(layout)
    stream.open()
  }

  deinit { stream.close() }

  func read(into room: UnsafeMutableRawBufferPointer) -> FeedRead {
    stream.readOnce(into: room)
  }

  func close() {
    stream.close()
  }
}

extension FormInputStream {
  fileprivate func readOnce(into room: UnsafeMutableRawBufferPointer) -> FeedRead {
    guard let start = room.assumingMemoryBound(to: UInt8.self).baseAddress else { return .end }
    let count = read(start, maxLength: room.count)
    if count > 0 { return .bytes(count) }
    if count == 0 { return .end }
    return .failed(
      streamError as? MultipartError
        ?? MultipartError(
          .streamFailed, on: "the body", "The body's stream failed without a reason."))
  }
}

/// Reads what may keep its reader waiting, on a thread of its own, a little ahead; not before the first bytes
/// are asked for, so that what can be read once is there still where nobody was reached.
///
/// A thread that is inside a source can't be called back: when the feed is closed meanwhile, it ends as soon
/// as the source returns.
final class PumpedFeed: BodyFeed, @unchecked Sendable {
  private static let pieceSize = 128 * 1024
  private static let pieces = 2

  private struct State {
    var full: [Piece] = []
    var spare: [UnsafeMutableRawBufferPointer]
    var end: FeedRead?
    var isClosed = false
    var isAwaited = false
    var isBegun = false
  }

  private let state: Guarded<State>
  private let layout: BodyLayout
  private let notify: @Sendable () -> Void

  private struct Piece {
    let memory: UnsafeMutableRawBufferPointer
    var unread: Range<Int>
  }

  /// - Parameter notify: called on the pump's thread when there is something after `read` had said `later`.
  init(_ layout: BodyLayout, notify: @escaping @Sendable () -> Void) {
    self.layout = layout
    self.notify = notify
    let spare: [UnsafeMutableRawBufferPointer] = (0..<Self.pieces).map { _ in
      .allocate(byteCount: Self.pieceSize, alignment: 16)
    }
    state = Guarded(State(spare: spare))
  }

  deinit {
    state.withLock { state in
      for memory in state.spare + state.full.map(\.memory) { memory.deallocate() }
    }
  }

  func read(into room: UnsafeMutableRawBufferPointer) -> FeedRead {
    state.withLock { state in
      guard var piece = state.full.first else {
        if state.end == nil, !state.isBegun { begin(&state) }
        if let end = state.end { return end }
        state.isAwaited = true
        return .later
      }
      let count = min(room.count, piece.unread.count)
      let part = piece.unread.lowerBound..<piece.unread.lowerBound + count
      room.copyMemory(from: UnsafeRawBufferPointer(rebasing: piece.memory[part]))
      piece.unread = part.upperBound..<piece.unread.upperBound
      if piece.unread.isEmpty {
        state.spare.append(piece.memory)
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

  private func begin(_ state: inout State) {
    state.isBegun = true
    guard !startThread("formstream-read", { [self] in pump() }) else { return }
    state.end = .failed(
      MultipartError(.streamFailed, on: "the body", TransferError.noThread.description))
  }

  private func pump() {
    let stream = FormInputStream(layout)
    stream.open()
    defer { stream.close() }
    while let memory = takeSpare() {
      let result = stream.readOnce(into: memory)
      put(result, in: memory)
      guard case .bytes = result else { return }
    }
  }

  /// Waits for room; returns nil if no more is wanted.
  private func takeSpare() -> UnsafeMutableRawBufferPointer? {
    state.waitUntil({ !$0.spare.isEmpty || $0.isClosed }) { state in
      state.isClosed ? nil : state.spare.removeLast()
    }
  }

  private func put(_ result: FeedRead, in memory: UnsafeMutableRawBufferPointer) {
    let wakesReader = state.withLock { state in
      if case .bytes(let count) = result {
        state.full.append(Piece(memory: memory, unread: 0..<count))
      } else {
        state.spare.append(memory)
        state.end = result
      }
      defer { state.isAwaited = false }
      return state.isAwaited && !state.isClosed
    }
    if wakesReader { notify() }
  }
}
