import FormStreamBatch

/// A file that lists paths.
struct PathList {
  let file: Argument
  let ending: BatchSource.Ending

  /// What is likely if a name ends with a CR.
  static let noteOnCR =
    "Its name ends with a CR, as in lists from Windows: remove those from the list, for example with dos2unix."

  /// Opens the list.
  func reader() throws(Failure) -> PathListReader {
    let input = NamedInput(file)
    return PathListReader(try input.open(), name: input.description, ending: ending)
  }
}
