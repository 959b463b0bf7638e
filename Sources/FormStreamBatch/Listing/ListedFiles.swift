import FormStreamMultipart
import FormStreamPlatform

/// The files of a completed listing, in the order in which they were listed. Memory is bounded.
final class ListedFiles: BatchInput {
  let root: LocalPath?
  let hasOneRoot: Bool
  let leftOut: LeftOutEntries
  private let files: NumberedLines

  /// Reads a listing to its end.
  ///
  /// - Parameters:
  ///   - directory: the directory for temporary files with the entries that don't fit into memory.
  ///   - look: receives each file, and may change it.
  init(
    of listing: any BatchInput, in directory: LocalPath,
    _ look: (inout BatchFile) throws(BatchError) -> Void
  ) throws(BatchError) {
    files = NumberedLines(in: directory)
    while var file = try listing.next() {
      try look(&file)
      try files.add(StoredFile.bytes(of: file), number: Int64(file.index))
    }
    (root, hasOneRoot, leftOut) = (listing.root, listing.hasOneRoot, listing.leftOut)
  }

  func next() throws(BatchError) -> BatchFile? {
    try files.next().map(StoredFile.file)
  }
}

/// A file of a listing as bytes that only this process reads.
enum StoredFile {
  static func bytes(of file: BatchFile) -> [UInt8] {
    var stored = StoredBytes()
    stored.add(file.path.bytes)
    stored.add(file.root?.bytes ?? [])
    for path in [file.relative, file.keptPath, file.manifestPath] { stored.add(path.bytes) }
    stored.add(file.problem.map { Array($0.code.rawValue.utf8) } ?? [])
    stored.add(Array((file.problem?.subject ?? "").utf8))
    stored.add(Array((file.problem?.description ?? "").utf8))
    stored.add(Array((file.type?.description ?? "").utf8))
    stored.add(file.sha256?.bytes ?? [])
    stored.add(Int64(file.fields.count))
    for field in file.fields {
      for text in [field.name, field.value] { stored.add(Array(text.utf8)) }
    }
    stored.add([
      file.root == nil ? 0 : 1, file.followsLinks ? 1 : 0, file.maybeDuplicate ? 1 : 0,
      file.slices == nil ? 0 : 1, file.isDirectory ? 1 : 0, file.isNamedLink ? 1 : 0,
      file.isFoundLater ? 1 : 0, file.identity == nil ? 0 : 1,
    ])
    stored.add(Array((file.keyRecord?.manifest ?? "").utf8))
    let slices = file.slices
    let identity = file.identity
    for number in [
      file.keyRecord?.offset ?? 0, slices?.size ?? 0, slices?.accepted.bytes ?? 0,
      slices?.accepted.changed ?? 0, file.size, file.modified, Int64(file.index),
      Int64(file.keptIndex ?? -1), file.offset,
      Int64(bitPattern: identity?.device ?? 0), Int64(bitPattern: identity?.inode ?? 0),
      identity?.size ?? 0, identity?.modified.seconds ?? 0, identity?.modified.nanoseconds ?? 0,
      identity?.changed.seconds ?? 0, identity?.changed.nanoseconds ?? 0,
    ] { stored.add(number) }
    return stored.bytes
  }

  static func file(_ bytes: [UInt8]) -> BatchFile {
    var stored = StoredBytes(bytes)
    let (path, root) = (stored.path(), stored.path())
    var file = BatchFile(path: path)
    (file.relative, file.keptPath, file.manifestPath) = (
      stored.path(), stored.path(), stored.path()
    )
    let (code, subject, description) = (stored.text(), stored.text(), stored.text())
    if !code.isEmpty {
      file.problem = BatchError(BatchError.Code(rawValue: code), on: subject, "\(description)")
    }
    file.type = MediaType(stored.text())
    file.sha256 = SHA256Digest(bytes: stored.list())
    for _ in 0..<max(0, stored.number()) {
      file.fields.append(BatchFile.Field(name: stored.text(), value: stored.text()))
    }
    let marks = stored.list()
    file.root = marks.first == 1 ? root : nil
    file.followsLinks = marks.dropFirst().first == 1
    file.maybeDuplicate = marks.dropFirst(2).first == 1
    if marks.dropFirst(5).first == 1 { file.followNamedLink() }
    file.isFoundLater = marks.dropFirst(6).first == 1
    let (manifest, offset) = (stored.text(), stored.number())
    if !manifest.isEmpty { file.keyRecord = RecordPlace(manifest: manifest, offset: offset) }
    let slices = SliceProgress(
      size: stored.number(),
      accepted: AcceptedSlices(bytes: stored.number(), changed: stored.number()))
    if marks.dropFirst(3).first == 1 { file.slices = slices }
    file.isDirectory = marks.dropFirst(4).first == 1
    (file.size, file.modified, file.index) = (
      stored.number(), stored.number(), Int(stored.number())
    )
    let kept = stored.number()
    if kept >= 0 { file.keptIndex = Int(kept) }
    file.offset = stored.number()
    let (device, inode) = (stored.number(), stored.number())
    let size = stored.number()
    let modified = Timestamp(seconds: stored.number(), nanoseconds: stored.number())
    let changed = Timestamp(seconds: stored.number(), nanoseconds: stored.number())
    if marks.last == 1 {
      file.identity = FileIdentity(
        device: UInt64(bitPattern: device), inode: UInt64(bitPattern: inode), size: size,
        modified: modified, changed: changed)
    }
    return file
  }
}

extension StoredBytes {
  fileprivate mutating func path() -> LocalPath { LocalPath(bytes: list()) }
}
