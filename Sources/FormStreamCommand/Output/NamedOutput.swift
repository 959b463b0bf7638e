import FormStreamMultipart
import FormStreamPlatform

/// A file that a command writes, and the flag that names it.
struct NamedOutput {
  let flag: String
  let path: LocalPath
  /// Whether the files of the output are in the directory at the path.
  var isDirectory = false
  /// Whether it is the file of `-c`, which may replace that of `-b`.
  var isCookieJar = false

  /// Nil if the target is standard output.
  init?(_ flag: String, _ target: OutputTarget?) {
    guard let path = target?.path else { return nil }
    self.init(flag, path)
  }

  init(_ flag: String, _ path: LocalPath) {
    (self.flag, self.path) = (flag, path)
  }

  /// Whether it is standard output by another name, such as `/dev/stdout`.
  var isStandardOutput: Bool {
    if case .standardOutput? = try? OutputPlace(at: path) { true } else { false }
  }

  /// Whether it is the response to one of the requests.
  var isResponse: Bool { ["-o", "-O"].contains(flag) }

  /// Whether the input is read to decide about what replaces it, or goes on in it.
  func mayReplace(_ input: NamedFiles.Input) -> Bool {
    isCookieJar && input.mayBecomeCookieJar || isResponse && input.mayBecomeResponse
  }
}
