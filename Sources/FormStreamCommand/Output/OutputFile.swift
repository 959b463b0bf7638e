import FormStreamMultipart
import FormStreamPlatform

/// A command's output. A regular file gets its name when it is complete; standard output, FIFOs and devices are
/// written directly.
final class OutputFile: Sendable {
  /// The output as the subject of a sentence.
  let name: String
  // One of these two is set. They are not an enum, because Swift would keep its case in unused bits of a pointer, and
  // the leak sanitizer does not follow such a pointer.
  private let stream: OutputDescriptor?
  private let pending: PendingFile?

  private let replacesFile: Bool
  /// Whether the bytes go to the disk before the file gets its name.
  private let isSynchronized: Bool
  /// The flag that names the output, for messages.
  private let flag: String

  /// - Parameters:
  ///   - flag: the flag that names the output.
  ///   - replacesFile: whether an existing file may be replaced.
  ///   - isSynchronized: whether the bytes go to the disk before the file gets its name; nil if only those of a file that replaces
  ///     none do.
  init(
    _ target: OutputTarget, of flag: String = "-o", replacesFile: Bool = true, isSynchronized: Bool? = nil
  ) throws(Failure) {
    self.replacesFile = replacesFile
    self.isSynchronized = isSynchronized ?? !replacesFile
    self.flag = flag
    switch target {
    case .standardOutput:
      (name, stream, pending) = ("Standard output", .standardOutput, nil)
    case .path(let path):
      name = "The file \"\(path)\""
      do throws(SystemError) {
        (stream, pending) = try Self.open(path, replacesFile: replacesFile)
      } catch  where error == .alreadyExists {
        throw Failure(
          .inputOutput, "\(name) exists already, and is not replaced: choose another name.")
      } catch {
        throw .unusableOutput(path, of: flag, cause: error)
      }
    }
  }

  private static func open(
    _ path: LocalPath, replacesFile: Bool
  ) throws(SystemError) -> (stream: OutputDescriptor?, pending: PendingFile?) {
    switch try OutputPlace(at: path) {
    case .nothing: (nil, try PendingFile(at: path, permissions: permissionsOfNewFiles()))
    case .deadLink: throw .deadLink
    case .file where !replacesFile: throw .alreadyExists
    case .file(let permissions):
      (nil, try PendingFile(at: try resolved(path), permissions: permissions))
    case .standardOutput: (.standardOutput, nil)
    case .special: (try OutputDescriptor(opening: path), nil)
    }
  }

  func write(_ bytes: UnsafeRawBufferPointer) throws(Failure) {
    do throws(SystemError) {
      try stream?.write(bytes)
      try pending?.file.write(bytes)
    } catch {
      throw failure(error)
    }
  }

  /// The closure catches the error itself, because a typed error thrown from it crashes the compiler.
  func write(_ bytes: [UInt8]) throws(Failure) {
    var failure: Failure?
    bytes.withUnsafeBytes { bytes in
      do throws(Failure) { try write(bytes) } catch { failure = error }
    }
    if let failure { throw failure }
  }

  /// Writes the bytes after the first `written`, as many as there is room for.
  ///
  /// - Parameter written: how many of the bytes are written.
  /// - Returns: nil if all bytes are written; otherwise why there is no room: the disk is full, or a limit or a quota is reached.
  func write(_ bytes: [UInt8], written: inout Int) throws(Failure) -> Failure? {
    guard let stream else {
      try write(Array(bytes.dropFirst(written)))
      written = bytes.count
      return nil
    }
    do throws(SystemError) {
      try stream.write(bytes, written: &written)
      return nil
    } catch {
      guard error.isOutOfSpace else { throw failure(error) }
      return failure(error)
    }
  }

  func write(_ text: String) throws(Failure) {
    try write(Array(text.utf8))
  }

  private func failure(_ error: SystemError) -> Failure {
    if error.isBrokenPipe {
      return Failure(
        .inputOutput,
        "\(name) was closed by its reader before everything was written: the output is incomplete.")
    }
    return Failure(
      .inputOutput, "\(name) could not be written: \(error). The output is incomplete.")
  }

  /// Whether the output is a terminal, under any name.
  var isTerminal: Bool { stream?.isTerminal == true }

  /// Whether the output is a file that gets its name when it is complete.
  var isNamedAtEnd: Bool { pending != nil }

  /// Removes a file that has no name yet. Returns false if the output can't be taken back.
  @discardableResult func discard() -> Bool {
    guard let pending else { return false }
    pending.file.discard()
    return true
  }

  /// Gives a complete file its name.
  func commit() throws(Failure) {
    guard let pending else { return }
    do throws(SystemError) {
      // Other files may refer to a file that is never replaced. Its bytes go to the disk before it gets its name, so
      // that the file is not lost in a crash.
      try pending.finishWriting(isSynchronized: isSynchronized)
    } catch {
      throw failure(error)
    }
    do throws(SystemError) {
      if replacesFile {
        try pending.file.replace(pending.name)
      } else if try !pending.file.commit(as: pending.name, ifTaken: .refuse) {
        throw .alreadyExists
      }
    } catch {
      throw Failure(
        .inputOutput,
        "\(name) could not be given its name: \(error). Try \(flag) - and redirect standard output."
      )
    }
  }
}

/// A file that only its owner can read until it is complete. It is removed if a signal ends the program first.
private struct PendingFile {
  let file: AtomicFile
  let name: FileName
  private let permissions: UInt32

  /// - Parameters:
  ///   - path: where the file will be; not a link.
  ///   - permissions: what the complete file allows.
  init(at path: LocalPath, permissions: UInt32) throws(SystemError) {
    guard !path.name.bytes.isEmpty else { throw .isADirectory }
    let directory = path.directory
    let temporaryName = FileName.temporary()
    removeOnSignal(
      LocalPath(bytes: directory.bytes + [UInt8(ascii: "/")] + temporaryName.bytes))
    file = try AtomicFile(
      in: try DirectoryDescriptor(directory), temporaryName: temporaryName, permissions: 0o600)
    name = path.name
    self.permissions = permissions
  }

  func finishWriting(isSynchronized: Bool) throws(SystemError) {
    try file.setPermissions(permissions)
    if isSynchronized { try file.synchronize() }
    try file.close()
  }
}
