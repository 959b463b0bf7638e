import FormStreamMultipart
import FormStreamPlatform

/// A file that a command adds lines to, one `write` for each. What the file has is never removed.
///
/// If the file is renamed or removed, as log rotation does, the next line begins a new file of the same name. FIFOs and
/// devices are written directly. Any thread may add lines.
final class AppendedOutput: Sendable {
  private struct State {
    /// Nil if the output is a FIFO, a device or standard output.
    var file: AppendedFile?
    /// Whether an earlier command could not write its last line completely.
    var isWithinLine = false
    /// The first failure. Nothing more is written after it, because a line may be incomplete.
    var failure: Failure?
  }

  private let path: LocalPath
  /// The flag that names the output, for messages.
  private let flag: String
  /// The output, if it is no regular file.
  private let stream: OutputDescriptor?
  private let state: Guarded<State>

  /// - Parameter flag: the flag that names the output.
  init(_ path: LocalPath, of flag: String) throws(Failure) {
    (self.path, self.flag) = (path, flag)
    do throws(SystemError) {
      switch try OutputPlace(at: path) {
      case .deadLink: throw .deadLink
      case .nothing, .file:
        stream = nil
        state = Guarded(
          State(
            file: try AppendedFile(at: path),
            isWithinLine: AppendedFile.endsWithinLine(at: path)))
      case .standardOutput: (stream, state) = (.standardOutput, Guarded(State()))
      case .special: (stream, state) = (try OutputDescriptor(opening: path), Guarded(State()))
      }
    } catch {
      throw .unusableOutput(path, of: flag, cause: error)
    }
  }

  /// Adds a line. Tabs, line breaks and other characters that can't be displayed are spelled out in its columns.
  ///
  /// - Parameter columns: what the line has between its tabs. Empty columns at its end are left out.
  func add(_ columns: [String]) throws(Failure) {
    let count = columns.lastIndex { !$0.isEmpty }.map { $0 + 1 } ?? 0
    let line = columns.prefix(count).map(visible).joined(separator: "\t") + "\n"
    try perform { state throws(SystemError) in
      try self.stream?.write(Array(line.utf8))
      guard let file = try self.current(&state) else { return }
      try file.appendWhole(Array((state.isWithinLine ? "\n\(line)" : line).utf8))
      state.isWithinLine = false
    }
  }

  /// The file that has the name now.
  private func current(_ state: inout State) throws(SystemError) -> AppendedFile? {
    guard let file = state.file else { return nil }
    if try file.isAt(path) { return file }
    let successor = try AppendedFile(at: path)
    (state.file, state.isWithinLine) = (successor, AppendedFile.endsWithinLine(at: path))
    return successor
  }

  /// Makes sure that the lines are on the disk: some file systems report only then that there was no room.
  func finish() throws(Failure) {
    try perform { state throws(SystemError) in
      try state.file?.synchronize()
      try state.file?.close()
    }
  }

  private func perform(
    _ body: (inout State) throws(SystemError) -> Void
  ) throws(Failure) {
    try state.withLock { state throws(Failure) in
      if let failure = state.failure { throw failure }
      do throws(SystemError) { try body(&state) } catch {
        let failure = Failure(
          .inputOutput,
          "The file \"\(path)\" of \(flag) can't be written: \(error). Its last lines are missing, and the run was ended.")
        state.failure = failure
        throw failure
      }
    }
  }
}

extension LocalPath {
  /// The path in a line of text, and the exact path in base 64. The second is empty if the first is the exact path.
  var columns: (text: String, exact: String) {
    let text = String(decoding: bytes, as: UTF8.self)
    return (text, visible(text).utf8.elementsEqual(bytes) ? "" : base64(bytes))
  }
}
