import FormStreamPlatform

/// Passes a response to tasks that read it: first its head, and then its body as it arrives.
///
/// The body waits in a buffer. If that is full, the engine stops receiving until a task has read it.
final class ArrivingResponse: ResponseDelivery, Sendable {
  private static let capacity = ResponseWriter.pieceSize

  private struct State {
    var head: TransferResponse?
    /// What the head means for the request; nil if that depends on the rest.
    var outcomeOfHead: TransferResult.Outcome?
    /// What arrived and was not read.
    var bytes: [UInt8] = []
    /// The result of the request; nil before its end.
    var result: TransferResult?
    /// Reports to the engine that there is room; nil if it does not receive.
    var notify: (@Sendable () -> Void)?
    /// Whether `write` returned `later`, and the engine waits for room.
    var isAwaited = false
    /// The tasks that wait for a change.
    var readers: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Guarded(State())

  // MARK: On the engine's thread

  /// Notes what is decided when a response's head has arrived.
  func note(_ decision: AttemptDecision) {
    guard case .conclude(let verdict) = decision else { return }
    state.withLock { $0.outcomeOfHead = verdict.outcome }
  }

  /// Begins the response that the caller gets.
  ///
  /// - Parameters:
  ///   - head: the response, with the bytes of its body that have arrived.
  ///   - notify: called when there is room after `write` returned `later`.
  func begin(_ head: TransferResponse, notify: (@Sendable () -> Void)? = nil) {
    change { state in
      state.head = head
      state.bytes = Array(head.body)
      state.notify = notify
    }
  }

  func write(_ bytes: UnsafeRawBufferPointer) -> ResponseAcceptance {
    let isTaken = state.withLock { state in
      let hasRoom = state.bytes.isEmpty || state.bytes.count + bytes.count <= Self.capacity
      if hasRoom { state.bytes.append(contentsOf: bytes) } else { state.isAwaited = true }
      return hasRoom
    }
    // Those who read make room.
    if !isTaken { flush() }
    return isTaken ? .taken : .later
  }

  /// Called whenever libcurl has looked at the request, also if nothing has arrived.
  func flush() {
    if !state.withLock(\.bytes.isEmpty) { change { _ in } }
  }

  /// Ends the request.
  func end(_ result: TransferResult) {
    change { $0.result = result }
  }

  // The result doesn't wait for those who read, and what has arrived can be read after it.
  func finish(isComplete: Bool) {}
  func abandon() {}
  var isFinished: Bool { true }
  var failure: (error: any Error, wasOpen: Bool)? { nil }

  private func change(_ body: (inout State) -> Void) {
    let readers = state.withLock { state in
      body(&state)
      defer { state.readers = [] }
      return state.readers
    }
    for reader in readers { reader.resume() }
  }

  // MARK: In the tasks that read

  /// What a task can read next.
  enum Piece {
    case bytes([UInt8])
    /// There is no more.
    case end(TransferResult)
  }

  /// Waits for the response; returns nil if the request ends without one.
  func head() async -> TransferResponse? {
    await wait { $0.head != nil || $0.result != nil }
    return state.withLock(\.head)
  }

  /// What the head means for the request; nil if that depends on the rest.
  var outcomeOfHead: TransferResult.Outcome? { state.withLock(\.outcomeOfHead) }

  /// Waits for bytes, and takes all that have arrived.
  func next() async -> Piece {
    while true {
      await wait { !$0.bytes.isEmpty || $0.result != nil }
      let (piece, notify) = state.withLock { state -> (Piece?, (@Sendable () -> Void)?) in
        guard state.bytes.isEmpty else {
          defer { (state.bytes, state.isAwaited) = ([], false) }
          return (.bytes(state.bytes), state.isAwaited ? state.notify : nil)
        }
        return (state.result.map { .end($0) }, nil)
      }
      notify?()
      // Another task may have taken the bytes.
      if let piece { return piece }
    }
  }

  private func wait(until isFulfilled: (State) -> Bool) async {
    while !state.withLock({ isFulfilled($0) }) {
      await withCheckedContinuation { continuation in
        let mayContinue = state.withLock { state in
          if isFulfilled(state) { return true }
          state.readers.append(continuation)
          return false
        }
        if mayContinue { continuation.resume() }
      }
    }
  }
}
