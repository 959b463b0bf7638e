import FormStreamMultipart
import FormStreamPlatform
import FormStreamHTTP

/// Why the command fails: a sentence for people and an exit code for scripts.
struct Failure: Error {
  let exit: ExitCode
  /// Empty if there is nothing to print.
  let message: String
  /// The code in the record, if the failure is about the output of a response.
  let code: TransferError.Code

  init(
    _ exit: ExitCode, _ message: String, code: TransferError.Code = .responseNotStored
  ) {
    self.exit = exit
    self.message = message
    self.code = code
  }

  static func usage(_ message: String) -> Failure {
    Failure(.usage, message)
  }
}

extension Failure {
  /// The failure if a directory that a flag names can't be used. The command makes only the last component of the path.
  static func unusableDirectory(
    _ directory: LocalPath, of flag: String = "--into", cause: SystemError?, description: String
  ) -> Failure {
    if cause == .notADirectory, exists(directory) {
      return Failure(
        .inputOutput,
        "The path \"\(directory)\" can't be used: \(flag) needs a directory, and this is a file. Name another."
      )
    }
    guard cause == .notFound, !directory.bytes.isEmpty else {
      return Failure(.inputOutput, description)
    }
    return Failure(
      .inputOutput,
      "The directory \"\(directory)\" can't be made because its parent does not exist: make that first, "
        + "with mkdir -p.")
  }

  /// The failure if a file that a flag names can't be opened for writing.
  static func unusableOutput(
    _ path: LocalPath, of flag: String, cause error: SystemError
  ) -> Failure {
    let name = "The file \"\(path)\""
    let description =
      switch error {
      case .deadLink:
        "\(name) is a link to a file that does not exist: create that file first, or choose another."
      case .notFound:
        "\(name) can't be written: its directory does not exist. Choose another with \(flag), or make the directory first, "
          + "with mkdir -p."
      case .isADirectory: "The path \"\(path)\" is a directory: name a file in it with \(flag)."
      default: "\(name) can't be written: \(error). Choose another with \(flag)."
      }
    return Failure(.inputOutput, description)
  }

  init(_ error: MultipartError) {
    self.init(ExitCode(error.code) ?? .bug, error.message.text(naming: flagName))
  }
}

extension ExitCode {
  /// The exit code for an error in a body that is read or made; nil for any other error.
  init?(_ code: MultipartError.Code) {
    switch code {
    case .malformedBody, .bodyIncomplete, .limitExceeded: self = .failed
    case .inputMissing, .inputUnreadable, .notAFile, .rangeOutsideFile: self = .noInput
    case .sourceChanged, .readFailed, .streamFailed, .spoolFailed, .writeFailed, .streamTooShort, .streamTooLong,
      .notReplayable:
      self = .inputOutput
    case .invalidBoundary, .boundaryCollision, .invalidName, .invalidFilename,
      .invalidMediaType, .invalidHeader, .headersTooLarge, .bodyTooLarge:
      self = .usage
    default: return nil
    }
  }
}

/// Calls the library, and turns its error into a `Failure`.
func convertingErrors<Result: ~Copyable>(
  _ body: () throws(MultipartError) -> Result
) throws(Failure) -> Result {
  do {
    return try body()
  } catch {
    throw Failure(error)
  }
}
