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
    /// The destination is taken, and the file may only get a free name.
    package static let nameTaken = Code(rawValue: "name-taken")
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
  /// The paths of the files that stay stored, by the files' indices: files that had replaced another file before the
  /// failure, and files that could not be removed after the failure.
  package let kept: [Int: LocalPath]

  private init(
    code: Code, subject: LocalPath, underlying: SystemError, description: String,
    kept: [Int: LocalPath] = [:]
  ) {
    self.code = code
    self.subject = subject
    self.underlying = underlying
    self.description = description
    self.kept = kept
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
  ///
  /// - Parameter isReplaced: whether another directory has the path by now.
  static func failed(
    _ operation: Operation, in directory: LocalPath, _ cause: SystemError, isReplaced: Bool = false
  ) -> StorageError {
    StorageError(
      "be \(operation.rawValue)", in: directory, cause, state: "Nothing of it is kept.",
      remedy: isReplaced
        ? "The directory was removed or moved, and another one is at its path: start this program again, which then uses that one."
        : operation.remedy)
  }

  /// Bytes could not be appended to the file of an upload, or the file could not be made.
  ///
  /// - Parameter isKept: whether the upload stays.
  package static func notAppended(
    in directory: LocalPath, _ cause: SystemError, isKept: Bool
  ) -> StorageError {
    StorageError(
      isKept ? "be appended to" : "be made or appended to", in: directory, cause,
      state: remains(isKept: isKept), remedy: Operation.written.remedy)
  }

  /// What becomes of an upload after an error.
  package static func remains(isKept: Bool) -> String {
    isKept ? "What had arrived before is kept." : "Nothing of it is kept."
  }

  /// A file that may only get a free name could not be stored.
  static func nameTaken(in directory: LocalPath) -> StorageError {
    StorageError(
      code: .nameTaken, subject: directory, underlying: .alreadyExists,
      description:
        "A file can't be stored in the directory \"\(directory)\", because its name is taken. Choose another name."
    )
  }

  /// One of several files that are stored together could not get its name.
  ///
  /// - Parameter kept: the paths of the files that stay all the same.
  static func notNamed(
    _ count: Int, in directory: LocalPath, _ cause: SystemError, kept: [Int: LocalPath]
  ) -> StorageError {
    var state = count > 1 ? "No file of this upload is kept" : "It is not kept"
    if !kept.isEmpty {
      state +=
        ", except \(kept.count) that had already replaced another file, or could not be removed"
    }
    return StorageError(
      "be given its name", in: directory, cause, state: "\(state).",
      remedy: "Check that the directory is writable and accepts long names.", kept: kept)
  }

  private init(
    _ failure: String, in directory: LocalPath, _ cause: SystemError, state: String,
    remedy: String, kept: [Int: LocalPath] = [:]
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
      kept: kept)
  }
}
