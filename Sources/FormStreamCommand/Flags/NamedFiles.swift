import FormStreamMultipart

/// What is done with a file that the value of a flag names.
enum FileUse: Sendable {
  case read
  case written
  /// Lines are added at the end of the file.
  case appended
  /// Files are written to the directory that is named.
  case directory
  /// The file is written, but only the plan of the request knows its complete path.
  case response
}

/// The files that flags name: the files that are read, and the files that are written. The declaration of each flag
/// says whether the files of its value are read or written.
struct NamedFiles {
  /// A file that is read.
  struct Input {
    let path: Argument
    /// What names the file, for messages: a flag as it was typed, or a variable. Nil for a word without a flag.
    var source: String?
    /// Whether `-c` may replace the file: `-b` and `-c` may name one file, which keeps the cookies from one command to
    /// the next.
    var mayBecomeCookieJar = false
    /// Whether the response may replace the file: `-z` reads only the file's time.
    var mayBecomeResponse = false
  }

  private(set) var inputs: [Input] = []
  /// The outputs of each flag. If a flag was typed several times, only the last time counts.
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
    case .written, .appended, .response, .directory:
      outputsByFlag.removeAll { $0.flag == flag.long }
      guard !value.isDash, !value.bytes.isEmpty, !value.bytes.contains(0) else { return }
      var output = NamedOutput(value.flag ?? "--\(flag.long)", value.path)
      output.isAppended = kind.use == .appended
      output.isDirectory = kind.use == .directory
      output.isCookieJar = flag.long == "cookie-jar"
      outputsByFlag.append((flag.long, output))
    }
  }
}

extension Flag.Value {
  /// The files that a value names. Files of parts and of encoded data are not included, because `CommandFiles` adds
  /// them.
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
