/// The requests that wait for the code of the program that is running: for the bytes of their body, for a decision on
/// their response, or until that code has accepted a part of the response. They keep their connections meanwhile.
enum WaitingRequest {
  /// The sessions of these requests.
  ///
  /// Requests that this code starts in one of these sessions don't wait for a connection: those that they would wait for may
  /// be held by the requests that wait for them.
  @TaskLocal private static var sessions: Set<ObjectIdentifier> = []

  /// Runs code that a request of a session waits for.
  static func running<Result>(
    for session: ObjectIdentifier?, _ code: () throws -> Result
  ) rethrows -> Result {
    guard let session, !sessions.contains(session) else { return try code() }
    return try $sessions.withValue(sessions.union([session]), operation: code)
  }

  /// The same for asynchronous code.
  static func running<Result>(
    for session: ObjectIdentifier?, _ code: () async throws -> Result
  ) async rethrows -> Result {
    guard let session, !sessions.contains(session) else { return try await code() }
    return try await $sessions.withValue(sessions.union([session]), operation: code)
  }

  /// Whether a request of the session waits for the code that is running.
  static func exists(in session: TransferSession) -> Bool {
    sessions.contains(ObjectIdentifier(session))
  }
}
