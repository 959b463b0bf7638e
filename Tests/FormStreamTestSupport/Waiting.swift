import Foundation

/// Does what blocks on a thread of its own: the few threads that tasks share stay free.
public func onNewThread<Result: Sendable>(
  _ body: @escaping @Sendable () -> Result
) async -> Result {
  await withCheckedContinuation { continuation in
    Thread { continuation.resume(returning: body()) }.start()
  }
}

/// The same for what throws.
public func onNewThread<Result: Sendable>(
  _ body: @escaping @Sendable () throws -> Result
) async throws -> Result {
  try await withCheckedThrowingContinuation { continuation in
    Thread { continuation.resume(with: Swift.Result { try body() }) }.start()
  }
}

/// Looks again and again until it is so; false where it isn't within half a minute.
public func eventually(_ isSo: () -> Bool) async -> Bool {
  let deadline = ContinuousClock.now + .seconds(30)
  while !isSo() {
    if ContinuousClock.now > deadline { return isSo() }
    try? await Task.sleep(for: .milliseconds(2))
  }
  return true
}
