/// The exit codes of each command, without the codes of signals.
extension Verb {
  /// The codes that the command can end with, in ascending order.
  var exitCodes: [ExitCode] {
    switch self {
    case .post, .put, .get, .send, .report: ExitCode.documented
    case .parse, .bench: ExitCode.documented.filter { ![.unknown, .retryable].contains($0) }
    case .plan, .receive, .encode, .sniff:
      ExitCode.documented.filter { ![.failed, .unknown, .retryable].contains($0) }
    }
  }
}

extension ExitCode {
  /// What the code of a command means.
  func meaning(for verb: Verb) -> String {
    switch (verb, self) {
    case (.report, .ok): "Each file was accepted exactly once"
    case (.report, .failed): "A file failed, or was accepted twice"
    case (.report, .unknown): "A file may have been accepted, or accepted twice"
    case (.report, .noInput): "A file was missing, or the manifest can't be read"
    case (.report, .inputOutput): "A file has changed, or writing failed"
    case (.report, .retryable): "A file was not sent, or can be sent again"
    case (.bench, .failed): "An upload failed, or did not arrive completely"
    case (.bench, .noInput): "A program is not installed, or a file is missing"
    case (.parse, .failed): "The body is malformed, cut off or over a limit"
    case (.post, .failed), (.put, .failed), (.get, .failed):
      "The request failed, and may fail again if nothing is changed"
    case (.send, .failed): "A request failed, and may fail again if nothing is changed"
    default: meaning
    }
  }
}
