import FormStreamDigest
import FormStreamJSON
import FormStreamMultipart
import FormStreamPlatform

/// What old rounds say about one path, in one line of a state. It has what the next round and a report would know after they had
/// read these rounds, and not what the rounds said, so it does not grow with their number.
struct StateHistory {
  /// What the next round knows.
  private(set) var history = FileHistory()
  /// What a report knows.
  private(set) var findings = RoundFindings.PathFindings()
  /// The entries that these are about, by their places, and one for each other path that has led to the same file: it may lead to
  /// another one later.
  private var entries: [RecordPlace: StateEntry] = [:]
  private let manifests: StateManifests
  /// The most other paths. Those that have led to the file last are kept.
  private static let maximumOtherPaths = 16

  init(in manifests: StateManifests) { self.manifests = manifests }

  /// What an entry is needed for.
  private enum Role: String, CaseIterable {
    /// A report counts it.
    case reported
    /// A report needs it to know whether the file was accepted again.
    case reportedAccepted = "reported-accepted"
    /// It is the last one that the next round knows.
    case last
    /// The next round knows by it which version the server has.
    case accepted
  }

  private func place(of role: Role) -> RecordPlace? {
    switch role {
    case .reported: findings.last?.place
    case .reportedAccepted: findings.accepted?.place
    case .last: history.last?.place
    case .accepted: history.accepted?.place
    }
  }

  /// What journals say about the file, by the entries up to the one with this role; nil if the role has nothing to do with it.
  private func finding(of role: Role) -> JournalFindings.Finding? {
    switch role {
    case .reported: findings.last?.finding
    case .reportedAccepted: findings.accepted?.finding
    case .last, .accepted: nil
    }
  }

  /// The manifests of the entries.
  var sources: some Sequence<String> { entries.keys.lazy.map(\.manifest) }

  // MARK: Adding

  /// Adds what the next round says.
  mutating func add(_ entry: StateEntry) {
    findings.add(entry.found(in: manifests, notesVersion: true))
    switch entry.isGone {
    case nil:
      history.add(entry.known(in: manifests))
      entries[entry.place] = entry
    case true?: history.isGone = true
    case false?: history.noteBack()
    }
    removeUnneeded()
  }

  /// Adds what another line of the state says, if two paths have become one.
  mutating func add(_ other: StateHistory) {
    history.add(other.history)
    findings.add(other.findings)
    entries.merge(other.entries) { $1 }
    removeUnneeded()
  }

  private mutating func removeUnneeded() {
    guard entries.count > 1 else { return }
    let needed = Set(Role.allCases.compactMap(place))
    let paths = Set(needed.compactMap { entries[$0]?.file.path })
    let others = entries.filter { !paths.contains($0.value.file.path) }
    entries = entries.filter { needed.contains($0.key) }
    guard !others.isEmpty else { return }
    let last = Dictionary(grouping: others.keys) { others[$0]?.file.path }.values
      .compactMap { $0.max(by: manifests.isEarlier) }.sorted(by: manifests.isEarlier)
    for place in last.suffix(Self.maximumOtherPaths) { entries[place] = others[place] }
  }

  // MARK: Paths that were one

  /// The histories of the files that the paths of the entries lead to now. There are several if two paths led to one file when a round
  /// was summed up, and no longer do: a link has become a directory, for example. What became of which file is not known then, so
  /// the server may have any version of each.
  func parted(by keys: inout FileKeys) -> [StateHistory] {
    // Most histories are about one path.
    guard let path = entries.values.first?.file.path, entries.values.contains(where: { $0.file.path != path }) else {
      return [self]
    }
    var parts: [[UInt8]: StateHistory] = [:]
    for (place, entry) in entries {
      parts[keys.key(of: entry.file), default: StateHistory(in: manifests)].entries[place] = entry
    }
    guard parts.count > 1 else { return [self] }
    return parts.values.map { part in
      var part = part
      let last = part.entries.keys.max(by: manifests.isEarlier).flatMap { part.entries[$0] }
      part.history = FileHistory(
        last: last?.known(in: manifests), accepted: nil, doubts: [.anyVersion], lastSending: history.lastSending,
        isGone: history.isGone)
      // A report counts one file, as the rounds did.
      if let place = findings.last?.place, part.entries[place] != nil { part.findings = findings }
      return part
    }
  }

  /// Notes what somebody has looked at.
  mutating func note(_ settled: SettledDoubts) {
    for place in entries.keys { entries[place]?.settled = settled.settled(place.manifest, place.offset) }
  }

  /// Notes that the next requests have other idempotency keys, because slices have another size.
  mutating func forgetKeys() { history.forgetKeys() }

