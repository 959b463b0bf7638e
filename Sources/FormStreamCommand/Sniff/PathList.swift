import FormStreamBatch

/// A file that lists paths.
struct PathList {
  let file: Argument
  let ending: BatchSource.Ending

  /// Opens the list.
  func reader() throws(Failure) -> PathListReader {
    let input = NamedInput(file)
    return PathListReader(try input.open(), name: input.description, ending: ending)
  }
}
