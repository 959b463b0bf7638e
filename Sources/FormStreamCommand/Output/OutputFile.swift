import FormStreamMultipart

/// Where the product goes.
enum OutputTarget {
  case standardOutput
  case path(LocalPath)
}

/// A file that appears under its name when it is whole: until then it stands beside it under another.
/// Standard output, FIFOs and devices are written as they are.
final class OutputFile: Sendable {
  private let descriptor: OutputDescriptor
  /// What it is called in a sentence's beginning.
  let name: String
  private let pending: PendingFile?

  init(_ target: OutputTarget) throws(Failure) {
    switch target {
    case .standardOutput:
      (descriptor, name, pending) = (.standardOutput, "Standard output", nil)
    case .path(let path):
      name = "The file \"\(path)\""
      do throws(SystemError) {
        switch try OutputPlace(at: path) {
        case .deadLink:
          throw .deadLink
        case .nothing:
          let file = try PendingFile(for: path, permissions: permissionsOfNewFiles())
          (descriptor, pending) = (file.descriptor, file)
        case .file(let permissions):
          let file = try PendingFile(for: try resolved(path), permissions: permissions)
          (descriptor, pending) = (file.descriptor, file)
        case .standardOutput:
          (descriptor, pending) = (.standardOutput, nil)
        case .special:
          (descriptor, pending) = (try OutputDescriptor(opening: path), nil)
        }
      } catch  where error == .deadLink {
        throw Failure(
          .inputOutput,
          "\(name) is a link that leads nowhere: make its target first, or choose another.")
      } catch {
        throw Failure(.inputOutput, "\(name) can't be written: \(error). Choose another with -o.")
      }
    }
  }

  func write(_ bytes: UnsafeRawBufferPointer) throws(Failure) {
    do throws(SystemError) { try descriptor.write(bytes) } catch { throw failure(error) }
  }

  func write(_ bytes: [UInt8]) throws(Failure) {
    do throws(SystemError) { try descriptor.write(bytes) } catch { throw failure(error) }
  }

  func write(_ text: String) throws(Failure) {
    try write(Array(text.utf8))
  }

  private func failure(_ error: SystemError) -> Failure {
    if error.isBrokenPipe {
      return Failure(
        .inputOutput,
        "\(name) was closed by its reader before all was written: what it got is not whole.")
    }
    return Failure(
      .inputOutput, "\(name) could not be written: \(error). What was written is not whole.")
  }

  /// Whether a terminal is written to, by whatever name.
  var isTerminal: Bool { descriptor.isTerminal }

  /// Removes what was written, where that has no name yet: for those who can't wait until the file is let go.
  /// False where what was written can't be taken back.
  @discardableResult func abandon() -> Bool {
    pending?.abandon()
    return pending != nil
  }

  /// Gives the file its name, now that it is whole.
  func commit() throws(Failure) {
    do throws(SystemError) {
      try pending?.commit()
    } catch {
      throw Failure(
        .inputOutput, "\(name) could not be given its name: \(error). Try -o - with a redirection.")
    }
  }
}
