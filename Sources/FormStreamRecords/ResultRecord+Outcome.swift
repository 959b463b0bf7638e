extension ResultRecord {
  /// What can be said of a request. The set is closed: it is part of the schema.
  package enum Outcome: String, CaseIterable, Sendable {
    /// The answer was a success, to a request that went out whole.
    case ok
    /// It failed, and would fail again.
    case failed
    /// It failed in a way that another time may not.
    case retryable
    /// It may have arrived and may not: no answer tells.
    case unknown
    /// A source changed while it was read, so the body was not completed.
    case sourceChanged = "source-changed"
    /// It was called off.
    case cancelled
  }
}
