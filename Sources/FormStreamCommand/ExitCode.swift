/// How the command ends. Scripts rely on these; none is ever given another meaning.
public enum ExitCode: Int32, CaseIterable, Sendable {
  /// All went well.
  case ok = 0
  /// It failed for good: trying again would change nothing.
  case failed = 1
  /// Whether the request was carried out can't be known.
  case unknown = 3
  /// The command line is wrong; nothing was done.
  case usage = 64
  /// An input is missing or can't be read.
  case noInput = 66
  /// A bug of ours.
  case bug = 70
  /// Reading or writing failed, or a source changed while it was read.
  case inputOutput = 74
  /// The request was certainly not carried out, and may well be at another time.
  case retryable = 75
  /// Called off by SIGHUP.
  case hungUp = 129
  /// Called off by SIGINT.
  case interrupted = 130
  /// Called off by SIGTERM.
  case terminated = 143

  /// Those that help and man page list one by one; signals have a line of their own.
  static let documented = allCases.filter { $0.rawValue < 128 }

  /// What the code tells, for help and man page.
  var meaning: String {
    switch self {
    case .ok: "All went well"
    case .failed:
      "What was read is malformed, or a request was refused for good"
    case .unknown: "Whether the request was carried out can't be known"
    case .usage: "The command line is wrong; nothing was done"
    case .noInput: "An input is missing or can't be read"
    case .bug: "A bug of formstream's own"
    case .inputOutput: "Reading or writing failed, or a source changed while it was read"
    case .retryable: "The request was not carried out, and may well be at another time"
    case .hungUp: "Ended by SIGHUP"
    case .interrupted: "Ended by SIGINT"
    case .terminated: "Ended by SIGTERM"
    }
  }
}
