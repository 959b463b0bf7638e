extension Argument {
  /// Fails if a path begins with a tilde that the shell has left: it knows only those at the start of a word.
  func checkTilde(for use: String) throws(Failure) {
    guard bytes.starts(with: "~/".utf8), !exists(path) else { return }
    throw Failure(
      .noInput,
      "The file \"\(shown)\" of \(use) does not exist: the shell puts the home directory in place of ~ only at the start of a word; write $HOME there."
    )
  }
}
