import FormStreamPlatform

/// The time in which a request waits for the program's code: for the bytes of its body, for a decision on its response, or
/// until the code accepts a part of the response. Such a request keeps its connection meanwhile.
///
/// A request that this code starts in the same session doesn't wait for a connection, because the requests that wait for this
/// code may have all connections. Tasks that this code starts inherit the wait. Such a task may outlive the code, so the wait
/// has an end.
final class WaitingRequest: Sendable {
  /// The waits for the code that is running.
  @TaskLocal private static var current: [WaitingRequest] = []

  private let session: ObjectIdentifier
  private let isWaiting = Guarded(true)

  /// Begins a wait of a request.
  init(in session: ObjectIdentifier) {
    self.session = session
  }

  /// Begins the wait again after its end, because another attempt reads the same body.
  func begin() { isWaiting.withLock { $0 = true } }

  /// Ends the wait. After this, requests that the code starts wait for connections like other requests.
  func end() { isWaiting.withLock { $0 = false } }

  /// Runs code that the request waits for.
  func running<Result>(_ code: () throws -> Result) rethrows -> Result {
    try Self.$current.withValue(Self.waits(adding: self), operation: code)
  }

  /// Runs asynchronous code that the request waits for.
  func running<Result>(_ code: () async throws -> Result) async rethrows -> Result {
    try await Self.$current.withValue(Self.waits(adding: self), operation: code)
  }

  private static func waits(adding wait: WaitingRequest) -> [WaitingRequest] {
    current.filter { $0 !== wait && $0.isWaiting.withLock(\.self) } + [wait]
  }

  /// Returns a closure that says whether requests of a session wait for the code that is running. The closure is called at
  /// once, and again while a request that this code starts waits for a connection.
  static func areWaiting(in session: TransferSession) -> @Sendable () -> Bool {
    let id = ObjectIdentifier(session)
    let waits = current.filter { $0.session == id }
    return { waits.contains { $0.isWaiting.withLock(\.self) } }
  }
}
