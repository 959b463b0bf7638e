import FormStreamPlatform

/// Passes a response to tasks that read it: first its head, and then its body as it arrives.
///
/// The body waits in a buffer. If the buffer is full, the engine stops receiving until a task has read from it.
final class ArrivingResponse: ResponseDelivery, Sendable {
  private static let capacity = ResponseWriter.pieceSize

  private struct State {
    var head: TransferResponse?
    /// The request's outcome, if the head decides it; nil if it depends on the rest of the response.
    var outcomeOfHead: TransferResult.Outcome?
    /// The bytes that have arrived and were not read.
    var bytes: [UInt8] = []
    /// The result of the request; nil before its end.
    var result: TransferResult?
    /// Reports to the engine that there is room; nil if the engine does not receive.
    var notify: (@Sendable () -> Void)?
    /// Whether `write` returned `later`, and the engine waits for room.
    var isAwaited = false
    /// The tasks that wait for a change.
    var readers: [CheckedContinuation<Void, Never>] = []
  }

  /// The bytes that the reading tasks have taken out of the buffer, and their decoder.
  private struct Taken {
    /// Nil if the bytes are not coded.
    var decoder: ResponseDecoder?
    /// The bytes that are not decoded yet.
    var coded: ArraySlice<UInt8> = []
    var error: TransferError?
  }

  private let state = Guarded(State())
  /// A task that reads locks `taken` first, and then `state`. There are two locks because decoding takes time. While bytes
  /// arrive, the engine locks only `state`, so it doesn't wait for a task that decodes.
  private let taken = Guarded(Taken())

  // MARK: On the engine's thread

  /// Notes the decision that was made when the response's head had arrived.
  func note(_ decision: AttemptDecision) {
    guard case .conclude(let verdict) = decision else { return }
    state.withLock { $0.outcomeOfHead = verdict.outcome }
  }

  /// Begins the response that the caller gets.
  ///
  /// - Parameters:
  ///   - head: the response, with the bytes of its body that have arrived.
  ///   - decoder: decodes the bytes of `write`; nil if they are not coded.
  ///   - notify: called when there is room after `write` returned `later`.
  func begin(
    _ head: TransferResponse, decodedBy decoder: ResponseDecoder? = nil,
    notify: (@Sendable () -> Void)? = nil
  ) {
    taken.withLock { $0.decoder = decoder }
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
    // Wakes the tasks that read, so that they make room.
    if !isTaken { flush() }
    return isTaken ? .taken : .later
  }

  /// Called whenever libcurl has worked on the request, even if nothing has arrived.
  func flush() {
    if !state.withLock(\.bytes.isEmpty) { change { _ in } }
  }

  /// Ends the request.
  func end(_ result: TransferResult) {
    change { $0.result = result }
  }

  // The result doesn't wait for readers. The bytes that have arrived can still be read after the request has ended.
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
    /// The rest of the body can't be decoded.
    case failure(TransferError)
    /// All bytes have been read.
    case end(TransferResult)
  }

  /// Waits for the response; returns nil if the request ends without one.
  func head(isolation actor: isolated (any Actor)?) async -> TransferResponse? {
    await wait { $0.head != nil || $0.result != nil }
    return state.withLock(\.head)
  }

  /// The request's outcome, if the head decides it; nil if it depends on the rest of the response.
  var outcomeOfHead: TransferResult.Outcome? { state.withLock(\.outcomeOfHead) }

  /// Waits for bytes, and takes all bytes that have arrived. If the bytes are coded, takes the next decoded piece. Decoding
  /// doesn't run on the caller's actor.
  func next(isolation actor: isolated (any Actor)?) async -> Piece {
    while true {
      let isCoded = actor != nil && taken.withLock { $0.decoder != nil }
      if let piece = isCoded ? await decodedPiece() : takePiece() { return piece }
      await wait { !$0.bytes.isEmpty || $0.result != nil }
      // Another task may have taken the bytes.
      let (isEmpty, result) = state.withLock { ($0.bytes.isEmpty, $0.result) }
      if isEmpty, let result { return taken.withLock { end($0, result) } }
    }
  }

  private func takePiece() -> Piece? { taken.withLock { nextPiece(&$0) } }

  /// Takes the next piece on one of the threads that tasks share.
  @concurrent private func decodedPiece() async -> Piece? { takePiece() }

  private func nextPiece(_ taken: inout Taken) -> Piece? {
    if let error = taken.error { return .failure(error) }
    guard let decoder = taken.decoder else {
      let bytes = takeBytes()
      return bytes.isEmpty ? nil : .bytes(bytes)
    }
    while true {
      var left = 0
      let decoded = taken.coded.withUnsafeBytes { coded -> Result<[UInt8]?, TransferError> in
        var rest = coded
        defer { left = rest.count }
        do throws(ResponseDecoder.Failure) {
          return .success(try decoder.next(&rest).map(Array.init))
        } catch {
          return .failure(error.error)
        }
      }
      taken.coded = taken.coded.suffix(left)
      switch decoded {
      case .success(let piece?): return .bytes(piece)
      case .success(nil):
        taken.coded = takeBytes()[...]
        if taken.coded.isEmpty { return nil }
      case .failure(let error):
        taken.error = error
        return .failure(error)
      }
    }
  }

  private func end(_ taken: Taken, _ result: TransferResult) -> Piece {
    guard result.response?.isTruncated == false else { return .end(result) }
    do throws(ResponseDecoder.Failure) {
      try taken.decoder?.checkEnd()
      return .end(result)
    } catch {
      return .failure(error.error)
    }
  }

  private func takeBytes() -> [UInt8] {
    let (bytes, notify) = state.withLock { state in
      defer { (state.bytes, state.isAwaited) = ([], false) }
      return (state.bytes, state.isAwaited ? state.notify : nil)
    }
    notify?()
    return bytes
  }

  private func wait(
    isolation actor: isolated (any Actor)? = #isolation, until isFulfilled: (State) -> Bool
  ) async {
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
