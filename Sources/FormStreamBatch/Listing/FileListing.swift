public import FormStreamMultipart
import FormStreamPlatform

/// Lists the files of one source after another, one file at a time.
///
/// Files are not listed in advance: the first file can be sent before the other files are known, and memory does not grow
/// with the number of files. Use it from one thread at a time.
public final class FileListing: BatchInput {
  private enum Current {
    case walk(DirectoryWalk, NamedDirectory)
    case list(PathListReader)
  }

  private enum Checked {
    case file(LocalPath)
    case directory(NamedDirectory)
    case list(PathListReader)
    case problem(LocalPath, BatchError, isDirectory: Bool)
  }

  /// The directory that paths in a manifest of the listing are relative to: the directory that was named, if nothing else
  /// was named; otherwise the current directory. The path is absolute, and never nil.
  public let root: LocalPath?
  /// Whether one directory was named, and nothing else.
  public var hasOneRoot: Bool { onlyDirectory != nil }
  /// How many entries were found and left out so far.
  public private(set) var leftOut = LeftOutEntries()

  private let options: ListingOptions
  private var sources: ArraySlice<Checked>
  private let onlyDirectory: LocalPath?
  private var current: Current?
  private var count = 0
  /// The first files, which were listed to count them; nil if there are none left.
  private var ahead: NumberedLines?
  /// Whether there are enough files.
  private var isCounted = false
  private var keys = FileKeys()
  /// The keys of the files that were listed so far; nil if no file can be listed twice.
  private let seen: SeenKeys?
  /// The root of the last entry of a list. Most entries have the same root.
  private var lastRoot: (path: LocalPath, directory: FoundDirectory)?

  /// Checks the sources.
  ///
  /// - Throws: `inputMissing`, `inputUnreadable` or `notAFile` for a path that was named and can't be sent, unless
  ///   ``ListingOptions/keepsGoing`` is true; `journalMisplaced` if a path names the directory of the journals;
  ///   `listUnreadable`.
  public init(
    _ sources: [BatchSource], _ options: ListingOptions = ListingOptions()
  ) throws(BatchError) {
    self.options = options
    leftOut.usedIncludes = options.includes.isEmpty ? nil : []
    var checked: [Checked] = []
    for source in sources { checked.append(try Self.check(source, options)) }
    self.sources = checked[...]
    if checked.count == 1, case .directory(let directory) = checked[0] {
      onlyDirectory = directory.path
    } else {
      onlyDirectory = nil
    }
    let isList = if case .list? = checked.first { true } else { false }
    seen = checked.count > 1 || isList ? SeenKeys(in: options.temporaryDirectory) : nil
    do throws(SystemError) {
      root = try currentDirectory().joined(onlyDirectory ?? ".")
    } catch {
      throw .unreadable(at: ".", error)
    }
  }

  private static func check(
    _ source: BatchSource, _ options: ListingOptions
  ) throws(BatchError) -> Checked {
    switch source.kind {
    case .list(let name, let ending, let open):
      return .list(PathListReader(try open(), name: name, ending: ending))
    case .path(let path):
      do throws(BatchError) {
        return try check(path, options)
      } catch {
        guard options.keepsGoing, error.code != .journalMisplaced else { throw error }
        let status = try? FileStatus(of: path, followsSymlinks: true)
        return .problem(path, error, isDirectory: status?.kind == .directory)
      }
    }
  }

  private static func check(
    _ path: LocalPath, _ options: ListingOptions
  ) throws(BatchError) -> Checked {
    let status: FileStatus
    do throws(SystemError) {
      guard path.isUsable else { throw .notFound }
      status = try FileStatus(of: path, followsSymlinks: true)
      switch status.kind {
      case .regular:
        try checkReadable(path)
        return .file(path)
      case .directory, .symlink, .pipe, .socket, .device: break
      }
    } catch {
      throw .unreadable(at: path, error)
    }
    guard status.kind == .directory else {
      throw .notAFile(at: path, "names something else than a file or a directory")
    }
    do throws(SystemError) { try checkListable(path) } catch { throw .unlistable(at: path, error) }
    if let journals = options.journals, status.identity.isSameFile(as: journals) {
      throw .journalMisplaced(at: path)
    }
    return .directory(NamedDirectory(path))
  }

