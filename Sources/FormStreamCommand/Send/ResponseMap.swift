import FormStreamBatch
import FormStreamMultipart
import FormStreamPlatform

/// The file of `--map`: a line for each accepted file, with what the server calls the file.
struct ResponseMap: Sendable {
  private let output: AppendedOutput
  private let isQuiet: Bool
  /// How many accepted files have no line, and what was to be said about the first.
  private let missing = Guarded<(count: Int, first: String?)>((0, nil))

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
        let message = "\(result.file.path): it was accepted, and is not in the file of --map: \(reason)."
        if !isQuiet { StandardError.note(message) }
        missing.withLock { $0 = ($0.count + 1, $0.first ?? message) }
      case nil: continue
      }
    }
  }

  func finish() throws(Failure) {
    let (count, first) = missing.withLock(\.self)
    if isQuiet, let first {
      StandardError.note(first + (count > 1 ? " The same is true of \(counted(count - 1, "other file", "other files"))." : ""))
    }
    try output.finish()
  }
}
