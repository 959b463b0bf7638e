package import FormStreamMultipart
package import FormStreamPlatform

extension BatchError {
  /// The error for a path that was named, listed or found, and can't be examined or opened.
  package static func unreadable(at path: LocalPath, _ error: SystemError) -> BatchError {
    let shown = path.description.quoted
    let (code, text): (Code, String) =
      if error.isPathMissing {
        (.inputMissing, "The file \(shown) does not exist.")
      } else if error.leadsOut {
        (
          .outsideRoot,
          "The path \(shown) leads out of its directory: files outside of it are not sent."
        )
      } else if error.isSymlinkRefused {
        (
          .notAFile,
          "The path \(shown) goes through a symbolic link that can't be followed: choose to follow links, or name the file "
            + "that it leads to."
        )
      } else if error.isOutOfDescriptors {
        (
          .tooManyOpenFiles,
          "The file \(shown) can't be opened: \(error). Try again, and allow more open files (\"ulimit -n\")."
        )
      } else {
        (.inputUnreadable, "The file \(shown) can't be read: \(error).")
      }
    return BatchError(code, on: path.description, "\(text)", underlying: error)
  }

  /// The error for a directory that was named or found, and can't be listed.
  static func unlistable(at path: LocalPath, _ error: SystemError) -> BatchError {
    let found = unreadable(at: path, error)
    guard found.code == .inputUnreadable else { return found }
    return BatchError(
      found.code, on: found.subject,
      "The directory \(path.description.quoted) can't be read: \(error). Which files are in it is not known.",
      underlying: error)
  }

  /// The error for a file that the server has or may have, and that can't be read to compare it.
  static func notCompared(_ error: BatchError) -> BatchError {
    // Such a file is not sent either, and its message says why.
    if error.code == .sourceChanged { return error }
    return BatchError(
      .notCompared, on: error.subject,
      "\(error.message) It can't be compared with what earlier runs sent, so it is not sent; the next round compares it again.",
      underlying: error.underlying)
  }

  static func notAFile(at path: LocalPath, _ what: String) -> BatchError {
    BatchError(
      .notAFile, on: path.description,
      "The path \(path.description.quoted) \(what): only regular files are sent.")
  }

  static func linkLoop(at path: LocalPath) -> BatchError {
    BatchError(
      .linkLoop, on: path.description,
      "The link \(path.description.quoted) leads to a directory that it is in: its files are listed once."
    )
  }

  static func nestedTooDeep(at path: LocalPath) -> BatchError {
    BatchError(
      .nestedTooDeep, on: path.description,
      "The path \(path.description.quoted) is nested too deep, below more than \(DirectoryWalk.maximumDepth) directories or "
        + "with more than \(DirectoryWalk.maximumPath) bytes: name a directory on it as one of its own."
    )
  }

  static func journalMisplaced(at path: LocalPath) -> BatchError {
    BatchError(
      .journalMisplaced, on: path.description,
      "The directory \(path.description.quoted) is that of the journals, which change while it would be sent: name "
        + "another one for them.")
  }

  /// Adds a hint to the error if it says that the file does not exist. Other errors are returned as they are.
  func adding(_ hint: String) -> BatchError {
    code == .inputMissing
      ? BatchError(code, on: subject, "\(message)\(hint)", underlying: underlying) : self
  }

  /// The error for a path with `..` in a list or manifest.
  static func leadsOut(_ path: LocalPath) -> BatchError {
    unreadable(at: path, SystemError.leadingOut)
  }
}
