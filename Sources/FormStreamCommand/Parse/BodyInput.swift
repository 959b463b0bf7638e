import FormStreamMultipart

/// Where a body is read from.
enum BodyInput: CustomStringConvertible {
  case standardInput
  case path(LocalPath)

  var description: String {
    switch self {
    case .standardInput: "Standard input"
    case .path(let path): "The file \"\(path)\""
    }
  }

  func open() throws(Failure) -> any ByteSource {
    do throws(SystemError) {
      switch self {
      case .standardInput: return try DescriptorSource(duplicating: 0)
      case .path(let path):
        guard path.isUsable else { throw .notFound }
        return try DescriptorSource(opening: path)
      }
    } catch {
      throw unreadable(error)
    }
  }

  /// Nothing of it could be read.
  func unreadable(_ error: SystemError) -> Failure {
    Failure(.noInput, "\(self) can't be read: \(error). Give one that can.")
  }
}
