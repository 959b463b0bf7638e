import FormStreamMultipart
import FormStreamPlatform

/// Bodies of unknown length: they are read ahead, stored, or read once more, so that they can be sent with a
/// `Content-Length`.
extension TransferRun {
  /// Reads ahead or stores a body of unknown length, if the request asks for it. Reading may take long, so other requests may
  /// use the connection meanwhile.
  nonisolated(nonsending) func readAhead(_ body: BodyLayout) async throws(TransferError) -> BodyLayout {
    let options = request.options
    guard body.contentLength == nil, options.readAhead > 0 || options.spoolsBody else {
      return body
    }
    connection.release()
    publisher.update { $0.phase = .reading }
    let reports = Task(executorPreference: engine.loop) { [publisher] in await publisher.reportLate() }
    defer { reports.cancel() }
    let directory = options.spoolsBody ? LocalPath(bytes: temporaryDirectory) : nil
    let step = options.spoolsBody ? BodyPreparation.storing : .readingAhead
    return try await prepare(by: step) { [publisher] (interruption) throws(MultipartError) in
      try body.readAhead(
        upTo: options.readAhead, spoolingIn: directory, interruptedBy: interruption
      ) { read in publisher.note(read: read) }
    }
  }

  /// Finds out the length of a body if the server accepts the body only with its length.
  nonisolated(nonsending) func announceLength(
    _ next: inout NextAttempt, _ history: inout AttemptHistory
  ) async throws(TransferError) {
    guard next.sendsChunks, let body = next.body else { return }
    let peer = peer(of: next.url, try proxy(for: next.url))
    guard next.needsLength || session.knownServers.speaksHTTP10(peer) else { return }
    guard body.isReplayable else { throw .lengthRequired(next.url) }
    connection.release()
    publisher.update { $0.phase = .reading }
    next.announceLength(
      of: try await prepare(by: .counting) { (interruption) throws(MultipartError) in
        try body.measured(interruptedBy: interruption)
      })
    history.begin(next.body)
    publisher.begin(next.body)
  }

  private func prepare(
    by step: BodyPreparation,
    _ prepare: @escaping @Sendable (SourceInterruption) throws(MultipartError) -> BodyLayout
  ) async throws(TransferError) -> BodyLayout {
    let interruption = SourceInterruption()
    return try await prepareBody(by: step, interruptedBy: { interruption.interrupt() }) {
      () throws(TransferError) in
      do throws(MultipartError) {
        return try prepare(interruption)
      } catch {
        throw TransferError(error)
      }
    }
  }
}
