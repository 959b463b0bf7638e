import FormStreamMultipart

extension LocalPath {
  private struct NotReplaceable: Error, CustomStringConvertible {
    let description: String
  }

  /// Checks what has the name of a file that will take its place: that must not be a device, such as `/dev/null`, or a
  /// FIFO.
  ///
  /// - Parameter remedy: what can be done instead, for the error.
  func checkReplaceable(or remedy: String) throws {
    guard let status = try? FileStatus(of: self, followsSymlinks: false) else { return }
    switch status.kind {
    case .regular, .symlink, .directory: break
    case .pipe, .socket, .device:
      throw NotReplaceable(
        description: "it is a device, a FIFO or a socket, which a file would replace; \(remedy)")
    }
  }
}
