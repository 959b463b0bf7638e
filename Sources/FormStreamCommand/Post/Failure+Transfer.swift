import FormStreamMultipart
import FormStreamTransfer

extension Failure {
  /// What a transfer's error ends with where nothing was sent for it.
  init(_ error: TransferError) {
    self.init(ExitCode(error) ?? .failed, error.sentence(socket: nil))
  }

  /// Why a request is no success; nil where it is.
  ///
  /// - Parameters:
  ///   - signal: the one that called it off, where one did.
  ///   - socket: the one that all went to, where it was one.
  init?(_ result: TransferResult, signal: Int32?, socket: LocalPath?) {
    guard let error = result.error else {
      guard result.outcome != .ok else { return nil }
      self.init(
        .bug, "The request to \(result.url) ended as \(result.outcome.rawValue), without a reason.")
      return
    }
    let exit: ExitCode =
      switch result.outcome {
      // The server has it, and something is missing of its answer.
      case .ok: .inputOutput
      case .retryable: .retryable
      case .unknown: .unknown
      case .sourceChanged: .inputOutput
      case .cancelled: signal == ExitCode.terminatingSignal ? .terminated : .interrupted
      default: ExitCode(error) ?? .failed
      }
    self.init(exit, error.sentence(socket: socket))
  }
}

extension ExitCode {
  /// SIGTERM.
  fileprivate static let terminatingSignal = ExitCode.terminated.rawValue - 128

  /// What an error ends with whose cause is on this side; nil where the server or the way there is to blame.
  fileprivate init?(_ error: TransferError) {
    switch error.code {
    case .invalidURL, .invalidMethod, .invalidHeader, .invalidSetting: self = .usage
    case .tlsFileUnusable: self = .noInput
    case .responseNotStored: self = .inputOutput
    case .engineFailed: self = .inputOutput
    // The server wanted it twice.
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
  /// The sentence for people; that of our own output, where it failed.
  ///
  /// - Parameter socket: where all went instead of to the URL's host, which then is not to blame.
  func sentence(socket: LocalPath?) -> String {
    if let socket, code == .connectFailed {
      return "Nobody takes a request at the socket \"\(socket)\" of --unix-socket"
        + (isThere(socket) ? "" : ", which is not there")
        + ": check its path, and that the server runs."
    }
    return (underlying as? Failure)?.message ?? description
  }
}
