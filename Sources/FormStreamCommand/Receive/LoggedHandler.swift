import FormStreamReceiver

/// Refuses uploads while nothing reads the records, and passes on all other uploads.
struct LoggedHandler: UploadHandler {
  let queue: LogQueue
  let handler: any UploadHandler

  var supportsIfNoneMatch: Bool { handler.supportsIfNoneMatch }

  func begin(_ request: UploadRequest) throws -> any Upload {
    guard !queue.isStalled else {
      throw UploadRefusal(
        .overloaded, status: 503,
        "Nobody reads the receiver's output, so it accepts no uploads: try again later.")
    }
    return try handler.begin(request)
  }
}
