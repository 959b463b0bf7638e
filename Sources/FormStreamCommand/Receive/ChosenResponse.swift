import FormStreamPlatform
import FormStreamReceiver

/// What `--answer` and `--delay` ask for: responses that an upload client is tested with.
struct ChosenResponse: Sendable {
  /// Nil if the status is the receiver's.
  var status: Int?
  /// The time from the end of an upload to its response.
  var delay = Duration.zero

  /// Whether the response is another than the receiver's own.
  var isChosen: Bool { status != nil || delay > .zero }

  /// Stores the upload unless it is refused, and chooses the response to it.
  ///
  /// - Parameter isOver: whether the receiver ends, which ends the delay.
  func respond(
    to upload: CompleteUpload, until isOver: () -> Bool
  ) throws -> UploadResponse? {
    let response = try status.map { try UploadResponse.record(status: $0) }
    if response?.isRefusal != true { try upload.store() }
    let end = ContinuousClock.now + delay
    let never = AutoResetEvent()
    while !isOver() {
      let left = end - .now
      guard left > .zero else { break }
      never.wait(atMost: min(left, .milliseconds(50)))
    }
    return response
  }
}
