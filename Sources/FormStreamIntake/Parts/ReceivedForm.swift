/// A body that was received, completely or in part.
package struct ReceivedForm: Sendable {
  /// Why a body was not received or not kept.
  package struct Failure: Hashable, Sendable {
    /// The code as written in records.
    package let code: String
    /// A full sentence for people.
    package let message: String

    package init(code: String, message: String) {
      (self.code, self.message) = (code, message)
    }
  }

  /// How many bytes of the body were read; if it is malformed, the offset of the flaw.
  package let bodyBytes: Int64
  /// Whether the body was well formed, complete, and kept.
  package let isComplete: Bool
  /// The parts that are complete, in their order.
  package let parts: [ReceivedPart]
  /// Why the body is not complete; nil if it is complete.
  package let failure: Failure?

  package init(bodyBytes: Int64, isComplete: Bool, parts: [ReceivedPart], failure: Failure?) {
    self.bodyBytes = bodyBytes
    self.isComplete = isComplete
    self.parts = parts
    self.failure = failure
  }
}
