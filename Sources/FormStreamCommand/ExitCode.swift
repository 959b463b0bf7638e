/// How the command ends. Scripts rely on these; none is ever given another meaning.
public enum ExitCode: Int32, CaseIterable, Sendable {
  /// All went well.
  case ok = 0
  /// It failed for good: trying again would change nothing.
  case failed = 1
  /// The command line is wrong; nothing was done.
  case usage = 64
  /// An input is missing or can't be read.
  case noInput = 66
  /// A bug of ours.
  case bug = 70
  /// Reading or writing failed, or a source changed while it was read.
  case inputOutput = 74

  /// What the code tells, for help and man page.
  var meaning: String {
    switch self {
    case .ok: "All went well"
    case .failed: "The form that was read is malformed, cut off or over a limit"
    case .usage: "The command line is wrong; nothing was done"
    case .noInput: "An input is missing or can't be read"
    case .bug: "A bug of formstream's own"
    case .inputOutput: "Reading or writing failed, or a source changed while it was read"
    }
  }
}
