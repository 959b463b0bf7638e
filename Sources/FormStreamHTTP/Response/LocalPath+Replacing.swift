import FormStreamMultipart

extension LocalPath {
  private struct NotReplaceable: Error, CustomStringConvertible {
    let description: String
  }

  /// Checks what is at this path before a file takes its place: it must not be a device, such as `/dev/null`, a FIFO or a
  /// socket.
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
