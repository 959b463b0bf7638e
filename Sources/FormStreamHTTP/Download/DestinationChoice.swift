import FormStreamMultipart
import FormStreamPlatform

/// The program's choice of a download's destination, made when the head of a response has arrived.
///
/// Before the choice, it isn't known where a partial file may have been left. So the first request asks for everything. If the
/// chosen place has the beginning of this version, the body of the response is not received, and the next request asks for the
/// rest.
final class DestinationChoice: Sendable {
  /// The program's choice.
  struct Chosen: Sendable {
    /// The file at the chosen place; nil if there is none.
    fileprivate(set) var partial: ResumableFile?
    /// Stores the response; nil if the response isn't stored.
    fileprivate(set) var sink: DownloadSink?
    fileprivate(set) var state = DownloadSink.State.waiting
  }

  private struct State {
    var chosen = Chosen()
    /// Whether the request has ended.
    var isOver = false
  }

  private struct Unwanted: Error {}

  private let choose: DownloadDestination.Choice
  private let options: TransferOptions
  private let workers: WorkerThreads
  /// Takes the partial file that was left at a place; may block.
  private let take: @Sendable (DownloadDestination) throws(TransferError) -> ResumableFile
  private let state = Guarded(State())

  init(
    _ choose: @escaping DownloadDestination.Choice, _ options: TransferOptions,
    on workers: WorkerThreads,
    take: @escaping @Sendable (DownloadDestination) throws(TransferError) -> ResumableFile
  ) {
    (self.choose, self.options, self.workers, self.take) = (choose, options, workers, take)
  }

  /// The target of responses that are not stored. A refusal stays in memory. The body of another response is not received: the
  /// first byte closes the connection. Dropping the body instead would receive megabytes of it.
  static let targetOfOthers = ResponseTarget.stream(includingRefused: false) { _ in
    throw Unwanted()
  }

  /// The target of a response; nil for ``targetOfOthers``. Asks the program if the response is the resource.
  func target(of head: TransferResponse) async -> ResponseTarget? {
    guard options.accepts(head.status) else { return nil }
    guard head.status != 304 else {
      state.withLock { $0.chosen.state = .unchanged }
      return nil
    }
    var chosen = Chosen()
    do throws(TransferError) {
      (chosen.partial, chosen.sink) = try await file(for: head)
      chosen.state = chosen.sink == nil ? .begunBefore : .waiting
    } catch {
      // A closure that was cancelled, because the attempt has ended, has decided nothing.
      if !Task.isCancelled { chosen.state = .failed(error) }
    }
    let isOver = state.withLock { state in
      if !state.isOver { state.chosen = chosen }
      return state.isOver
    }
    guard !isOver else {
      // The program took its time, and the download has ended meanwhile.
      await workers.perform { [chosen] in _ = chosen.partial?.release() }
      return nil
    }
    return chosen.sink.map { .download($0) }
  }

  private func file(
    for head: TransferResponse
  ) async throws(TransferError) -> (ResumableFile, DownloadSink?) {
    let destination: DownloadDestination
    do {
      destination = try await choose(head)
    } catch {
      throw .decisionFailed(.destination, head.url, error)
    }
    let (take, limit) = (take, options.maximumResponseSize)
    return try await workers.perform {
      Result { () throws(TransferError) in
        let partial = try take(destination)
        // What is there is hashed between the requests, because that may take longer than an attempt may.
        if partial.hasBeginning(of: head) { return (partial, nil) }
        partial.startAgain()
        return (partial, DownloadSink(partial, limit: limit))
      }
    }.get()
  }

  /// Ends the choice, and returns what was chosen.
  func end() -> Chosen {
    state.withLock { state in
      state.isOver = true
      return state.chosen
    }
  }
}
