import FormStreamBatch
import FormStreamMultipart

/// The file of `--map`: a line for each accepted file, with what the server calls the file.
struct ResponseMap: Sendable {
  private let output: AppendedOutput
  private let isQuiet: Bool

  init(at path: LocalPath, isQuiet: Bool) throws(Failure) {
    output = try AppendedOutput(path, of: "--map")
    self.isQuiet = isQuiet
  }

  /// Adds the lines of the files that were accepted. A file for which the response has no value gets no line.
  func add(_ results: [FileResult]) throws(Failure) {
    for result in results {
      switch result.value {
      case .found(let value):
        let path = result.file.path.columns
        try output.add([path.text, value, path.exact])
      case .missing(let reason):
        guard !isQuiet else { continue }
        StandardError.note(
          "\(result.file.path): it was accepted, and is not in the file of --map: \(reason).")
      case nil: continue
      }
    }
  }

  func finish() throws(Failure) { try output.finish() }
}
