import FormStreamPlatform

/// The credentials that the program gave for challenges, and the calls that ask for them.
///
/// One call serves all requests to an origin that have the same credentials of their own and get a 401 in the same realm.
final class AnsweredCredentials: Sendable {
  typealias Answer = Result<Credentials?, any Error>

  /// The requests that credentials are for.
  struct Requests: Hashable {
    let origin: HTTPURL.Origin
    /// The credentials that the requests have themselves; nil if they have none.
    let own: Credentials?
  }

  private struct Place: Hashable {
    let requests: Requests
    let realm: String?
  }

  private struct State {
    var latest: [Requests: Credentials] = [:]
    var current: [Place: Credentials] = [:]
    /// The calls that are being made, and how many requests wait for each.
    var calls: [Place: (call: Call, waiting: Int)] = [:]
  }

  private static let maximumCount = 1024
  private let state = Guarded(State())

  /// The credentials that requests send at once, because the program gave them for earlier requests; nil if it gave none.
  func latest(for requests: Requests) -> Credentials? {
    state.withLock { $0.latest[requests] }
  }

  /// Asks for credentials, or waits for the answer if another request has already asked.
  ///
  /// - Parameters:
  ///   - refused: the credentials that got the 401.
  ///   - ask: asks the program.
  /// - Returns: nil if the request was cancelled.
  func answer(
    for requests: Requests, realm: String?, refused: Credentials?, _ control: TransferControl,
    ask: @escaping @Sendable () async throws -> Credentials?
  ) async -> Answer? {
    let place = Place(requests: requests, realm: realm)
    let step = state.withLock { state -> (known: Credentials?, call: Call, isNew: Bool) in
      if let (call, waiting) = state.calls[place] {
        state.calls[place] = (call, waiting + 1)
        return (nil, call, false)
      }
      let call = Call()
      // Another request may have got new credentials since this request was sent.
      if let current = state.current[place], current != refused { return (current, call, false) }
      state.calls[place] = (call, 1)
      return (nil, call, true)
    }
    if let known = step.known { return .success(known) }
    if step.isNew {
      step.call.begin { [self] in
        let answer: Answer
        do { answer = .success(try await ask()) } catch { answer = .failure(error) }
        note(answer, of: step.call, at: place)
        return answer
      }
    }
    let answer: Answer? = await control.wait(atMost: nil) { step.call.add($0) }
    if answer == nil { leave(step.call, at: place) }
    return answer
  }

  private func note(_ answer: Answer, of call: Call, at place: Place) {
    state.withLock { state in
      if state.calls[place]?.call === call { state.calls[place] = nil }
      guard case .success(let credentials?) = answer else { return }
      if state.current[place] == nil, state.current.count >= Self.maximumCount {
        (state.current, state.latest) = ([:], [:])
      }
      state.current[place] = credentials
      state.latest[place.requests] = credentials
    }
  }

  /// Notes that a request no longer waits for a call. If no other request waits for it, the call is cancelled.
  private func leave(_ call: Call, at place: Place) {
    let isUnused = state.withLock { state in
      guard let (current, waiting) = state.calls[place], current === call else { return false }
      state.calls[place] = waiting > 1 ? (call, waiting - 1) : nil
      return waiting == 1
    }
    if isUnused { call.cancel() }
  }
}

/// A call that asks for credentials, and the requests that wait for it.
private final class Call: Sendable {
  typealias Answer = AnsweredCredentials.Answer

  private struct State {
    var answer: Answer?
    var waiting: [@Sendable (Answer?) -> Bool] = []
    var task: Task<Void, Never>?
  }

  private let state = Guarded(State())

  /// - Parameter end: called with the answer.
  func add(_ end: @escaping @Sendable (Answer?) -> Bool) {
    let answer = state.withLock { state in
      if state.answer == nil { state.waiting.append(end) }
      return state.answer
    }
    if let answer { _ = end(answer) }
  }

  func begin(_ ask: @escaping @Sendable () async -> Answer) {
    let task = Task.detached { [self] in finish(await ask()) }
    state.withLock { $0.task = task }
  }

  private func finish(_ answer: Answer) {
    let waiting = state.withLock { state in
      (state.answer, state.task) = (answer, nil)
      defer { state.waiting = [] }
      return state.waiting
    }
    for end in waiting { _ = end(answer) }
  }

  func cancel() {
    state.withLock(\.task)?.cancel()
  }
}
