import Foundation
import FormStreamPlatform

/// Runs a blocking function on a new thread, because the threads that tasks share are few.
public func onNewThread<Result: Sendable>(
  _ body: @escaping @Sendable () -> Result
) async -> Result {
  await withCheckedContinuation { continuation in
    Thread { continuation.resume(returning: body()) }.start()
  }
}

/// Runs a blocking function that may throw on a new thread.
public func onNewThread<Result: Sendable>(
  _ body: @escaping @Sendable () throws -> Result
) async throws -> Result {
  try await withCheckedThrowingContinuation { continuation in
    Thread { continuation.resume(with: Swift.Result { try body() }) }.start()
  }
}

/// Checks a condition until it is true. Returns false if it is still false after half a minute.
public func eventually(_ condition: () -> Bool) async -> Bool {
  let deadline = ContinuousClock.now + .seconds(30)
  while !condition() {
    if ContinuousClock.now > deadline { return condition() }
    try? await Task.sleep(for: .milliseconds(2))
  }
  return true
}

extension Guarded {
  /// Checks a condition of the value, on this thread, until it is true. Returns false if it is still false after
  /// that many seconds.
  func wait(within seconds: Int, until condition: (inout Value) -> Bool) -> Bool {
    let deadline = ContinuousClock.now + .seconds(seconds)
    while !withLock({ condition(&$0) }) {
      if ContinuousClock.now > deadline { return withLock { condition(&$0) } }
      usleep(1000)
    }
    return true
  }
}
