import FormStreamBatch
import FormStreamMultipart

/// The file of `--log`: a line for each result.
struct ResultLog: Sendable {
  private let output: AppendedOutput

  init(at path: LocalPath) throws(Failure) {
    output = try AppendedOutput(path, of: "--log")
  }

  func add(_ result: FileResult) throws(Failure) {
    let path = result.file.path.columns
    try output.add([
      localTimeForLogs(), result.state.rawValue, "\(result.file.size)", path.text,
      result.error?.code ?? "", path.exact,
    ])
  }

  func finish() throws(Failure) { try output.finish() }
}
