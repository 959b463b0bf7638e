/// Knows whether a request waits for the code of the program that is running: for the bytes of its body, for a decision on
/// its response, or until a part of the response is accepted. Such a request keeps its connection meanwhile.
enum WaitingRequest {
  /// The sessions of the requests that wait for this code.
  ///
  /// A request that this code starts in one of these sessions doesn't wait for a connection, because the requests that wait
  /// for this code may have them all. Tasks that this code starts inherit the value, also those that outlive it.
  @TaskLocal private static var sessions: Set<ObjectIdentifier> = []

  /// Runs code that a request of a session waits for.
  static func running<Result>(
    for session: ObjectIdentifier?, _ code: () throws -> Result
  ) rethrows -> Result {
    guard let session, !sessions.contains(session) else { return try code() }
    return try $sessions.withValue(sessions.union([session]), operation: code)
  }

  /// Runs asynchronous code that a request of a session waits for.
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
