import FormStreamMultipart
import FormStreamPlatform

/// A file that a command writes, and the flag that names it.
struct NamedOutput {
  let flag: String
  let path: LocalPath
  /// Whether the path is a directory that files are written to.
  var isDirectory = false
  /// Whether the file is kept, and lines are added at its end.
  var isAppended = false
  /// Whether the output is the file of `-c`, which may replace the file of `-b`.
  var isCookieJar = false

  /// Nil if the target is standard output.
  init?(_ flag: String, _ target: OutputTarget?) {
    guard let path = target?.path else { return nil }
    self.init(flag, path)
  }

  init(_ flag: String, _ path: LocalPath) {
    (self.flag, self.path) = (flag, path)
  }

  /// Whether the path is another name of standard output, such as `/dev/stdout`.
  var isStandardOutput: Bool {
    if case .standardOutput? = try? OutputPlace(at: path) { true } else { false }
  }

  /// What would happen to a file at the path, for messages.
  var effect: String { isAppended ? "append to" : "replace" }

  /// Whether the output is the response to one of the requests.
  var isResponse: Bool { ["-o", "-O"].contains(flag) }

  /// Whether the output may replace the input: `-c` may replace the file of `-b`, and a response may replace the file
  /// whose time `-z` compares.
  func mayReplace(_ input: NamedFiles.Input) -> Bool {
    isCookieJar && input.mayBecomeCookieJar || isResponse && input.mayBecomeResponse
  }
}
