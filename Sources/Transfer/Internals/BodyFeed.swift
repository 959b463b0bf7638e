import FormStream
import Foundation
import Records

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

  /// Guards all below; signalled when there is room, or nobody wants more.
  private let condition = NSCondition()
  private var full: [Piece] = []
  private var spare: [UnsafeMutableRawBufferPointer]
  private var end: FeedRead?
  private var isClosed = false
  private var isAwaited = false
  private var isBegun = false

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
    spare = (0..<Self.pieces).map { _ in .allocate(byteCount: Self.pieceSize, alignment: 16) }
  }

  deinit {
    for memory in spare + full.map(\.memory) { memory.deallocate() }
  }

  func read(into room: UnsafeMutableRawBufferPointer) -> FeedRead {
    condition.lock()
    defer { condition.unlock() }
    guard var piece = full.first else {
      if let end { return end }
      if !isBegun { begin() }
      if let end { return end }
      isAwaited = true
      return .later
    }
    let count = min(room.count, piece.unread.count)
    let part = piece.unread.lowerBound..<piece.unread.lowerBound + count
    room.copyMemory(from: UnsafeRawBufferPointer(rebasing: piece.memory[part]))
    piece.unread = part.upperBound..<piece.unread.upperBound
    if piece.unread.isEmpty {
      spare.append(piece.memory)
      full.removeFirst()
      condition.signal()
    } else {
      full[0] = piece
    }
    return .bytes(count)
  }

  func close() {
    condition.lock()
    isClosed = true
    condition.signal()
    condition.unlock()
  }

  private func begin() {
    isBegun = true
    guard !startThread("formstream-read", { [self] in pump() }) else { return }
    end = .failed(
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

  private func takeSpare() -> UnsafeMutableRawBufferPointer? {
    condition.lock()
    defer { condition.unlock() }
    while spare.isEmpty, !isClosed { condition.wait() }
    return isClosed ? nil : spare.removeLast()
  }

  private func put(_ result: FeedRead, in memory: UnsafeMutableRawBufferPointer) {
    condition.lock()
    if case .bytes(let count) = result {
      full.append(Piece(memory: memory, unread: 0..<count))
    } else {
      spare.append(memory)
      end = result
    }
    let wakes = isAwaited && !isClosed
    isAwaited = false
    condition.unlock()
    if wakes { notify() }
  }
}
