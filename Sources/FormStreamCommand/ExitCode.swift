/// How the command ends. Scripts rely on these codes; their meanings never change.
public enum ExitCode: Int32, CaseIterable, Sendable {
  /// Success.
  case ok = 0
  /// The command failed, and nothing says that trying again would help.
  case failed = 1
  /// The server may or may not have acted on the request.
  case unknown = 3
  /// The command line is wrong; nothing was done.
  case usage = 64
  /// An input is missing or can't be read.
  case noInput = 66
  /// A bug in formstream.
  case bug = 70
  /// Reading or writing failed, or a source changed while it was read.
  case inputOutput = 74
  /// The server did not act on the last attempt; trying again later may help.
  case retryable = 75
  /// Ended by SIGHUP.
  case hungUp = 129
  /// Ended by SIGINT.
  case interrupted = 130
  /// Ended by SIGQUIT.
  case quit = 131
  /// Ended by SIGTERM.
  case terminated = 143

  /// The code of a process that a signal ended.
  init(signal: Int32) {
    self = ExitCode(rawValue: 128 + signal) ?? .terminated
  }

  /// The signal that the code stands for; nil if it stands for none.
  var signal: Int32? { rawValue > 128 ? rawValue - 128 : nil }

  /// The severity of the code. A command with several files or requests ends with the code of the lowest rank, so their
  /// order does not matter.
  private var rank: Int {
    switch self {
    // A signal ends the process, whatever became of the requests.
    case .hungUp, .interrupted, .quit, .terminated: 0
    case .bug: 1
    case .unknown: 2
    case .failed: 3
    case .inputOutput: 4
    case .noInput: 5
    case .usage: 6
    case .retryable: 7
    case .ok: 8
    }
  }

  /// The worst of several codes; nil if there are none.
  static func worst(of codes: some Sequence<ExitCode>) -> ExitCode? {
    codes.min { $0.rank < $1.rank }
  }

  /// The worst of the codes that apply; nil if none applies.
  static func worst(of codes: [(code: ExitCode, applies: Bool)]) -> ExitCode? {
    worst(of: codes.lazy.filter(\.applies).map(\.code))
  }

  /// The codes that have a line each in the help and in the man page. The codes of signals share one line.
  static let documented = allCases.filter { $0.rawValue < 128 }

  /// What the code means, for the help and the man page.
  var meaning: String {
    switch self {
    case .ok: "Success"
    case .failed: "The input is malformed, or the request failed"
    case .unknown: "The server may or may not have acted on the request"
    case .usage: "The command line is wrong; nothing was done"
    case .noInput: "An input is missing or can't be read"
    case .bug: "A bug in formstream"
    case .inputOutput: "Reading or writing failed, or a source changed while it was read"
    case .retryable: "The server did not act on the last attempt; try again later"
    case .hungUp: "Ended by SIGHUP"
    case .interrupted: "Ended by SIGINT"
    case .quit: "Ended by SIGQUIT"
    case .terminated: "Ended by SIGTERM"
    }
  }
}
