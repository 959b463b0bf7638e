import FormStreamDigest
package import FormStreamMultipart
import FormStreamJSON

/// Makes the lines of a manifest.
package struct ManifestEncoder {
  /// The UUID of the manifest.
  package let id: String
  /// The first line.
  package let header: [UInt8]
  /// Where the next record begins.
  package private(set) var offset: Int64

  /// Begins a manifest.
  ///
  /// - Parameters:
  ///   - id: the UUID of the manifest; nil for a new UUID.
  ///   - listing: the name of the listing, if a run writes the manifest.
  ///   - hasOneRoot: whether the records are different files below the root.
  ///   - round: the round that the manifest is of; nil if it was not compared with earlier rounds.
  ///   - parent: the id of the manifest whose failed files are listed; nil if they are not such files.
  ///   - isFailedList: whether files that were not accepted are listed.
  ///   - journal: the directory with the journals of the run that did not accept them; nil if it kept none.
  ///   - journals: the names of the runs that no earlier manifest names.
  package init(
    root: LocalPath?, id: String? = nil, listing: String? = nil, hasOneRoot: Bool = false,
    round: Round? = nil, parent: String? = nil, isFailedList: Bool = false, journal: LocalPath? = nil,
    journals: [String] = []
  ) {
    self.id = id ?? UUIDText.random()
    header =
      ManifestHeader(
        id: self.id, root: root, listing: listing, hasOneRoot: hasOneRoot, round: round,
        parent: parent, isFailedList: isFailedList,
        // The list may be sent from another directory.
        journal: journal.flatMap { try? resolved($0) }, journals: journals
      ).json.line()
    offset = Int64(header.count)
  }

  /// Goes on with a manifest that ends at `offset`.
  init(id: String, goingOnAt offset: Int64) {
    self.id = id
    header = []
    self.offset = offset
  }

  /// The line for a file. Lines must be written in the order in which they are made.
  package mutating func line(for file: BatchFile) -> [UInt8] {
    let line: [UInt8] = Self.line(for: file)
    offset += Int64(line.count)
    return line
  }

  /// The next blanks that fill the manifest up to `end` or a little beyond; empty if the manifest already reaches `end`.
  /// Call this method until it returns an empty array.
  mutating func blanks(upTo end: Int64) -> [UInt8] {
    let count = min(max(0, end - offset), 64 * 1024)
    guard count > 0 else { return [] }
    offset += count + 1
    return [UInt8](repeating: UInt8(ascii: " "), count: Int(count)) + [UInt8(ascii: "\n")]
  }

  /// The line for a file, without counting its bytes for the next offset.
  package static func line(for file: BatchFile) -> [UInt8] {
    ManifestRecord(file).json.line()
  }

  /// The line that says that a file of an earlier round is not there any more, or is there again.
  static func line(for path: LocalPath, isGone: Bool) -> [UInt8] {
    ManifestRecord(path: path, contents: .presence(isGone: isGone)).json.line()
  }
}

extension ManifestRecord {
  /// The record of a file.
  init(_ file: BatchFile) {
    self.init(
      path: file.manifestPath,
      contents: file.problem.map { .problem(FileFailure($0)) } ?? .file(size: file.size, modified: file.modified),
      type: file.type, sha256: file.sha256, fields: file.fields, index: file.keptIndex,
      maybeDuplicate: file.maybeDuplicate, keyRecord: file.keyRecord, slices: file.slices,
      isDirectory: file.isDirectory, isNamedLink: file.isNamedLink)
  }
}
