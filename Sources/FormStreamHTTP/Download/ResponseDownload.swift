import FormStreamMultipart
import FormStreamPlatform

/// The response to a request that was not started as a download, stored with the rules of a download: a partial file with a
/// record, and a final name only for a complete file. See ``ResponseTarget/download(_:)``.
///
/// The functions may block, and are called on a worker thread, one after the other.
final class ResponseDownload: Sendable {
  /// What became of the response.
  struct End: Sendable {
    fileprivate(set) var stored: ResumableFile.Stored?
    fileprivate(set) var left: ResumableFile.Left?
  }

  private struct State {
    var open: (partial: ResumableFile, sink: DownloadSink)?
    var end = End()
  }

  private let request: TransferRequest
  private let state = Guarded(State())

  init(_ request: TransferRequest) {
    self.request = request
  }

  /// What became of the last response; empty if none was stored.
  var end: End { state.withLock(\.end) }

  /// Begins the partial file of a response. A partial file of an earlier download is begun again: the response has everything.
  func open(_ settings: DownloadSettings, for head: TransferResponse) throws {
    try request.checkStorable(settings)
    var settings = settings
    // Only a GET can ask for the rest.
    if request.method != .get || request.body != nil { settings.keepsPartialFile = false }
    let partial = try ResumableFile(
      try request.url.appending(request.query), settings, report: { _, _ in })
    partial.startAgain()
    let sink = DownloadSink(partial, limit: nil)
    sink.open(head)
    state.withLock { $0 = State(open: (partial, sink)) }
    do {
      try throwFailure(of: sink)
    } catch {
      try? finish(isComplete: false)
      throw error
    }
  }

  func write(_ bytes: UnsafeRawBufferPointer) throws {
    guard let sink = state.withLock({ $0.open?.sink }) else { throw SystemError.notOpen }
    do {
      try sink.write(bytes)
    } catch {
      try throwFailure(of: sink)
      throw error
    }
  }

  /// Gives a complete file its name, and leaves the partial file of an incomplete response.
  func finish(isComplete: Bool) throws {
    guard let (partial, sink) = state.withLock({ $0.open.take() }) else { return }
    partial.end(sink)
    var end = End()
    defer {
      end.left = partial.release()
      state.withLock { $0.end = end }
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
    guard options.responseCompression == nil else { throw .downloadDecompressed }
    // The beginning of a part is not the beginning of the file.
    for name in ["Range", "If-Range"] where headers.contains(name) {
      throw .downloadWithHeader(name)
    }
    try settings.check()
    if case .failure(let error) = settings.destination.place { throw TransferError(error) }
  }
}
