import FormStreamMultipart
import FormStreamHTTP

extension Failure {
  /// The failure for an error before anything was sent.
  init(_ error: TransferError) {
    self.init(ExitCode(error) ?? .failed, error.sentence(socket: nil))
  }

  /// Why a request failed; nil if it succeeded.
  ///
  /// - Parameter socket: the socket of `--unix-socket`.
  init?(_ result: TransferResult, socket: LocalPath?) {
    guard let error = result.error else {
      guard result.outcome != .ok else { return nil }
      self.init(
        .bug, "The request to \(result.url) ended as \(result.outcome.rawValue), without a reason.")
      return
    }
    let exit: ExitCode =
      switch result.outcome {
      // The server has acted on the request, but a part of its response is missing.
      case .ok: .inputOutput
      case .retryable: .retryable
      case .unknown: .unknown
      case .sourceChanged: .inputOutput
      case .cancelled: .interrupted
      case .failed: ExitCode(error) ?? .failed
      }
    let sentence = error.sentence(socket: socket)
    self.init(exit, result.outcome == .ok ? "\(sentence) \(result.verdict)" : sentence)
  }
}

extension TransferResult {
  /// What became of the request, for messages whose subject is something else.
  var verdict: String {
    let status = status.map { " (status \($0))" } ?? ""
    return outcome == .ok
      ? "The server accepted the request\(status)."
      : "The request ended as \(outcome)\(status)."
  }
}

extension ExitCode {
  /// The exit code for an error on this machine; nil if the cause is the server or the network.
  fileprivate init?(_ error: TransferError) {
    switch error.code {
    case .invalidURL, .invalidMethod, .invalidHeader, .invalidSetting: self = .usage
    case .tlsFileUnusable: self = .noInput
    case .netrcMalformed: self = .usage
    // Without an underlying error, the file of -b was read, and has a line that can't be used.
    case .cookiesUnusable: self = error.underlying == nil ? .noInput : .inputOutput
    case .responseNotStored, .destinationExists, .resumeFileUnusable: self = .inputOutput
    case .engineFailed: self = .inputOutput
    // Without an underlying error, the server asked for a second attempt.
    case .notReplayable where error.underlying == nil: return nil
    default:
      guard let exit = ExitCode(MultipartError.Code(rawValue: error.code.rawValue)) else {
        return nil
      }
      self = exit
    }
  }
}

extension TransferError {
  /// The error as a sentence. If our own output failed, this is the sentence of that failure.
  ///
  /// - Parameter socket: the socket of `--unix-socket`; nil without this flag.
  func sentence(socket: LocalPath?) -> String {
    if let socket, code == .connectFailed {
      return "Nothing is listening at the socket \"\(socket)\" of --unix-socket"
        + (exists(socket) ? "" : ", which does not exist")
        + ": check the path, and that the server runs."
    }
    return (underlying as? Failure)?.message ?? message.text(naming: flagName)
  }
}

/// Calls the transfer library, and turns its error into a `Failure`.
func convertingErrors<Result>(
  _ body: () throws(TransferError) -> Result
) throws(Failure) -> Result {
  do {
    return try body()
  } catch {
    throw Failure(error)
  }
}
