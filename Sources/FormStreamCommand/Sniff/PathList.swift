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

  /// Opens the list.
  func reader() throws(Failure) -> PathListReader {
    let input = NamedInput(file)
    return PathListReader(try input.open(), name: input.description, ending: ending)
  }
}
