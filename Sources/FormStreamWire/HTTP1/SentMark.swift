/// What had left of a request at a moment.
struct SentMark: Sendable {
  var stage = RequestStage.notSent
  /// How many bytes of the body had left.
  var body: Int64 = 0
  /// Whether the complete request had left.
  var isComplete = false
}

/// Input that was received and not read, and what had left when it arrived.
///
/// An event can come after its bytes: the caller may send more of the request after an interim head, while the final head lies in
/// the same input.
struct UnreadInput: Sendable {
  var count = 0
  var mark = SentMark()
}
