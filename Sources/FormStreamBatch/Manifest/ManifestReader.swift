public import FormStreamMultipart
import FormStreamPlatform
import FormStreamJSON

/// Reads a manifest, or one shard of it, one record at a time. The other shards are not read. Use it from one thread at a
/// time.
public final class ManifestReader: BatchInput {
  /// The greatest length of a manifest's line, in bytes.
  public static let maximumLine = 1024 * 1024

  /// The UUID of the manifest.
  public let id: String
  /// The directory that paths in the manifest are relative to; nil for the current directory.
  public let root: LocalPath?
  /// Whether the records are different files below ``root``.
  public let hasOneRoot: Bool

  /// No entries: a manifest has a record for everything that was listed.
  public var leftOut: LeftOutEntries { LeftOutEntries() }
  /// The name of the listing, if a run made the manifest.
  let listing: String?
  /// The round that the manifest is of; nil if it was not compared with earlier rounds.
  package let round: Round?
  /// The id of the manifest whose failed files this manifest lists; nil if it is no such list.
  package let parent: String?
  /// Whether the manifest lists files that were not accepted.
  package let isFailedList: Bool
  /// The directory with the journals of the run that did not accept the files; nil if it kept none, or if this is no such list.
  package let journal: LocalPath?

  /// Where the first record begins, and how many bytes the records have.
  private let begin: Int64
  private let size: Int64
  let path: LocalPath
  private var lines: LineReader
  /// Where the shard ends: a record that begins there or later belongs to another shard.
  private let end: Int64
  private let acceptsTornEnd: Bool
  private let followsLinks: Bool
  private var count = 0

  /// Whether blank lines were read so far. Blank lines stand where records were lost.
  private(set) var hasGaps = false

  /// Opens a manifest and reads its first line.
  ///
  /// - Parameters:
  ///   - path: the manifest.
  ///   - shard: the shard that is read; nil for all records.
  ///   - followsLinks: whether an absolute path may name a link.
  /// - Throws: `manifestUnreadable` or `manifestMalformed`.
  public convenience init(
    _ path: LocalPath, shard: Shard? = nil, followsLinks: Bool = false
  ) throws(BatchError) {
    try self.init(path, shard: shard, followsLinks: followsLinks, acceptsTornEnd: false)
  }

  /// Opens the manifest at the path that a text names.
  ///
  /// - Throws: `manifestUnreadable` or `manifestMalformed`.
  public convenience init(
    _ path: String, shard: Shard? = nil, followsLinks: Bool = false
  ) throws(BatchError) {
    try self.init(LocalPath(path), shard: shard, followsLinks: followsLinks)
  }

  /// - Parameter acceptsTornEnd: whether a last line without a line feed is left out. A manifest ends like this if the
  ///   process that wrote it was killed.
  package init(
    _ path: LocalPath, shard: Shard? = nil, followsLinks: Bool = false, acceptsTornEnd: Bool
  ) throws(BatchError) {
    self.path = path
    self.followsLinks = followsLinks
    self.acceptsTornEnd = acceptsTornEnd
    let file = try Self.open(path)
    let fileSize: Int64
    lines = LineReader(file, from: 0, maximumLine: Self.maximumLine)
    do throws(SystemError) { fileSize = try file.size } catch { throw .unreadable(path, error) }
    let header = try Self.header(from: &lines, of: path)
    id = header.id
    root = header.root
    (listing, round, parent) = (header.listing, header.round, header.parent)
    (isFailedList, journal) = (header.isFailedList, header.isFailedList ? header.journal : nil)
    hasOneRoot = header.hasOneRoot
    begin = lines.position
    size = max(0, fileSize - begin)
    guard let shard else {
      end = begin + size
      return
    }
    let range = shard.range(of: size)
    end = begin + range.upperBound
    guard range.lowerBound > 0 else { return }
    // A record that begins exactly at the boundary belongs to this shard. So the search for a line feed begins one byte
    // before.
    lines = LineReader(
      file, from: begin + range.lowerBound - 1, maximumLine: Self.maximumLine)
    do throws(LineReader.Failure) { try lines.skipLine() } catch { throw .failed(path, error) }
  }

  /// Reads the first line of a manifest, and closes the manifest again: many manifests can't be open at the same time.
  ///
  /// - Throws: `manifestUnreadable` or `manifestMalformed`.
  package static func header(of path: LocalPath) throws(BatchError) -> ManifestHeader {
    var lines = LineReader(try open(path), from: 0, maximumLine: maximumLine, pieceSize: 4096)
    return try header(from: &lines, of: path)
  }

  private static func header(
    from lines: inout LineReader, of path: LocalPath
  ) throws(BatchError) -> ManifestHeader {
    let first: LineReader.Line?
    do throws(LineReader.Failure) { first = try lines.next() } catch { throw .failed(path, error) }
    guard let first else { throw .malformed(path, at: 0, "it is empty") }
    do {
      return try ManifestHeader(try JSONValue(parsing: first.bytes))
    } catch {
      throw .malformed(path, at: 0, "it is not the first line of a manifest: \(error)")
    }
  }

