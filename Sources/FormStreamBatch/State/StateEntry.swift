import FormStreamJSON
import FormStreamMultipart
import FormStreamPlatform

/// What the manifest of an old round says about a path, and what the journals say about it.
struct StateEntry {
  /// The file as the manifest has it. If ``isGone`` is not nil, only its paths are set.
  let file: BatchFile
  /// Whether the file was not there any more, or was there again; nil if the round had it.
  let isGone: Bool?
  /// The id of the manifest.
  let manifest: String
  var status = JournalIndex.FileStatus.unsent
  /// The slices that the server has accepted, by the journals and by the manifest.
  var slices: SliceProgress?
  /// The version that journals prove accepted.
  var accepted: KnownFile.Version?
  var finding: JournalFindings.Finding = []
  /// What somebody has looked at: `true` if the file was certainly accepted twice, `false` if it may have been; nil if nobody has.
  var settled: Bool?
  /// The record of a journal that says why the file was not accepted.
  var record: JSONValue?

  /// - Parameter number: the number of the file in the manifest, from 0.
  init(_ entry: ManifestReader.Entry, of manifest: String, number: Int) {
    self.manifest = manifest
    switch entry {
    case .file(var file):
      // A reader counts the files of its part.
      file.index = number
      (self.file, isGone) = (file, nil)
    case .presence(let file, let isGone): (self.file, self.isGone) = (file, isGone)
    }
  }

  var place: RecordPlace { RecordPlace(manifest: manifest, offset: file.offset) }

  // MARK: Use

  /// The entry as the next round is compared with it.
  func known(in manifests: StateManifests) -> KnownFile {
    KnownFile(file, accepted, status, slices, of: manifest, manifests[manifest]?.period ?? SendingPeriod())
  }

  /// The entry as a report has it.
  ///
  /// - Parameter notesVersion: whether an accepted file gets the size and the time of the version that was accepted.
  func found(in manifests: StateManifests, notesVersion: Bool) -> RoundFindings.Entry {
    guard isGone == nil else { return RoundFindings.Entry(.presence(file, isGone: isGone ?? false)) }
    var entry = RoundFindings.Entry(.file(file.lookedForAgain), finding)
    let source = manifests[manifest]
    entry.isRepair = source?.parent != nil
    entry.keepsIndex = source?.listing != nil || file.keptIndex != nil
    (entry.manifest, entry.period) = (manifest, source?.period ?? SendingPeriod())
    entry.record = record.map { Array($0.line().dropLast()) } ?? []
    if notesVersion, let accepted { entry.note(accepted: accepted) }
    return entry
  }

  // MARK: The entry of a line

  private static let findings: [(name: String, value: JournalFindings.Finding)] = [
    ("accepted", .accepted), ("accepted-again", .acceptedAgain), ("maybe-duplicate", .maybeDuplicate),
    ("unknown", .unknown), ("failed", .failed), ("unreadable", .unreadable), ("source-changed", .sourceChanged),
    ("retryable", .retryable), ("partly-stored", .partlyStored), ("maybe-lost", .mayBeLost),
  ]
  private static let statuses: [(name: String, value: JournalIndex.FileStatus)] = [
    ("unsent", .unsent), ("repeatable", .repeatable), ("doubtful", .doubtful), ("accepted", .accepted),
  ]

  /// The version that the manifest lists.
  private static func listed(_ file: BatchFile) -> KnownFile.Version {
    KnownFile.Version(size: file.size, modified: file.modified, sha256: file.sha256)
  }

  var members: [JSONValue.Member] {
    let listed = isGone.map { ManifestRecord(path: file.manifestPath, contents: .presence(isGone: $0)) } ?? ManifestRecord(file)
    var members = listed.members
    members.append(.init("manifest", .string(manifest)))
    guard isGone == nil else { return members }
    members += [
      .init("offset", .integer(file.offset)), .init("number", .integer(Int64(file.number))),
      .init("status", .string(Self.statuses.first { $0.value == status }?.name ?? "doubtful")),
      .init("found", .array(Self.findings.filter { finding.contains($0.value) }.map { .string($0.name) })),
    ]
    if let accepted {
      members.append(.init("accepted", accepted == Self.listed(file) ? true : accepted.json))
    }
    if let slices {
      members.append(.init("known_slices", slices.json))
      if slices.hasOthers { members.append(.init("other_slices", true)) }
    }
    if let settled { members.append(.init("settled", .string(settled ? "accepted-again" : "maybe-duplicate"))) }
    if let record { members.append(.init("record", record)) }
    return members
  }

  /// Reads an entry.
  ///
  /// - Parameter path: the path of the state.
  /// - Throws: `manifestMalformed` if the entry was not written by a run.
  init(_ json: JSONValue, in manifests: StateManifests, of path: LocalPath) throws(BatchError) {
    let record: ManifestRecord
    do throws(RecordFormatError) { record = try ManifestRecord(json) } catch { throw RecordedState.malformed(path, "\(error)") }
    guard let manifest = json["manifest"]?.text, let source = manifests[manifest] else {
      throw RecordedState.malformed(path, "its manifest is not known")
    }
    self.manifest = manifest
    let number = json["number"]?.integer.flatMap(Int.init(exactly:)) ?? 0
    file = try ManifestReader.file(
      record, at: json["offset"]?.integer ?? 0, number: number, below: source.root, hasOneRoot: source.hasOneRoot, of: path)
    guard case .presence(let isGone) = record.contents else {
      isGone = nil
      status = Self.statuses.first { $0.name == json["status"]?.text }?.value ?? .doubtful
      for name in json["found"]?.elements ?? [] {
        if let found = Self.findings.first(where: { $0.name == name.text }) { finding.insert(found.value) }
      }
      accepted = json["accepted"].flatMap { $0 == true ? Self.listed(file) : KnownFile.Version($0) }
      slices = json["known_slices"].flatMap(SliceProgress.init)
      if json["other_slices"] == true { slices?.noteOthers() }
      settled = json["settled"]?.text.map { $0 == "accepted-again" }
      self.record = json["record"]
      return
    }
    self.isGone = isGone
  }
}
