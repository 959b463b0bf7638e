import FormStreamMultipart
import FormStreamPlatform

/// Lists the files below a directory one at a time, in the order in which the system returns the names.
///
/// All directories from the root to the current file are kept open, so the walk stays below the root even if a directory is
/// renamed or replaced. Memory does not grow with the number of files.
final class DirectoryWalk {
  /// How many directories may be nested. One descriptor is open for each.
  static let maximumDepth = 256
  /// The longest path below the root, in bytes: the system does not open longer paths.
  static let maximumPath = 4095

  /// A file, or an entry that should be listed but can't be.
  struct Found {
    /// The path below the root.
    let relative: [UInt8]
    let result: Result<FileIdentity, BatchError>
    /// Whether it is a directory that can't be listed.
    var isDirectory = false
  }

  private struct Level {
    let stream: DirectoryStream
    /// The path of the directory below the root, with a slash at its end; empty for the root.
    let prefix: [UInt8]
    /// Device and inode, which distinguish the directory from all other open directories.
    let identity: FileIdentity
  }

  private let root: LocalPath
  private let options: ListingOptions
  private var levels: [Level] = []
  private(set) var leftOut = LeftOutEntries()
  /// An entry that was left out, and is not counted yet.
  private var uncounted: (kind: WritableKeyPath<LeftOutEntries, Int>, relative: [UInt8])?
  /// Whether an entry that is left out is to be counted: another walk may have found it.
  private let isFirst: (_ relative: [UInt8]) throws(BatchError) -> Bool

  /// Opens the root.
  init(
    _ root: LocalPath, _ options: ListingOptions,
    isFirst: @escaping (_ relative: [UInt8]) throws(BatchError) -> Bool = { (_) throws(BatchError) in true }
  ) throws(SystemError) {
    self.isFirst = isFirst
    self.root = root
    self.options = options
    leftOut.usedIncludes = options.includes.isEmpty ? nil : []
    let stream = try waitingForDescriptors { () throws(SystemError) in try DirectoryStream(root) }
    try enter(stream, prefix: [])
  }

  /// The next file; nil after the last.
  ///
  /// - Throws: `tooManyOpenFiles`. The directory is not at fault, so its files must not be left out.
  func next() throws(BatchError) -> Found? {
    while let level = levels.last {
      let entry: DirectoryStream.Entry?
      do throws(SystemError) { entry = try level.stream.next() } catch {
        levels.removeLast()
        let relative = Array(level.prefix.dropLast())
        return problem(relative, .unlistable(at: path(relative), error), isDirectory: true)
      }
      guard let entry else {
        levels.removeLast()
        continue
      }
      let found = try look(at: entry, in: level)
      if let (kind, relative) = uncounted {
        uncounted = nil
        if try isFirst(relative) { leftOut[keyPath: kind] += 1 }
      }
      if let found { return found }
    }
    return nil
  }

  private func look(
    at entry: DirectoryStream.Entry, in level: Level
  ) throws(BatchError) -> Found? {
    let relative = level.prefix + entry.name.bytes
    if entry.name.bytes.first == UInt8(ascii: "."), !options.includesHidden {
      uncounted = (\.hidden, relative)
      return nil
    }
    var isDirectory = false
    do throws(SystemError) {
      let kind = try kind(of: entry, in: level)
      isDirectory = kind == .directory
      switch kind {
      case .directory: return try lookAtDirectory(entry.name, relative, in: level)
      case .regular: return try lookAtFile(entry.name, relative, in: level)
      case .symlink:
        guard options.followsLinks else {
          uncounted = (\.links, relative)
          return nil
        }
        return try follow(relative)
      case .pipe, .socket, .device:
        uncounted = (\.special, relative)
        return nil
      }
    } catch {
      let error =
        isDirectory
        ? BatchError.unlistable(at: path(relative), error) : BatchError.unreadable(at: path(relative), error)
      if error.code == .tooManyOpenFiles { throw error }
      return problem(relative, error, isDirectory: isDirectory)
    }
  }

