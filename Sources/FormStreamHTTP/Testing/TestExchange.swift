import FormStreamMultipart
import FormStreamPlatform

/// The server's side of one request, between the function that answers and the thread of the connection. The function asks for
/// the body and returns the response; the thread reads and writes.
final class TestExchange: Sendable {
  /// How many bytes of a body are kept that the function didn't ask for, so that a test can look at them later.
  private static let keptBytes = 1024 * 1024

  private enum Command {
    case read(upTo: Int, CheckedContinuation<Void, Never>)
    case respond(TestResponse)
  }

  private struct State {
    var commands: [Command] = []
    var body: [UInt8] = []
    /// Whether all bytes of the body are in `body`.
    var isComplete = false
    /// Whether the thread carries out no more commands.
    var hasEnded = false
    var answering: Task<Void, Never>?
  }

  private let state = Guarded(State())

  // MARK: Called by the test

  /// The body, once it has so many bytes or has ended.
  func body(upTo count: Int) async -> [UInt8] {
    await withCheckedContinuation { continuation in
      let isAsked = state.withLock { state in
        guard !state.hasEnded, !state.isComplete, state.body.count < count else { return false }
        state.commands.append(.read(upTo: count, continuation))
        return true
      }
      if !isAsked { continuation.resume() }
    }
    return state.withLock(\.body)
  }

  var isComplete: Bool { state.withLock(\.isComplete) }

  /// Cancels the function that answers. Its response is no longer waited for, because it may ignore this.
  func cancel() {
    state.withLock { state in
      state.commands.append(.respond(.lost))
      return state.answering
    }?.cancel()
  }

  // MARK: Called by the connection's thread

  /// Calls the function that answers, and reads what it asks for. Returns its response.
  func response(
    to request: TestRequest, by answer: @escaping TransferSession.Answer, reading body: TestBody
  ) -> TestResponse {
    let task = Task { [state] in
      let response: TestResponse
      do {
        response = try await answer(request).checked
      } catch {
        response = TestResponse(failure: error)
      }
      state.withLock { $0.commands.append(.respond(response)) }
    }
    state.withLock { $0.answering = task }
    while true {
      let command = state.waitUntil({ !$0.commands.isEmpty }, then: { $0.commands.removeFirst() })
      switch command {
      case .read(let count, let continuation):
        read(body, upTo: count)
        continuation.resume()
      case .respond(let response): return response
      }
    }
  }

  private func read(_ body: TestBody, upTo count: Int) {
    while state.withLock(\.body.count) < count, let piece = body.next() {
      state.withLock { $0.body += piece }
    }
    if body.isComplete { state.withLock { $0.isComplete = true } }
  }

  /// Reads the rest of the body, and keeps the beginning of it. Returns false if the request broke off.
  func readRest(of body: TestBody) -> Bool {
    read(body, upTo: Self.keptBytes)
    guard !body.isComplete else { return true }
    while body.next() != nil {}
    return body.isComplete
  }

  /// Ends the exchange: the test can look only at what was kept.
  func end() {
    let (commands, answering) = state.withLock { state in
      state.hasEnded = true
      defer { (state.commands, state.answering) = ([], nil) }
      return (state.commands, state.answering)
    }
    // It is still running if it was cancelled before it was known here.
    answering?.cancel()
    for case .read(_, let continuation) in commands { continuation.resume() }
  }
}
