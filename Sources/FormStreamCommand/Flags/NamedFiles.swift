import FormStreamMultipart

/// What becomes of a file that the value of a flag names.
enum FileUse: Sendable {
  case read
  case written
  /// Files are written to the directory that is named.
  case directory
  /// It is written, but its complete path is known only to the plan of the request.
  case response
}

/// The files that flags name: all that are read, and all that are written. Each flag's declaration says which of them its
/// value is.
struct NamedFiles {
  /// A file that is read.
  struct Input {
    let path: Argument
    /// What names it, for messages: a flag as it was typed, or a variable. Nil for a word without a flag.
    var source: String?
    /// Whether `-c` may replace it: cookies go on in the same file.
    var mayBecomeCookieJar = false
    /// Whether the response may replace it: it says how old what is there may be (`-z`).
    var mayBecomeResponse = false
  }

  private(set) var inputs: [Input] = []
  /// Those of the last time that each flag was typed: only that one counts.
  private var outputsByFlag: [(flag: String, output: NamedOutput)] = []

  var outputs: [NamedOutput] { outputsByFlag.map(\.output) }

  /// - Parameter verb: the command, if it is known by now.
  mutating func note(_ value: Argument, of flag: Flag, for verb: Verb?) {
    guard let kind = flag.value else { return }
    switch kind.use {
    case .read:
      for file in kind.files(in: value) {
        inputs.append(
          Input(
            path: file, source: value.flag ?? "--\(flag.long)",
            mayBecomeCookieJar: flag.long == "cookie",
            mayBecomeResponse: flag.long == "time-cond"))
      }
    case .response where verb?.isLikeCurl ?? false: break
    case .written, .response, .directory:
      outputsByFlag.removeAll { $0.flag == flag.long }
      guard !value.isDash, !value.bytes.isEmpty, !value.bytes.contains(0) else { return }
      var output = NamedOutput(value.flag ?? "--\(flag.long)", value.path)
      output.isDirectory = kind.use == .directory
      output.isCookieJar = flag.long == "cookie-jar"
      outputsByFlag.append((flag.long, output))
    }
  }
}

extension Flag.Value {
  /// The files that a value names. Those of parts and of data that is encoded are known to their arguments.
  fileprivate func files(in value: Argument) -> [Argument] {
    if let names { return names(value) }
    switch completion {
    case .path, .directory: return [value]
    case .dataPath:
      guard value.bytes.first == UInt8(ascii: "@") else { return [] }
      return [Argument(bytes: value.bytes.dropFirst(), from: value)]
    case .none, .namedPath, .formPath, .choices: return []
    }
  }
}
