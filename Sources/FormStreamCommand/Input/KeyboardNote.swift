import FormStreamPlatform

/// The note that a command reads standard input from a terminal. It is printed once, when reading begins: a password may be
/// asked for before that.
final class KeyboardNote: Sendable {
  private let isPrinted = Guarded(false)

  func print() {
    let isFirst = isPrinted.withLock { isPrinted in
      defer { isPrinted = true }
      return !isPrinted
    }
    guard isFirst else { return }
    StandardError.note("Reading standard input; Ctrl-D at the start of a line ends it.")
  }
}

extension LowArguments {
  /// Prints the note if the command reads standard input from a terminal. To be called before it is read.
  func announceKeyboard() {
    if readsKeyboard, !request.isQuiet { keyboardNote.print() }
  }

  /// A file of secrets that a flag names, or standard input.
  func secretFile(_ file: Argument, for flag: String) throws(Failure) -> SecretFile {
    if file.isDash { announceKeyboard() }
    return try SecretFile(file, for: flag)
  }
}
