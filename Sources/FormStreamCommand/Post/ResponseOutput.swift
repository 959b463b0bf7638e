import FormStreamPlatform
import FormStreamTransfer

/// Where the body of a response goes while it arrives.
final class ResponseOutput: Sendable {
  private struct State {
    var text = TerminalStream()
    var hasReceivedBytes = false
    /// Why the first piece that could not be written was not.
    var failure: Failure?
  }

  private let file: OutputFile
  private let acceptsSeeOther: Bool
  private let state = Guarded(State())
  /// Whether the output is a terminal, which the server must not be able to steer.
  let isTerminal: Bool

  /// - Parameter acceptsSeeOther: whether a 303 counts as success, so that the page it names is not fetched.
  init(_ target: OutputTarget, acceptsSeeOther: Bool) throws(Failure) {
    self.acceptsSeeOther = acceptsSeeOther
    file = try OutputFile(target)
    // The name is not enough to decide this: /dev/tty is a terminal, and /dev/stdout may be one.
    isTerminal = file.isTerminal
  }

  func write(_ bytes: UnsafeRawBufferPointer) throws(Failure) {
    let shown = state.withLock { state in
      if !bytes.isEmpty { state.hasReceivedBytes = true }
      return isTerminal ? state.text.visible(bytes) : nil
    }
    do throws(Failure) {
      if let shown { try file.write(shown) } else { try file.write(bytes) }
    } catch {
      state.withLock { $0.failure = $0.failure ?? error }
      throw error
    }
  }

  /// Gives a file its name if it holds the complete final response. Otherwise an existing file stays unchanged.
  ///
  /// - Returns: a message if the response is missing and no error says so.
  /// - Throws: the failure of this output, also if it came earlier.
  func finish(_ result: TransferResult) throws(Failure) -> String? {
    if let failure = state.withLock(\.failure) {
      file.discard()
      throw failure
    }
    // A terminal that shows nothing any more, as after Ctrl-S, would hold up the end of a cancelled request.
    if isTerminal, result.response?.isTruncated == false {
      try file.write(state.withLock { $0.text.rest() })
    }
    if let response = result.response, result.outcome != .cancelled, isComplete(response) {
      try file.commit()
      return nil
    }
    // Discarded now, because the session may keep a reference until the process ends.
    guard file.discard(), result.outcome == .ok, result.error == nil else { return nil }
    return
      "The server accepted the request, but the page that it names as its result could not be fetched. "
      + "\(file.name) is not written."
  }

  private func isComplete(_ response: TransferResponse) -> Bool {
    if response.isTruncated { return false }
    // A 303 without a body only names the page that holds the response, and that page could not be fetched.
    let isEmptySeeOther =
      response.status == 303 && !acceptsSeeOther && response.headers.contains("Location")
      && !state.withLock(\.hasReceivedBytes)
    return !isEmptySeeOther
  }
}
