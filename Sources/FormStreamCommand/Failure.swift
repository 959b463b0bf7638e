import Multipart

/// Why the command ends early: one sentence for the person, one code for the script.
struct Failure: Error {
  let exit: ExitCode
  let message: String

  init(_ exit: ExitCode, _ message: String) {
    self.exit = exit
    self.message = message
  }

  static func usage(_ message: String) -> Failure {
    Failure(.usage, message)
  }
}

extension Failure {
  init(_ error: MultipartError) {
    let exit: ExitCode =
      switch error.code {
      case .malformedBody, .bodyIncomplete, .limitExceeded: .failed
      case .inputMissing, .inputUnreadable, .notAFile, .rangeOutsideFile: .noInput
      case .sourceChanged, .readFailed, .streamFailed, .streamTooShort, .streamTooLong,
        .notReplayable:
        .inputOutput
      case .invalidBoundary, .boundaryCollision, .invalidName, .invalidFilename,
        .invalidMediaType, .invalidHeader, .headersTooLarge, .bodyTooLarge:
        .usage
      default: .bug
      }
    self.init(exit, error.description)
  }
}

/// Does what throws the library's error, and throws the command's.
func explaining<Result: ~Copyable>(
  _ body: () throws(MultipartError) -> Result
) throws(Failure) -> Result {
  do {
    return try body()
  } catch {
    throw Failure(error)
  }
}