  /// Notes in the doubts what is settled.
  func noteSettled(in doubts: inout SettledDoubts) {
    for entry in entries.values { doubts.note(entry) }
  }

  // MARK: The line of a state

  /// Where a file is; nil if nothing is known about the path.
  var file: BatchFile? { Role.allCases.lazy.compactMap(place).first.flatMap { entries[$0]?.file } }

  var json: JSONValue {
    var found: [(entry: StateEntry, roles: [Role])] = []
    for role in Role.allCases {
      guard let place = place(of: role), var entry = entries[place] else { continue }
      let finding = finding(of: role)
      let same = found.firstIndex { $0.entry.place == place && (finding == nil || $0.entry.finding == finding) }
      if let same {
        found[same].roles.append(role)
      } else {
        if let finding { entry.finding = finding }
        found.append((entry, [role]))
      }
    }
    let other = entries.keys.filter { place in !found.contains { $0.entry.place == place } }
    found += other.sorted { ($0.manifest, $0.offset) < ($1.manifest, $1.offset) }.compactMap { entries[$0] }.map { ($0, []) }
    var members = [
      JSONValue.Member(
        "entries",
        .array(
          found.map { entry, roles in
            guard roles.count < Role.allCases.count else { return .object(entry.members) }
            return .object(entry.members + [.init("roles", .array(roles.map { .string($0.rawValue) }))])
          }))
    ]
    if history.isGone { members.append(.init("gone", true)) }
    if findings.isGone { members.append(.init("reported_gone", true)) }
    if history.lastSending != history.last?.period.last {
      members.append(.init("last_ns", .integer(orNull: history.lastSending == .min ? nil : history.lastSending)))
    }
    if !history.doubts.isEmpty { members.append(.init("doubts", .array(history.doubts.map(\.json)))) }
    return .object(members)
  }

  /// Whether a line is one of a path, and not an entry.
  static func isLine(_ json: JSONValue) -> Bool { json["entries"] != nil }

  /// Reads a line.
  ///
  /// - Parameters:
  ///   - path: the path of the state.
  ///   - notesVersions: whether a report has the size and the time of the version that was accepted.
  /// - Throws: `manifestMalformed` if the line was not written by a run.
  init(
    _ json: JSONValue, in manifests: StateManifests, of path: LocalPath, notesVersions: Bool = true
  ) throws(BatchError) {
    self.manifests = manifests
    var (last, accepted): (KnownFile?, KnownFile?)
    var (reported, reportedAccepted): (RoundFindings.Entry?, RoundFindings.Entry?)
    for json in json["entries"]?.elements ?? [] {
      let entry = try StateEntry(json, in: manifests, of: path)
      guard entry.isGone == nil else { throw RecordedState.malformed(path, "an entry has no file") }
      entries[entry.place] = entry
      let roles = json["roles"]?.elements?.compactMap { $0.text.flatMap(Role.init) } ?? Role.allCases
      let (found, known) = (entry.found(in: manifests, notesVersion: notesVersions), entry.known(in: manifests))
      for role in roles {
        switch role {
        case .reported: reported = found
        case .reportedAccepted: reportedAccepted = found
        case .last: last = known
        case .accepted: accepted = known
        }
      }
    }
    var lastSending = last?.period.last ?? .min
    if let time = json["last_ns"] { lastSending = time.integer ?? .min }
    history = FileHistory(
      last: last, accepted: accepted, doubts: (json["doubts"]?.elements ?? []).compactMap(FileHistory.Doubt.init),
      lastSending: lastSending, isGone: json["gone"] == true)
    findings = RoundFindings.PathFindings(
      last: reported, accepted: reportedAccepted, isGone: json["reported_gone"] == true)
  }
}

extension FileHistory.Doubt {
  fileprivate var json: JSONValue {
    var members: [JSONValue.Member] = []
    if let version { members.append(.init("version", version.json)) }
    if let keyRecord { members.append(.init("key_record", keyRecord.json)) }
    return .object(members)
  }

  /// Nothing is left out that can't be read: then any version is in doubt.
  fileprivate init(_ json: JSONValue) {
    self.init(
      version: json["version"].flatMap(KnownFile.Version.init), keyRecord: json["key_record"].flatMap(RecordPlace.init))
  }
}

extension KnownFile.Version {
  var json: JSONValue {
    ["size": .integer(size), "mtime_ns": .integer(modified), "sha256": .string(orNull: sha256?.description)]
  }

  init?(_ json: JSONValue) {
    guard let size = json["size"]?.integer, let modified = json["mtime_ns"]?.integer else { return nil }
    self.init(size: size, modified: modified, sha256: json["sha256"]?.text.flatMap { SHA256Digest($0) })
  }
}
