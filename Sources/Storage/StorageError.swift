package import Multipart

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
  }

  /// The kind of failure.
  package let code: Code
  /// The directory that the failure is about.
  package let subject: LocalPath
  /// What the system said.
  package let underlying: SystemError
  /// A full sentence, and the remedy.
  package let description: String

  static func unusable(_ directory: LocalPath, _ cause: SystemError) -> StorageError {
    StorageError(
      code: .directoryUnusable, subject: directory, underlying: cause,
      description: "The directory \"\(directory)\" can't be used: \(cause). Name one that can.")
  }

  /// What can be done with a file that is stored, and what to see to where it can't.
  enum Act: String {
    case made, written
    case named = "given its name"

    fileprivate var remedy: String {
      switch self {
      case .made: "See that the directory is there, and may be written to."
      case .written: "What was there of it is gone; see that the directory is still there."
      case .named: "It is gone; see that the directory may be written to and takes long names."
      }
    }
  }

  static func failed(
    _ act: Act, in directory: LocalPath, _ cause: SystemError
  ) -> StorageError {
    let remedy =
      cause.isNoRoom
      ? "Nothing is left of it; make room there, or allow more (a quota, \"ulimit -f\")."
      : act.remedy
    let failure = "A file in the directory \"\(directory)\" could not be \(act.rawValue)"
    return StorageError(
      code: cause.isNoRoom ? .noRoom : .storeFailed, subject: directory, underlying: cause,
      description: "\(failure): \(cause). \(remedy)")
  }
}