  private func kind(
    of entry: DirectoryStream.Entry, in level: Level
  ) throws(SystemError) -> FileStatus.Kind {
    if let kind = entry.kind { return kind }
    return try FileStatus(of: entry.name, in: level.stream.number).kind
  }

  private func lookAtDirectory(
    _ name: FileName, _ relative: [UInt8], in level: Level
  ) throws(SystemError) -> Found? {
    if options.leavesOut(directory: relative) {
      uncounted = (\.excluded, relative)
      return nil
    }
    if let found = isTooDeep(relative) { return found }
    let stream = try waitingForDescriptors { () throws(SystemError) in
      try DirectoryStream(name, in: level.stream)
    }
    try enter(stream, prefix: relative + [UInt8(ascii: "/")])
    return nil
  }

  private func lookAtFile(
    _ name: FileName, _ relative: [UInt8], in level: Level
  ) throws(SystemError) -> Found? {
    if options.leavesOut(file: relative, &leftOut) {
      uncounted = (\.excluded, relative)
      return nil
    }
    if relative.count > Self.maximumPath {
      return problem(relative, .nestedTooDeep(at: path(relative)))
    }
    let status = try FileStatus(of: name, in: level.stream.number)
    guard status.kind == .regular else {
      return problem(
        relative, .notAFile(at: path(relative), "was replaced while files were listed"))
    }
    return Found(relative: relative, result: .success(status.identity))
  }

  /// Follows a link. Throws if the link leads out of the root.
  private func follow(_ relative: [UInt8]) throws(SystemError) -> Found? {
    guard let rootNumber = levels.first?.stream.number else { return nil }
    return try withFound(LocalPath(bytes: relative), below: rootNumber, followsLinks: true) {
      (number, status) throws(SystemError) in
      switch status.kind {
      case .regular:
        if options.leavesOut(file: relative, &leftOut) {
          uncounted = (\.excluded, relative)
          return nil
        }
        return Found(relative: relative, result: .success(status.identity))
      case .directory:
        if options.leavesOut(directory: relative) {
          uncounted = (\.excluded, relative)
          return nil
        }
        let isLoop = levels.contains { $0.identity.isSameFile(as: status.identity) }
        if isLoop { return problem(relative, .linkLoop(at: path(relative)), isDirectory: true) }
        if let found = isTooDeep(relative) { return found }
        try enter(DirectoryStream(found: number), prefix: relative + [UInt8(ascii: "/")])
        return nil
      case .symlink, .pipe, .socket, .device:
        uncounted = (\.special, relative)
        return nil
      }
    }
  }

  private func isTooDeep(_ relative: [UInt8]) -> Found? {
    // The path of a file in the directory has at least two bytes more: a slash and a name.
    guard levels.count >= Self.maximumDepth || relative.count + 2 > Self.maximumPath else {
      return nil
    }
    return problem(relative, .nestedTooDeep(at: path(relative)), isDirectory: true)
  }

  private func enter(_ stream: DirectoryStream, prefix: [UInt8]) throws(SystemError) {
    let identity = try FileStatus(ofDescriptor: stream.number).identity
    if let journals = options.journals, identity.isSameFile(as: journals) {
      leftOut.excluded += 1
      return
    }
    levels.append(Level(stream: stream, prefix: prefix, identity: identity))
  }

  private func problem(_ relative: [UInt8], _ error: BatchError, isDirectory: Bool = false) -> Found {
    Found(relative: relative, result: .failure(error), isDirectory: isDirectory)
  }

  private func path(_ relative: [UInt8]) -> LocalPath { root.appending(relative) }
}

extension FileIdentity {
  func isSameFile(as other: FileIdentity) -> Bool {
    (device, inode) == (other.device, other.inode)
  }
}
