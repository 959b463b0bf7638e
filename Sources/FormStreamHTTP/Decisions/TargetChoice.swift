import FormStreamPlatform

/// The program's choice of the target of a response. The engine doesn't wait for the choice.
final class TargetChoice: Sendable {
  private struct State {
    var result: Result<ResponseTarget?, any Error>?
    var task: Task<Void, Never>?
  }

  private let state = Guarded(State())

  /// - Parameter notify: called when the choice is made.
  init(
    _ choose: @escaping @Sendable () async throws -> ResponseTarget?,
    notify: @escaping @Sendable () -> Void
  ) {
    // The choice doesn't run on the engine's thread, where the request's own task runs.
    let task = Task.detached { [state] in
      let result: Result<ResponseTarget?, any Error>
      do { result = .success(try await choose()) } catch { result = .failure(error) }
      state.withLock { $0.result = result }
      notify()
    }
    state.withLock { $0.task = task }
  }

  /// The choice; nil if it isn't made yet.
  var result: Result<ResponseTarget?, any Error>? { state.withLock(\.result) }

  func cancel() { state.withLock(\.task)?.cancel() }
}
