import FormStreamPlatform

/// What an earlier round knows about a file: the version that was to be sent, and what became of it.
struct KnownFile: Equatable {
  /// What tells a version of a file from other versions.
  struct Version: Equatable {
    var size: Int64
    var modified: Int64
    /// The digest of the contents, if a run computed it.
    var sha256: SHA256Digest?
  }

  /// The version; nil if the file could not be sent, and so its size and time are not known.
  var version: Version?
  var status: JournalIndex.FileStatus
  /// The number that `{index}` stands for.
  var index: Int
  /// Whether the manifest of the round says that the server may have accepted the file before.
  var maybeDuplicate: Bool
  /// Where the file's record begins.
  var place: RecordPlace
  /// The record that the file's idempotency keys were made from; nil for its own record.
  var keyRecord: RecordPlace?
  /// The slices of the file that the server has accepted, if it has not accepted all.
  var slices: SliceProgress?
  /// When the files of the round were sent.
  var period: SendingPeriod

  /// Whether the server may have some of this version.
  var mayBeStored: Bool { status != .unsent || slices?.isBegun == true }
}

extension KnownFile.Version? {
  /// Whether both are known and are one version, as far as the digests are known.
  func isSame(as other: Self) -> Bool {
    guard let self, let other, self.size == other.size, self.modified == other.modified else { return false }
    return self.sha256 == nil || other.sha256 == nil || self.sha256 == other.sha256
  }
}

extension KnownFile {
  /// - Parameters:
  ///   - accepted: the version that journals prove accepted.
  ///   - status: what the journals say about the file.
  ///   - slices: the slices that the server has accepted, by the journals and by the manifest.
  init(
    _ file: BatchFile, _ accepted: Version?, _ status: JournalIndex.FileStatus, _ slices: SliceProgress?,
    of manifest: String, _ period: SendingPeriod
  ) {
    let listed =
      file.problem == nil
      ? Version(size: file.size, modified: file.modified, sha256: file.sha256) : nil
    version = accepted ?? listed
    if version?.sha256 == nil, version?.size == listed?.size { version?.sha256 = file.sha256 }
    // A file with a problem that does not pass is never sent, so its round says nothing new.
    let isNeverSent = file.problem.map { !BatchFile.passingProblems.contains($0.code) } ?? false
    self.status = isNeverSent ? .unsent : status
    index = file.number
    maybeDuplicate = file.maybeDuplicate && !isNeverSent
    place = RecordPlace(manifest: manifest, offset: file.offset)
    keyRecord = file.keyRecord
    self.slices = slices
    self.period = period
  }

  /// The value as bytes that only this process reads.
  var bytes: [UInt8] {
    var stored = StoredBytes()
    stored.add(version == nil ? 0 : 1)
    stored.add(version?.size ?? 0)
    stored.add(version?.modified ?? 0)
    stored.add(version?.sha256?.bytes ?? [])
    stored.add(Int64(status.rawValue))
    stored.add(Int64(index))
    stored.add(maybeDuplicate ? 1 : 0)
    for place in [place, keyRecord] {
      stored.add(Array((place?.manifest ?? "").utf8))
      stored.add(place?.offset ?? 0)
    }
    stored.add(slices == nil ? 0 : slices?.hasOthers == true ? 2 : 1)
    stored.add(slices?.size ?? 0)
    stored.add(slices?.accepted.bytes ?? 0)
    stored.add(slices?.accepted.changed ?? 0)
    stored.add(period.first)
    stored.add(period.last)
    return stored.bytes
  }

  init(_ bytes: [UInt8]) {
    var stored = StoredBytes(bytes)
    let hasVersion = stored.number() == 1
    let version = Version(
      size: stored.number(), modified: stored.number(), sha256: SHA256Digest(bytes: stored.list()))
    self.version = hasVersion ? version : nil
    status = JournalIndex.FileStatus(rawValue: UInt8(clamping: stored.number())) ?? .doubtful
    index = Int(stored.number())
    maybeDuplicate = stored.number() == 1
    place = RecordPlace(manifest: stored.text(), offset: stored.number())
    let key = RecordPlace(manifest: stored.text(), offset: stored.number())
    keyRecord = key.manifest.isEmpty ? nil : key
    let kind = stored.number()
    let slices = SliceProgress(
      size: stored.number(),
      accepted: AcceptedSlices(bytes: stored.number(), changed: stored.number()))
    period = SendingPeriod(first: stored.number(), last: stored.number())
    self.slices = kind == 0 ? nil : kind == 1 ? slices : slices.unusable
  }
}
