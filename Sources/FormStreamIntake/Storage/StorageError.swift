package import FormStreamMultipart
package import FormStreamPlatform

/// A failure to store a file.
package struct StorageError: Error, Sendable, CustomStringConvertible {
  /// The kind of failure. The set is open.
  package struct Code: RawRepresentable, Hashable, Sendable {
    /// The code as written in records.
    package let rawValue: String

    /// Creates a code from its text.
    package init(rawValue: String) {
      self.rawValue = rawValue
    }

    /// The path is not a directory, or can't be opened or made.
    package static let directoryUnusable = Code(rawValue: "directory-unusable")
    /// A file in the directory can't be made, written or named.
    package static let storeFailed = Code(rawValue: "store-failed")
    /// The disk is full, or a quota or limit is reached.
    package static let noRoom = Code(rawValue: "no-room")
    /// Too many files are open at once.
    package static let tooManyOpen = Code(rawValue: "too-many-open")
  }

  /// The kind of failure.
  package let code: Code
  /// The storage directory.
  package let subject: LocalPath
  /// The failed system call's error.
  package let underlying: SystemError
  /// A full sentence: what failed, on what, and what to do.
  package let description: String
  /// How many files replaced another before the failure. They stay stored.
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
      description:
        "The directory \"\(directory)\" can't be used: \(cause). Name a directory that can be opened or made."
    )
  }

  /// An operation on a file that has no final name yet.
  enum Operation: String {
    case made, written

    fileprivate var remedy: String {
      switch self {
      case .made: "Check that the directory exists and is writable."
      case .written: "Check that the directory still exists."
      }
    }
  }

  /// A file could not be made or written.
  static func failed(
    _ operation: Operation, in directory: LocalPath, _ cause: SystemError
  ) -> StorageError {
    StorageError(
      "be \(operation.rawValue)", in: directory, cause, state: "Nothing of it is kept.",
      remedy: operation.remedy)
  }

  /// One of several files that are stored together could not get its name.
  ///
  /// - Parameter replacedCount: how many of them replaced another file before the failure.
  static func notNamed(
    _ count: Int, in directory: LocalPath, _ cause: SystemError, replacedCount: Int
  ) -> StorageError {
    var state = count > 1 ? "No file of this upload is kept" : "It is not kept"
    if replacedCount > 0 { state += ", except \(replacedCount) that already replaced another file" }
    return StorageError(
      "be given its name", in: directory, cause, state: "\(state).",
      remedy: "Check that the directory is writable and accepts long names.",
      replacedCount: replacedCount)
  }

  private init(
    _ failure: String, in directory: LocalPath, _ cause: SystemError, state: String,
    remedy: String, replacedCount: Int = 0
  ) {
    var (code, remedy) = (Code.storeFailed, remedy)
    if cause.isOutOfSpace {
      (code, remedy) = (.noRoom, "Make room there, or raise the limit (a quota, \"ulimit -f\").")
    } else if cause.isOutOfDescriptors {
      (code, remedy) = (
        .tooManyOpen, "Allow more open files (\"ulimit -n\"), or fewer connections at once."
      )
    }
    self.init(
      code: code, subject: directory, underlying: cause,
      description:
        "A file in the directory \"\(directory)\" could not \(failure): \(cause). \(state) \(remedy)",
      replacedCount: replacedCount)
  }
}
