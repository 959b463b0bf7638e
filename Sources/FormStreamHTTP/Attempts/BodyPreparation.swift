import FormStreamMultipart

/// A step that prepares a body before an attempt sends it.
enum BodyPreparation: Sendable {
  /// The body's files are measured.
  case measuring
  /// The body's streams are read into memory.
  case readingAhead
  /// The body's streams are stored in a temporary file.
  case storing
  /// The body is read once for its `Content-Digest`.
  case hashing
  /// The body is read once more to find its length, because the server demands the length.
  case counting
}

extension TransferRun {
  /// Runs a step of the preparation on a thread of its own, because the step may block. The time counts toward the
  /// attempt's limit.
  ///
  /// - Parameter interrupt: called if the time runs out or the request is cancelled, so that the step returns soon.
  nonisolated(nonsending) func prepareBody<Value: Sendable>(
    by step: BodyPreparation, interruptedBy interrupt: (@Sendable () -> Void)? = nil,
    _ body: @escaping @Sendable () throws(TransferError) -> Value
  ) async throws(TransferError) -> Value {
    let wait = bodyWait
    wait.begin()
    let activity = connection.activity
    activity?.beginWork()
    defer { activity?.endWork() }
    let result = await time.spend {
      await control.performBlocking(atMost: time.left, interruptedBy: interrupt) {
        wait.running {
          Result { () throws(TransferError) in try body() }
        }
      }
    }
    guard let result else {
      guard let limit = time.limit, !control.isCancelled else { throw .cancelledBeforeResponse }
      throw .notPrepared(by: step, within: limit)
    }
    return try result.get()
  }
}
