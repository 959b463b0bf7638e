import FormStreamMultipart
import FormStreamTransfer
import Glibc
import Measuring

/// Starts a request and waits until it is blocked.
func startBlocked(
  on session: TransferSession, _ url: String, file: String?
) async throws -> TransferTask<TransferResult> {
  var request = try TransferRequest(
    file == nil ? .get : .post, url, body: file.map { .file(LocalPath($0)) })
  if file == nil { request.options.responseTarget = .stream { _ in while true { pause() } } }
  let task = session.start(request)
  // It has begun, and nothing more happens.
  var last: Int64 = 0
  while true {
    let current = task.progress.current
    let count = current.read + current.received
    if count > 0, count == last { return task }
    guard current.phase != .done else {
      throw Failure("the request was not blocked: \(await task.result)")
    }
    last = count
    try await Task.sleep(for: .milliseconds(100))
  }
}

func secondsOfCancelling(
  on session: TransferSession, _ url: String, file: String?
) async throws -> Double {
  let task = try await startBlocked(on: session, url, file: file)
  let begun = ContinuousClock.now
  task.cancel()
  let result = await task.result
  let time = begun.duration(to: .now)
  guard result.error?.code == .cancelled else { throw Failure("it was not cancelled: \(result)") }
  return time / .seconds(1)
}
