import FormStreamBatch

/// A file that lists paths.
struct PathList {
  let file: Argument
  let ending: BatchSource.Ending

  /// The likely reason if a name ends with a CR, and what to do.
  static let noteOnCR =
    "Its name ends with a CR, as in lists from Windows: remove those from the list, for example with dos2unix."

  /// Whether the list can be read twice.
  var isRegularFile: Bool { !file.isDash && FormStreamCommand.isRegularFile(file.path) }

  /// Fails if the list can't be opened. A FIFO is not opened: that would wait for its writer.
  func checkIfMissing() throws(Failure) {
    if file.isDash || isRegularFile { return }
    switch try? OutputPlace(at: file.path) {
    case .file, .special, .standardOutput: return
    case .nothing, .deadLink, nil:
      let opened = try reader()
      _ = try convertingErrors { () throws(BatchError) in try opened.next() }
    }
  }

  /// Opens the list.
  func reader() throws(Failure) -> PathListReader {
    let input = NamedInput(file)
    return PathListReader(try input.open(), name: input.description, ending: ending)
  }
}
