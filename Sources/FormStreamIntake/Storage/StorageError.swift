package import FormStreamMultipart
package import FormStreamPlatform

/// What went wrong while a file was stored, on what, and what to do about it.
package struct StorageError: Error, Sendable, CustomStringConvertible {
  /// The kind of failure. The set is open.
  package struct Code: RawRepresentable, Hashable, Sendable {
    /// The code as it stands in records.
    package let rawValue: String

    /// Takes a code by its text.
    package init(rawValue: String) {
      self.rawValue = rawValue
    }

    /// The directory is not one, or can't be opened or made.
    package static let directoryUnusable = Code(rawValue: "directory-unusable")
    /// A file in it can't be made, written, or given its name.
    package static let storeFailed = Code(rawValue: "store-failed")
    /// There is no room for a file in it, or no more of what may be used.
    package static let noRoom = Code(rawValue: "no-room")
    /// As many files are open at once as may be.
    package static let tooManyOpen = Code(rawValue: "too-many-open")
  }

  /// The kind of failure.
  package let code: Code
  /// The directory that the failure is about.
  package let subject: LocalPath
  /// What the system said.
  package let underlying: SystemError
  /// A full sentence, and the remedy.
  package let description: String
  /// How many files have taken another's place, and stay, though what they came with could not be stored.
  package let replacedCount: Int

  private init(
    code: Code, subject: LocalPath, underlying: SystemError, description: String,
    replacedCount: Int = 0
  ) {
    self.code = code
    self.subject = subject
    self.underlying = underlying
    self.description = description
    self.replacedCount = replacedCount
  }

  static func unusable(_ directory: LocalPath, _ cause: SystemError) -> StorageError {
    StorageError(
      code: .directoryUnusable, subject: directory, underlying: cause,
      description: "The directory \"\(directory)\" can't be used: \(cause). Name one that can.")
  }

  /// What can be done with a file before it gets its name.
  enum Act: String {
    case made, written

    fileprivate var remedy: String {
      switch self {
      case .made: "see that the directory is there, and may be written to."
      case .written: "see that the directory is still there."
      }
    }
  }

  /// A file could not be made or written.
  static func failed(
    _ act: Act, in directory: LocalPath, _ cause: SystemError
  ) -> StorageError {
    StorageError(
      "be \(act.rawValue)", in: directory, cause, left: "Nothing is left of it", remedy: act.remedy)
  }

  /// One of so many files that came together could not get its name.
  ///
  /// - Parameter replacedCount: how many had taken another's place before that.
  static func unnamed(
    _ count: Int, in directory: LocalPath, _ cause: SystemError, replacedCount: Int
  ) -> StorageError {
    var left = "It is gone"
    if count > 1 { left += ", and so is all that came with it" }
    if replacedCount > 0 { left += ", but \(replacedCount) that had taken the place of another" }
    return StorageError(
      "be given its name", in: directory, cause, left: left,
      remedy: "see that the directory may be written to and takes long names.",
      replacedCount: replacedCount)
  }

  private init(
    _ failure: String, in directory: LocalPath, _ cause: SystemError, left: String, remedy: String,
    replacedCount: Int = 0
  ) {
    var (code, remedy) = (Code.storeFailed, remedy)
    if cause.isOutOfSpace {
      (code, remedy) = (
        .noRoom, "make room there, or allow more (a quota, \"ulimit -f\")."
      )
    } else if cause.isOutOfDescriptors {
      (code, remedy) = (
        .tooManyOpen, "allow more files at once (\"ulimit -n\"), or have fewer connections."
      )
    }
    self.init(
      code: code, subject: directory, underlying: cause,
      description:
        "A file in the directory \"\(directory)\" could not \(failure): \(cause). \(left); \(remedy)",
      replacedCount: replacedCount)
  }
}
