import FormStreamHTTP
import FormStreamMultipart
import FormStreamPlatform

/// What the journals of a manifest say about each of its files. A run needs the index to go on where earlier runs ended.
///
/// The index takes two bits for every 16 bytes of the manifest that the journals mention: about 24 MB for ten million
/// files. Slices take memory only for files that the server has accepted in part.
package struct JournalIndex: Sendable {
  /// What is known about a file.
  package enum FileStatus: UInt8, Comparable, Sendable {
    /// The file was not sent, or was certainly refused.
    case unsent = 0
    /// The server may have accepted the file, in a request that does no harm if it is repeated.
    case repeatable = 1
    /// The server may have accepted the file.
    case doubtful = 2
    /// The server accepted the file.
    case accepted = 3

    package static func < (one: FileStatus, other: FileStatus) -> Bool {
      one.rawValue < other.rawValue
    }
  }

  /// Where the part of the manifest that the journals mention ends. No journal mentions a record that begins at this offset or
  /// later.
  package private(set) var end: Int64 = 0
  /// The ranges of the manifest for which lines of journals may be lost, and the status of a file in such a range: any of
  /// these files may have been sent. Lines are lost if the system crashes during the run, or if the disk loses them.
  private var lost: [Range<Int64>: FileStatus] = [:]
  /// The statuses of four files in each value.
  private var statuses = ManifestPages<UInt8>(of: 4096)
  private var slices: [Int64: SliceProgress] = [:]
  /// The uploads that broke off, of each file the one of which the server has most.
  private var unfinished: [Int64: Unfinished] = [:]
  /// The uploads of the round before, whose manifest has other offsets. All of them are to be believed.
  private var unfinishedBefore: [LocalPath: UploadResumeData] = [:]
  /// The offsets of the records of files that the server did not confirm after the last slice.
  private var unconfirmed: Set<Int64> = []

  /// An upload that broke off, of which the server keeps what has arrived.
  private struct Unfinished {
    let upload: UploadResumeData
    /// Why the upload is not to be believed: others can write to its journal. Nil if it is.
    let flaw: BatchError?
  }

  package init() {}

  /// Reads the journals of a manifest. If a journal has nothing to do with the shard, only its first line is
  /// read.
  ///
  /// - Parameters:
  ///   - shard: the shard that is sent; nil for all files.
  ///   - boot: the identifier of this machine's current boot; empty if it is not known.
  ///   - sliceSize: the size of the slices in which the new run sends files; nil if it sends each file in one piece.
  package init(
    of manifest: ManifestExtent, shard: Shard? = nil, in journals: JournalSet, boot: String,
    sliceSize: Int64? = nil
  ) throws(BatchError) {
    let files = manifest.offsets(of: shard)
    for journal in try journals.journals(of: manifest) {
      guard journal.range.overlaps(files) else { continue }
      try add(journal, about: files, boot: boot, sliceSize)
    }
  }

  /// What is known about the file whose record begins at `offset` in the manifest.
  package func status(of offset: Int64) -> FileStatus {
    let (index, shift) = Self.place(of: offset)
    let bits = statuses[index] >> shift & 3
    let status = FileStatus(rawValue: bits) ?? .doubtful
    return lost.reduce(status) { $1.key.contains(offset) ? max($0, $1.value) : $0 }
  }

  /// Which slices of a file are accepted, by the journals and by the manifest; nil if none are.
  func progress(of file: BatchFile) -> SliceProgress? {
    let progress = slices[file.offset] ?? file.slices
    return unconfirmed.contains(file.offset) ? progress?.unusable : progress
  }

  /// The data that continue the file's upload; nil if there are none.
  func unfinished(_ file: BatchFile) -> UploadResumeData? {
    unfinished[file.offset]?.upload ?? unfinishedBefore[file.path]
  }

  /// Throws if others could send an upload elsewhere that a run is to continue: whoever can write to a journal can name another URL.
  func checkUploads() throws(BatchError) {
    let flaws = unfinished.values.compactMap(\.flaw)
    if let flaw = flaws.min(by: { $0.subject < $1.subject }) { throw flaw }
  }

  /// Takes over the uploads that broke off in the round before. Of several uploads of one path, the last one is taken.
  ///
  /// - Throws: `journalNotTrusted` if others could send any of them elsewhere, even one that is not taken over.
  mutating func takeUnfinished(of earlier: JournalIndex) throws(BatchError) {
    try earlier.checkUploads()
    for (_, unfinished) in earlier.unfinished.sorted(by: { $0.key < $1.key }) {
      // The file comes after the parts that all requests have.
      if let path = unfinished.upload.lastFile { unfinishedBefore[path] = unfinished.upload }
    }
  }

  /// Notes the status that a journal gives a file. A status is never lowered, so an accepted file stays accepted.
  mutating func note(_ offset: Int64, _ status: FileStatus) {
    let (index, shift) = Self.place(of: offset)
    let old = statuses[index]
    guard status.rawValue > old >> shift & 3 else { return }
    statuses[index] = old & ~(3 << shift) | status.rawValue << shift
    if status == .accepted { (slices[offset], unfinished[offset]) = (nil, nil) }
  }

  private mutating func noteMention(of offset: Int64) {
    end = max(end, offset.addingClamped(ManifestPages<UInt8>.bytesPerFile))
  }

  private static func place(of offset: Int64) -> (index: Int64, shift: UInt8) {
    let number = ManifestPages<UInt8>.number(of: offset)
    return (number / 4, UInt8(number % 4 * 2))
  }

  private mutating func add(
    _ journal: JournalSummary, about files: Range<Int64>, boot: String, _ sliceSize: Int64?
  ) throws(BatchError) {
    let doubt = journal.head.doubt(sliceSize)
    let isClosed = try JournalReader.isClosed(journal.path)
    var flaw: BatchError?
    let damaged = try journal.read(in: files, inspect: { flaw = .uploadsNotTrusted(journal.path, $0) }) { line in
      switch line {
      case .head, .closed, .damaged: break
      case .started(let offset), .storedPerhaps(let offset):
        noteMention(of: offset)
        note(offset, doubt)
      case .accepted(let offset, let accepted):
        noteMention(of: offset)
        note(offset, accepted, journal.head, sliceSize)
      case .unfinished(let offset, let upload):
        noteMention(of: offset)
        note(offset, upload, flaw)
      case .record(let offset, let record):
        noteMention(of: offset)
        // The server accepted something, but not the bytes of the file.
        if record.isMismatch {
          note(offset, doubt)
          if journal.head.sliceSize != nil || journal.head.isReconstructed { unconfirmed.insert(offset) }
        }
        switch record.state {
        case .ok: note(offset, .accepted)
        // Only a complete journal proves that nothing else happened to the file.
        case .failed, .retryable, .sourceChanged, .skipped:
          if !isClosed { note(offset, doubt) }
        case .unknown, nil: note(offset, doubt)
        }
      }
    }
    if damaged == 0, try !journal.mayHaveLostLines(boot: boot) { return }
    lost[journal.range] = max(lost[journal.range] ?? .unsent, doubt)
  }

  /// Several journals may have data of one file: the upload of which the server has most is continued.
  ///
  /// - Parameter flaw: why the journal is not to be believed; nil if it is.
  private mutating func note(_ offset: Int64, _ upload: UploadResumeData?, _ flaw: BatchError?) {
    guard status(of: offset) != .accepted else { return }
    guard let upload else {
      unfinished[offset] = nil
      return
    }
    if let other = unfinished[offset]?.upload, other.uploadURL != upload.uploadURL, other.hasMore(than: upload) {
      return
    }
    unfinished[offset] = Unfinished(upload: upload, flaw: upload.uploadURL == nil ? nil : flaw)
  }

  private mutating func note(
    _ offset: Int64, _ accepted: AcceptedSlices, _ head: JournalHead, _ sliceSize: Int64?
  ) {
    guard status(of: offset) != .accepted else { return }
    // The slices have a size that is not known, so the server may have more of the file than other journals say.
    if head.isReconstructed { unconfirmed.insert(offset) }
    guard let size = head.sliceSize else { return }
    let progress = SliceProgress(size: size, accepted: accepted)
    slices[offset] = slices[offset].map { $0.joined(progress, preferring: sliceSize) } ?? progress
  }
}