  /// The next file, or the next entry that can't be sent; nil after the last.
  ///
  /// - Throws: `tooFewFiles`; `listUnreadable` or `listMalformed` if a list can't be read to its end; `tooManyOpenFiles`; `writeFailed` if
  ///   the temporary directory has no room for the keys of many files.
  public func next() throws(BatchError) -> BatchFile? {
    if !isCounted {
      ahead = try filesAhead()
      isCounted = true
    }
    if let line = try ahead?.next() { return StoredFile.file(line) }
    ahead = nil
    return try nextListed()
  }

  /// The first files, if there must be some; nil if there need not be any.
  private func filesAhead() throws(BatchError) -> NumberedLines? {
    guard options.minimumFiles > 0 else { return nil }
    let files = NumberedLines(in: options.temporaryDirectory)
    var found = 0
    while found < options.minimumFiles, let file = try nextListed() {
      if file.problem == nil { found += 1 }
      try files.add(StoredFile.bytes(of: file), number: Int64(file.index))
    }
    guard found >= options.minimumFiles else {
      let listed = found == 0 ? "are no files" : "\(found == 1 ? "is" : "are") only \(counted(found, "file", "files"))"
      throw BatchError(
        .tooFewFiles, on: (root ?? ".").description,
        "There \(listed), and \(BatchSettingName.minimumFiles) is \(options.minimumFiles): nothing is sent. Check that the folder is the "
          + "right one, and that its disk is mounted.")
    }
    return files
  }

  private func nextListed() throws(BatchError) -> BatchFile? {
    while var file = try nextNamed() {
      try options.cancellation?.check()
      // An entry that can't be sent must not make a later name of the same file count as repeated: "d/../../t/d/a" is refused,
      // and "d/a" is still sent.
      let mark: [UInt8] = file.problem == nil ? [] : [0]
      if let seen, try !seen.insert(keys.key(of: file) + mark) {
        leftOut.repeated += 1
        continue
      }
      file.index = count
      count += 1
      return file
    }
    return nil
  }

  /// The next file, which may have been listed under another path.
  private func nextNamed() throws(BatchError) -> BatchFile? {
    while true {
      switch current {
      case .walk(let walk, let directory):
        if let found = try walk.next() { return file(found, in: directory) }
        leftOut.add(walk.leftOut)
        current = nil
      case .list(let reader):
        while let path = try reader.next() {
          if let file = try entry(path, of: reader) { return file }
        }
        current = nil
      case nil:
        guard let source = sources.popFirst() else { return nil }
        if let file = try begin(source) { return file }
      }
    }
  }

  /// Begins with a source. If the source is a single file or a problem, returns its entry.
  private func begin(_ source: Checked) throws(BatchError) -> BatchFile? {
    switch source {
    case .list(let reader): current = .list(reader)
    case .problem(let path, let error, let isDirectory):
      var file = BatchFile(path: path, problem: error)
      file.isDirectory = isDirectory
      return file
    case .file(let path): return named(path)
    case .directory(let directory):
      do throws(SystemError) {
        let walk = try DirectoryWalk(directory.path, options) { [unowned self] relative throws(BatchError) in
          try self.isFirst(self.keys.key(ofDirectory: directory.path) + [UInt8(ascii: "/")] + relative)
        }
        current = .walk(walk, directory)
      } catch {
        let error = BatchError.unlistable(at: directory.path, error)
        if error.code == .tooManyOpenFiles { throw error }
        var file = BatchFile(path: directory.path, problem: error)
        file.isDirectory = true
        return file
      }
    }
    return nil
  }

  /// Whether an entry that is left out is to be counted: sources may have entries in common.
  private func isFirst(_ key: [UInt8]) throws(BatchError) -> Bool {
    try seen?.insert(key + [1]) ?? true
  }

  /// A file that was found in a directory.
  private func file(_ found: DirectoryWalk.Found, in directory: NamedDirectory) -> BatchFile {
    // The path is empty if the directory itself can't be read to its end.
    let relative = LocalPath(
      bytes: found.relative.isEmpty ? [UInt8(ascii: ".")] : found.relative)
    var file = listed(
      below: directory.path, relative, path: directory.path.appending(found.relative), found.result)
    file.isDirectory = found.isDirectory
    if onlyDirectory == nil, let name = directory.name {
      file.keptPath = name.appending(relative.bytes)
      file.manifestPath = directory.marked.appending(Array("./".utf8) + relative.bytes)
    }
    return file
  }

