import FormStreamPlatform
import FormStreamReceiver

/// The values of `--answer` and `--delay`: the responses with which an upload client is tested.
struct ChosenResponse: Sendable {
  /// Nil if the receiver chooses the status.
  var status: Int?
  /// The time from the end of an upload to its response.
  var delay = Duration.zero

  /// Whether the response differs from the receiver's own, in its status or its time.
  var isChosen: Bool { status != nil || delay > .zero }

  /// Stores the upload unless it is refused, and chooses the response to it.
  ///
  /// - Parameter isOver: whether the receiver is stopping, which ends the delay.
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
