import FormStreamMultipart
import FormStreamPlatform

/// The response to a request that was not started as a download, stored with the rules of a download: a partial file with a
/// record, and a final name only for a complete file. See ``ResponseTarget/download(_:)``.
///
/// The functions may block, and are called on worker threads. The response of an attempt that has ended may still be written
/// while the response of the next attempt is opened: each has a file of its own.
final class ResponseDownload: Sendable {
  /// What became of the response.
  struct End: Sendable {
    fileprivate(set) var stored: ResumableFile.Stored?
    fileprivate(set) var left: ResumableFile.Left?
  }

  /// A response that is being stored.
  struct Opened: Sendable {
    fileprivate let partial: ResumableFile
    fileprivate let sink: DownloadSink
    fileprivate let number: Int
  }

  private struct State {
    /// The number of the response that was opened last.
    var number = 0
    var isOpen = false
    /// What became of the response that was opened last.
    var end = End()
  }

  private let request: TransferRequest
  private let state = Guarded(State())
  private let closed = AutoResetEvent()

  init(_ request: TransferRequest) {
    self.request = request
  }

  /// What became of the last response; empty if none was stored.
  var end: End { state.withLock(\.end) }

  /// Whether the last response is still being stored.
  var isOpen: Bool { state.withLock(\.isOpen) }

  /// Waits until the last response is stored.
  func waitForEnd(atMost limit: Duration) {
    // The signal may be of an earlier response.
    while isOpen, closed.wait(atMost: limit) {}
  }

  /// Begins the partial file of a response.
  ///
  /// The response has everything, and would begin an earlier partial file again. A download may still need its partial file, so
  /// only the partial file of this request's own last attempt is used again.
  func open(_ settings: DownloadSettings, for head: TransferResponse) throws -> Opened {
    try request.checkStorable(settings)
    var settings = settings
    // Only a GET can ask for the rest.
    if request.method != .get || request.body != nil { settings.keepsPartialFile = false }
    let partial = try ResumableFile(
      try request.url.appending(request.query), settings, taking: .only(end.left?.path),
      report: { _, _ in })
    partial.startAgain()
    let sink = DownloadSink(partial, limit: nil)
    let number = state.withLock { state in
      state = State(number: state.number + 1, isOpen: true)
      return state.number
    }
    let opened = Opened(partial: partial, sink: sink, number: number)
    sink.open(head)
    do {
      try throwFailure(of: sink)
    } catch {
      try? finish(opened, isComplete: false)
      throw error
    }
    return opened
  }

  func write(_ bytes: UnsafeRawBufferPointer, to opened: Opened) throws {
    do {
      try opened.sink.write(bytes)
    } catch {
      try throwFailure(of: opened.sink)
      throw error
    }
  }

  /// Gives a complete file its name, and leaves the partial file of an incomplete response.
  func finish(_ opened: Opened, isComplete: Bool) throws {
    // After an error at the end of a complete response, the writer discards the response: what was left stays known.
    guard state.withLock({ $0.number != opened.number || $0.isOpen }) else { return }
    let (partial, sink) = (opened.partial, opened.sink)
    partial.end(sink)
    var end = End()
    defer {
      end.left = partial.release()
      let isLast = state.withLock { state in
        guard state.number == opened.number else { return false }
        (state.isOpen, state.end) = (false, end)
        return true
      }
      if isLast { closed.signal() }
    }
    guard isComplete, case .storing = sink.state else { return }
    end.stored = try partial.complete()
  }

  private func throwFailure(of sink: DownloadSink) throws {
    if case .failed(let error) = sink.state { throw error }
  }
}

extension TransferRequest {
  /// Checks that the response can be stored with the rules of a download.
  func checkStorable(_ settings: DownloadSettings) throws(TransferError) {
    // The response to a HEAD has no body: its file would be empty.
    guard method != .head else { throw .downloadOfHEAD }
    guard options.responseCompression == nil else { throw .downloadDecompressed }
    // The beginning of a part is not the beginning of the file.
    for name in ["Range", "If-Range"] where headers.contains(name) {
      throw .downloadWithHeader(name)
    }
    try settings.check()
    if case .failure(let error) = settings.destination.place { throw TransferError(error) }
  }
}