  /// A file that was named directly. If the path names a link, the contents of the file that it leads to are sent under the name
  /// of the link.
  private func named(_ path: LocalPath) -> BatchFile {
    // The file is meant whatever the patterns say, and a pattern that it matches is of use.
    _ = options.leavesOut(file: path.name.bytes, &leftOut)
    do throws(SystemError) {
      let isLink = try FileStatus(of: path, followsSymlinks: false).kind == .symlink
      let status = try FileStatus(of: path, followsSymlinks: true)
      guard status.kind == .regular else { throw .notFound }
      let directory = LocalPath(bytes: path.directory.bytes)
      var file = listed(
        below: directory, LocalPath(bytes: path.name.bytes), path: path, .success(status.identity))
      if isLink { file.followNamedLink() }
      return file
    } catch {
      return BatchFile(path: path, problem: .unreadable(at: path, error))
    }
  }

  /// An entry of a list; nil if the entry is left out.
  private func entry(
    _ path: LocalPath, of list: PathListReader
  ) throws(BatchError) -> BatchFile? {
    let place: EntryPlace
    do throws(BatchError) { place = try EntryPlace(path, below: nil) } catch {
      return BatchFile(path: path, problem: error)
    }
    let status: FileStatus
    do throws(BatchError) { status = try self.status(of: place) } catch {
      if error.code == .tooManyOpenFiles { throw error }
      return listed(
        at: place, path,
        .failure(error.adding(list.hint(on: path))))
    }
    if status.kind == .directory {
      leftOut.directories += 1
      return nil
    }
    if options.leavesOut(file: place.named.bytes, &leftOut) {
      leftOut.excluded += 1
      return nil
    }
    let result: Result<FileIdentity, BatchError> =
      switch status.kind {
      case .regular: .success(status.identity)
      case .symlink:
        .failure(.notAFile(at: path, "is a symbolic link, and links are not followed"))
      case .directory, .pipe, .socket, .device:
        .failure(.notAFile(at: path, "is a FIFO, a socket or a device"))
      }
    return listed(at: place, path, result)
  }

  private func status(of place: EntryPlace) throws(BatchError) -> FileStatus {
    do throws(SystemError) {
      return try waitingForDescriptors { () throws(SystemError) in try foundStatus(of: place) }
    } catch {
      throw .unreadable(at: place.path, error)
    }
  }

  private func foundStatus(of place: EntryPlace) throws(SystemError) -> FileStatus {
    guard place.path.isUsable else { throw .notFound }
    guard let root = place.root else {
      return try FileStatus(of: place.path, followsSymlinks: options.followsLinks)
    }
    if let lastRoot, lastRoot.path == root {
      return try lastRoot.directory.status(
        of: place.relative, followsLinks: options.followsLinks)
    }
    let directory = try FoundDirectory(root)
    lastRoot = (root, directory)
    return try directory.status(of: place.relative, followsLinks: options.followsLinks)
  }

  /// An entry of a list. A reader of the manifest must find the same place from the entry's path. So a path with several
  /// `/./` is written to the manifest as it is.
  private func listed(
    at place: EntryPlace, _ path: LocalPath, _ result: Result<FileIdentity, BatchError>
  ) -> BatchFile {
    var file = listed(below: place.root, place.relative, path: place.path, result)
    if place.kept != place.relative {
      file.keptPath = place.kept
      file.manifestPath = path
    }
    return file
  }

  private func listed(
    below root: LocalPath?, _ relative: LocalPath, path: LocalPath,
    _ result: Result<FileIdentity, BatchError>
  ) -> BatchFile {
    var file = BatchFile(path: path, root: root, relative: relative)
    file.followsLinks = options.followsLinks
    file.manifestPath = manifestPath(below: root, relative)
    switch result {
    case .success(let identity):
      file.size = identity.size
      file.modified = identity.modifiedNanoseconds
      file.identity = identity
    case .failure(let error): file.problem = error
    }
    return file
  }

  /// The path of the file in a manifest. ``EntryPlace`` finds the same root and relative path from it.
  private func manifestPath(below root: LocalPath?, _ relative: LocalPath) -> LocalPath {
    guard let root, root != onlyDirectory ?? "." else { return relative }
    return root.appending(Array("./".utf8) + relative.bytes)
  }
}

extension LeftOutEntries {
  mutating func add(_ other: LeftOutEntries) {
    hidden += other.hidden
    links += other.links
    special += other.special
    excluded += other.excluded
    directories += other.directories
    repeated += other.repeated
    usedIncludes?.formUnion(other.usedIncludes ?? [])
  }
}
