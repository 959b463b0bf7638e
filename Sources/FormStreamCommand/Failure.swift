import FormStreamMultipart

/// Why the command ends early: one sentence for the person, one code for the script.
struct Failure: Error {
  let exit: ExitCode
  /// Empty where nothing is to be said.
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
  /// A directory of `--into` that can't be used. Its last component is made, and no more.
  static func unusable(
    _ directory: LocalPath, _ cause: SystemError?, said description: String
  ) -> Failure {
    guard let cause, cause == .notFound, !directory.bytes.isEmpty else {
      return Failure(.inputOutput, description)
    }
    return Failure(
      .inputOutput,
      "The directory \"\(directory)\" can't be made, for its parent is not there: make that first, with mkdir -p."
    )
  }
}

extension ExitCode {
  /// What an error of a body's source, or of a body that was read, ends with; nil where the code is none
  /// that the library has.
  init?(_ code: MultipartError.Code) {
    switch code {
    case .malformedBody, .bodyIncomplete, .limitExceeded: self = .failed
    case .inputMissing, .inputUnreadable, .notAFile, .rangeOutsideFile: self = .noInput
    case .sourceChanged, .readFailed, .streamFailed, .streamTooShort, .streamTooLong,
      .notReplayable:
      self = .inputOutput
    case .invalidBoundary, .boundaryCollision, .invalidName, .invalidFilename,
      .invalidMediaType, .invalidHeader, .headersTooLarge, .bodyTooLarge:
      self = .usage
    default: return nil
    }
  }
}

extension Failure {
  init(_ error: MultipartError) {
    self.init(ExitCode(error.code) ?? .bug, error.description)
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
