import FormStreamTestSupport
import FormStreamTransfer
import Testing

@testable import FormStreamHTTP

/// What becomes of a choice whose closure ends together with its attempt.
@Suite struct DestinationChoiceTests {
  private struct Refusal: Error {}

  private func state(
    isCancelled: Bool, _ choose: @escaping DownloadDestination.Choice
  ) async throws -> DownloadSink.State {
    let choice = DestinationChoice(choose, TransferOptions(), on: WorkerThreads()) { _ throws(TransferError) in
      throw .cancelledBeforeResponse
    }
    let head = try TransferResponse(status: 200, url: HTTPURL("http://localhost/"))
    let task = Task { await choice.target(of: head) == nil }
    if isCancelled { task.cancel() }
    #expect(await task.value)
    return choice.end().state
  }

  /// The closure threw because its task was cancelled. If that came before the end of the attempt was noted, the download had failed
  /// with this error, and was not tried again.
  @Test func `a closure that is cancelled with its attempt has decided nothing`() async throws {
    let cancelled = try await state(isCancelled: true) { _ in
      try await Task.sleep(for: .seconds(3600))
      return .file("")
    }
    if case .waiting = cancelled {} else { Issue.record("\(cancelled)") }
    let refused = try await state(isCancelled: false) { _ in throw Refusal() }
    if case .failed = refused {} else { Issue.record("\(refused)") }
  }
}
