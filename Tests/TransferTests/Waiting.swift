import Foundation
import Transfer

/// Does what blocks on a thread of its own: the few threads that tasks share stay free.
func onOwnThread<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
  await withCheckedContinuation { continuation in
    Thread { continuation.resume(returning: body()) }.start()
  }
}

/// Looks again and again until it is so; false where it isn't within half a minute.
func eventually(_ isSo: () -> Bool) async -> Bool {
  let deadline = ContinuousClock.now + .seconds(30)
  while !isSo() {
    if ContinuousClock.now > deadline { return isSo() }
    try? await Task.sleep(for: .milliseconds(2))
  }
  return true
}

/// A session with the usual settings, that keeps its connections however slow the machine is: tests count them.
func patientSession() throws(TransferError) -> TransferSession {
  var configuration = TransferSession.Configuration()
  configuration.idleLimit = .seconds(600)
  return try TransferSession(configuration)
}
