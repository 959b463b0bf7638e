import FormStreamPlatform

/// Reads what a plan needs before the work begins: files of secrets, and standard input.
///
/// It prints a note when it starts to read from a terminal. The note is printed once, and not earlier, because the
/// command may ask for a password before.
final class InputReader: Sendable {
  static let keyboardNote = "Reading standard input; Ctrl-D at the start of a line ends it."

  /// Whether standard input is read; false if no request is sent.
  let readsStandardInput: Bool
  /// Whether the command reads standard input from a terminal, for anything but flags.
  private let readsKeyboard: Bool
  private let isQuiet: Bool
  private let hasPrintedNote = Guarded(false)

  init(_ arguments: RequestArguments, _ files: CommandFiles) {
    readsStandardInput = arguments.isSent
    readsKeyboard = arguments.isSent && isTerminal(.input) && files.includeStandardInput
    isQuiet = arguments.isQuiet
  }

  /// Prints the note if the command reads standard input from a terminal. Call this before standard input is read.
  func announceKeyboard() {
    guard readsKeyboard, !isQuiet else { return }
    let isFirst = hasPrintedNote.withLock { hasPrintedNote in
      defer { hasPrintedNote = true }
      return !hasPrintedNote
    }
    guard isFirst else { return }
    StandardError.note(Self.keyboardNote)
  }

  /// A file of secrets that a flag names, or standard input. Warnings about who can read the file are added to `notes`.
  func secretFile(
    _ file: Argument, for flag: String, _ notes: inout [String]
  ) throws(Failure) -> SecretFile {
    if file.isDash { announceKeyboard() }
    let secrets = try SecretFile(file, for: flag)
    notes += secrets.warnings
    return secrets
  }

  /// Whether a file of secrets is not read because it is standard input and nothing is sent.
  func leavesOut(_ file: Argument) -> Bool { !readsStandardInput && file.isDash }

  /// How progress is shown. If people type the input, only `json` is possible: a bar would overwrite the typed text.
  func usable(_ progress: ProgressMode) -> ProgressMode {
    readsKeyboard && progress != .json ? .none : progress
  }
}
