import FormStreamMultipart
import FormStreamPlatform

extension FileResult {
  /// Whether the server has the file: this run has delivered it, or an earlier run, as ``Batch/includesAcceptedEarlier`` asks.
  public var isAccepted: Bool { state == .ok || isAcceptedEarlier }

  /// Removes the file, if the server has it. A file that has been replaced or written to since it was delivered stays, because the
  /// server doesn't have its new contents. A file that an earlier run of the same round has delivered is known by its size and time
  /// alone. If another file gets the name meanwhile, that file stays as well. A program that writes to
  /// a file in place must not do so while the file is removed.
  ///
  /// - Returns: whether the file is gone: it was removed, or was not there any more.
  /// - Throws: `writeFailed` if the file can't be removed.
  @discardableResult
  public func removeFile() throws(BatchError) -> Bool {
    guard isAccepted else { return false }
    do throws(SystemError) {
      let directory = try DirectoryDescriptor(file.path.directory)
      guard let found = try directory.identity(of: file.path.name) else { return true }
      guard file.isOnDisk(as: identity ?? file.identity) else { return false }
      // If the file is replaced after it was looked at, its successor stays.
      if directory.remove(file.path.name, ifStill: found) { return try directory.identity(of: file.path.name) == nil }
    } catch  where error == .notFound {
      return true
    } catch {
      throw notRemoved(error)
    }
    throw notRemoved(nil)
  }

  private func notRemoved(_ error: SystemError?) -> BatchError {
    BatchError(
      .writeFailed, on: file.path.description,
      "The file \(file.path.description.quoted) was delivered, and can't be removed\(error.map { ": \($0)" } ?? ""). Check who may "
        + "write to its directory.", underlying: error)
  }
}