  private static func open(_ path: LocalPath) throws(BatchError) -> RandomAccessFile {
    do throws(SystemError) {
      if let file = try RandomAccessFile(reading: path) { return file }
    } catch {
      throw .unreadable(path, error)
    }
    throw BatchError(
      .manifestUnreadable, on: path.description,
      "The manifest \(path.description.quoted) is not a regular file: write it to one first.")
  }

  /// The manifest as journals refer to it.
  package var extent: ManifestExtent {
    ManifestExtent(id: id, records: begin..<begin + size, isComplete: !acceptsTornEnd)
  }

  /// The next file; nil after the last of the shard.
  ///
  /// - Throws: `manifestUnreadable` or `manifestMalformed`.
  public func next() throws(BatchError) -> BatchFile? {
    while let entry = try nextEntry() {
      if case .file(let file) = entry { return file.lookedForAgain }
    }
    return nil
  }

  /// What a line of a manifest says.
  enum Entry {
    case file(BatchFile)
    /// A file of an earlier round is not there any more, or is there again. Only the paths of the value are set.
    case presence(BatchFile, isGone: Bool)
  }

  /// The next line's entry, as the manifest has it; nil after the last of the shard.
  func nextEntry() throws(BatchError) -> Entry? {
    guard let line = try nextLine() else { return nil }
    let record: ManifestRecord
    do {
      record = try ManifestRecord(try JSONValue(parsing: line.bytes))
    } catch {
      throw .malformed(path, at: line.offset, "\(error)")
    }
    let file = try Self.file(
      record, at: line.offset, number: count, below: root, hasOneRoot: hasOneRoot, followsLinks: followsLinks, of: path)
    if case .presence(let isGone) = record.contents { return .presence(file, isGone: isGone) }
    count += 1
    return .file(file)
  }

  /// The next line that is not blank. A manifest that was continued has blanks where lines were lost, and other programs
  /// may leave empty lines.
  private func nextLine() throws(BatchError) -> LineReader.Line? {
    while lines.position < end {
      let next: LineReader.Line?
      do throws(LineReader.Failure) { next = try lines.next() } catch { throw .failed(path, error) }
      guard let line = next, line.isComplete || lines.position >= begin + size else {
        throw .malformed(path, at: lines.position, "the file became shorter while it was read")
      }
      if !line.isComplete, acceptsTornEnd { return nil }
      if line.bytes.contains(where: { !Self.whiteSpace.contains($0) }) { return line }
      hasGaps = true
    }
    return nil
  }

  /// The white space of JSON (RFC 8259 §2), without the line feed.
  private static let whiteSpace = Array(" \t\r".utf8)

  /// The file of a record.
  ///
  /// - Parameter path: the file that has the record.
  static func file(
    _ record: ManifestRecord, at offset: Int64, number: Int, below root: LocalPath?, hasOneRoot: Bool,
    followsLinks: Bool = false, of path: LocalPath
  ) throws(BatchError) -> BatchFile {
    var file: BatchFile
    do throws(BatchError) {
      let place = try EntryPlace(record.path, below: root)
      // Without this check, two files could be sent to one URL unnoticed, because URLs are not compared if there is one
      // root.
      guard !hasOneRoot || place.root == root ?? "." && place.kept == place.relative else {
        throw .malformed(
          path, at: offset,
          "its path is not below the root, and the first line says so of all paths (one_root)")
      }
      file = BatchFile(path: place.path, root: place.root, relative: place.relative)
      file.keptPath = place.kept
    } catch  where error.code != .manifestMalformed {
      file = BatchFile(path: record.path, problem: error)
    }
    file.manifestPath = record.path
    switch record.contents {
    case .file(let size, let modified): (file.size, file.modified) = (size, modified)
    case .problem(let failure):
      file.problem = BatchError(
        BatchError.Code(rawValue: failure.code), on: record.path.description, failure.message)
    case .presence: break
    }
    (file.slices, file.isDirectory) = (record.slices, record.isDirectory)
    file.type = record.type
    file.sha256 = record.sha256
    file.fields = record.fields
    (file.maybeDuplicate, file.keyRecord) = (record.maybeDuplicate, record.keyRecord)
    file.followsLinks = followsLinks
    if record.isNamedLink { file.followNamedLink() }
    file.index = number
    file.keptIndex = record.index
    file.offset = offset
    return file
  }
}

extension BatchError {
  fileprivate static func unreadable(_ path: LocalPath, _ error: SystemError) -> BatchError {
    BatchError(
      .manifestUnreadable, on: path.description,
      "The manifest \(path.description.quoted) can't be read: \(error). Name one that can.",
      underlying: error)
  }

  fileprivate static func malformed(
    _ path: LocalPath, at offset: Int64, _ reason: String
  ) -> BatchError {
    BatchError(
      .manifestMalformed, on: path.description,
      "The manifest \(path.description.quoted) is malformed in the line that begins at byte \(offset): \(reason). Make "
        + "it again.")
  }

  fileprivate static func failed(
    _ path: LocalPath, _ failure: LineReader.Failure
  ) -> BatchError {
    switch failure {
    case .system(let error): unreadable(path, error)
    case .lineTooLong(let offset):
      malformed(path, at: offset, "it has more than \(ManifestReader.maximumLine) bytes")
    }
  }
}
