import FormStreamMultipart
import FormStreamPlatform

/// Where a command writes its result.
enum OutputTarget {
  case standardOutput
  case path(LocalPath)

  /// The path of the file; nil if it is standard output.
  var path: LocalPath? { if case .path(let path) = self { path } else { nil } }

  /// The directory of the file; nil if there is no file, or if it is in the current directory.
  var directory: LocalPath? {
    guard let path, !path.directory.bytes.isEmpty else { return nil }
    return LocalPath(bytes: path.directory.bytes)
  }
}

extension OutputTarget {
  /// The message if a signal arrived before the output could be opened or written.
  var unread: String {
    switch self {
    case .standardOutput: "Standard output is not read: the response is incomplete."
    case .path(let path): "Nothing reads the file \"\(path)\": the response is not written."
    }
  }
}

/// Makes a directory, and the directories above it, if they don't exist.
func make(_ directory: LocalPath) throws(Failure) {
  do throws(SystemError) {
    try makeDirectories(directory)
  } catch {
    throw Failure(.inputOutput, "The directory \"\(directory)\" can't be made: \(error).")
  }
}

extension OutputTarget {
  /// The target that the value of a flag names.
  ///
  /// - Parameter printsJSON: whether `--json` takes standard output.
  init(_ output: Argument, of flag: String = "-o", besideRecords printsJSON: Bool = false) throws(Failure) {
    if output.isDash {
      guard !printsJSON else {
        throw .usage("--json and \(flag) - both go to standard output: write one of them to a file.")
      }
      self = .standardOutput
      return
    }
    guard !output.bytes.isEmpty, !output.bytes.contains(0) else {
      throw .usage("\(flag) needs the name of a file, or - for standard output.")
    }
    self = .path(output.path)
  }
}