extension JournalHead {
  /// The status of a file that this journal's run may have delivered. Slices of another size, and the complete file, have
  /// other idempotency keys.
  fileprivate func doubt(_ sliceSize: Int64?) -> JournalIndex.FileStatus {
    isHarmlessTwice && self.sliceSize == sliceSize ? .repeatable : .doubtful
  }
}

extension BatchError {
  /// The error for a journal whose uploads are not continued; nil if only its owner can change it, who runs this process. The rule is
  /// that of resume files.
  static func uploadsNotTrusted(_ path: LocalPath, _ ownership: AppendedFile.Ownership) -> BatchError? {
    let shown = path.description.quoted
    let message: Message
    switch ownership {
    case .own: return nil
    case .open:
      message = """
        Other users may write to the journal \(shown). One of them could have the rest of an upload sent to another server. If you \
        trust the journal, run chmod 600 on it; otherwise leave out \(SettingName.resumption).
        """
    case .foreign:
      message = """
        The journal \(shown) belongs to another user, who could have the rest of an upload sent to another server: name another \
        directory, or leave out \(SettingName.resumption).
        """
    case .special:
      message = """
        The journal \(shown) is a device or a pipe, so it is not known who wrote it, and its uploads can't go on: name another \
        directory, or leave out \(SettingName.resumption).
        """
    }
    return BatchError(.journalNotTrusted, on: path.description, message)
  }
}
