import FormStreamMultipart
import FormStreamPlatform

/// An input that is named on the command line.
enum NamedInput: CustomStringConvertible {
  case standardInput
  case path(LocalPath)

  /// A path, or - for standard input.
  init(_ argument: Argument) {
    self = argument.isDash ? .standardInput : .path(argument.path)
  }

  var description: String {
    switch self {
    case .standardInput: "Standard input"
    case .path(let path): "The file \"\(path)\""
    }
  }

  func open() throws(Failure) -> any ByteSource {
    do throws(SystemError) {
      switch self {
      case .standardInput:
        if isStandardInputClosed { throw .closed }
        return try DescriptorSource(duplicating: 0)
      case .path(let path):
        guard path.isUsable else { throw .notFound }
        if isClosedStandardInput(path) { throw .closed }
        return try DescriptorSource(opening: path)
      }
    } catch {
      throw unreadable(error)
    }
  }

  /// The failure if nothing of the input could be read.
  func unreadable(_ error: SystemError) -> Failure {
    Failure(.noInput, "\(self) can't be read: \(error). Name one that can.")
  }
}
