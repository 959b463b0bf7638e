package import FormStreamMultipart
import FormStreamPlatform

/// The journals in some directories, by the manifests that they are about. Only the first lines of the journals are read. A
/// journal and its copies count once.
package struct JournalSet: Sendable {
  struct Member: Sendable {
    let path: LocalPath
    let head: JournalHead
  }

  package let directories: [LocalPath]
  private var members: [String: [Member]] = [:]
  /// The state that sums up old rounds, whose journals are left out then; nil if there is none, or if it can't be used.
  package private(set) var state: RecordedState?
  /// Why the state that is there can't be used, as the end of a sentence; nil if there is none, or if it is used.
  private(set) var unusableState: String?
  /// The states that are whole and are not used. That is sound only as long as all files that they sum up are there.
  private(set) var setAside: [RecordedState] = []
  /// The file of the state as it was before the journals were read; nil if there was none. If several directories have one, it is
  /// one of them.
  private(set) var stateFile: FileIdentity?
  /// The manifests that the state sums up, and that journals beside it are about which it need not know.
  private(set) var mentionedBesides: Set<String> = []
  /// The journals beside the state that are about these manifests and have begun, and mention no files.
  private(set) var begunBesides: [LocalPath] = []

  /// - Throws: `journalUnreadable`; `journalMalformed`.
  package init(in directories: [LocalPath]) throws(BatchError) { try self.init(in: directories, usesState: true) }

  /// - Parameter usesState: whether the journals of rounds that a state sums up are left out.
  init(
    in directories: [LocalPath], usesState: Bool, unusable reason: String? = nil, setAside: [RecordedState] = []
  ) throws(BatchError) {
    var seen: Set<[UInt64]> = []
    // A directory that is named twice counts once.
    self.directories = directories.filter { directory in
      guard let identity = try? FileStatus(of: directory, followsSymlinks: true).identity else { return true }
      return seen.insert([identity.device, identity.inode]).inserted
    }
    (unusableState, self.setAside) = (reason, setAside)
    for directory in self.directories { stateFile = RecordedState.identity(in: directory) ?? stateFile }
    if usesState, let state = try findState() {
      guard let conflict = try addJournals(besides: state) else {
        self.state = state
        return
      }
      unusableState = conflict
      self.setAside = [state]
      (members, mentionedBesides, begunBesides) = ([:], [], [])
    }
    _ = try addJournals(besides: nil)
  }

  /// All journals, also those of rounds that a state sums up.
  ///
  /// - Parameter reason: why the state can't be used, as the end of a sentence.
  func withoutState(_ reason: String) throws(BatchError) -> JournalSet {
    guard let state else { return self }
    return try JournalSet(in: directories, usesState: false, unusable: reason, setAside: [state])
  }

  /// The state that can be used, if only one directory has one.
  private mutating func findState() throws(BatchError) -> RecordedState? {
    var states: [RecordedState] = []
    for directory in directories {
      switch try RecordedState.find(in: directory) {
      case .none: break
      case .usable(let state): states.append(state)
      case .unusable(reason: let reason, let state):
        unusableState = reason
        if let state { setAside.append(state) }
      }
    }
    if states.count > 1 { unusableState = "several directories have one" }
    if states.count == 1, unusableState == nil { return states[0] }
    setAside += states
    return nil
  }

  /// Adds the journals that a state doesn't sum up. Returns why the state can't be used; nil if it can.
  private mutating func addJournals(besides state: RecordedState?) throws(BatchError) -> String? {
    var places: [Name: Int] = [:]
    for directory in directories {
      for path in try JournalReader.journals(in: directory) {
        if let state, state.sumsUp(path) { continue }
        guard let head = try JournalReader.head(of: path) else { continue }
        if let state, state.sumsUp(manifest: head.manifest) {
          mentionedBesides.insert(head.manifest)
          // A copy of a journal may have another name.
          if let run = head.run, let size = state.manifests.runs[run], try JournalReader.size(of: path) <= size { continue }
          // A run that has sent nothing has nothing to add.
          if try JournalReader.mentionsNoFiles(path) {
            begunBesides.append(path)
            continue
          }
          return "\(LocalPath(bytes: path.name.bytes).description.quoted) is of a round that it sums up, and was not there"
        }
        let member = Member(path: path, head: head)
        // Without the name of the run, the name of the file has a UUID.
        let name = Name(manifest: head.manifest, run: head.run ?? String(decoding: path.name.bytes, as: UTF8.self))
        if let place = places[name], let other = members[head.manifest]?[place] {
          if try Self.isBetter(member, than: other) { members[head.manifest]?[place] = member }
        } else {
          places[name] = members[head.manifest]?.count ?? 0
          members[head.manifest, default: []].append(member)
        }
      }
    }
    return nil
  }

  /// The parts of a first line that a journal shares with its copies.
  private struct Name: Hashable {
    let manifest: String
    let run: String
  }

  /// Whether one of two copies of a journal has more lines, or still has its first line, or is older: its time is when the run wrote
  /// to it.
  private static func isBetter(_ one: Member, than other: Member) throws(BatchError) -> Bool {
    let (size, otherSize) = (try JournalReader.size(of: one.path), try JournalReader.size(of: other.path))
    if size != otherSize { return size > otherSize }
    if one.head.isReconstructed != other.head.isReconstructed { return other.head.isReconstructed }
    return try lastTime(of: one.path) < lastTime(of: other.path)
  }

  /// The id of a manifest that is named.
  ///
  /// - Parameter directories: the directories with its journals.
  /// - Throws: `manifestUnreadable` or `manifestMalformed`.
  package static func id(of manifest: LocalPath, in directories: [LocalPath]) throws(BatchError) -> String {
    do throws(BatchError) { return try ManifestReader.header(of: manifest).id } catch {
      guard error.code == .manifestUnreadable, let state = try? JournalSet(in: directories).state, state.sumsUp(manifest) else {
        throw error
      }
      throw BatchError(
        .manifestUnreadable, on: manifest.description,
        "The manifest \(manifest.description.quoted) is not there any more, and \(RecordedState.fileName) sums up its round: only "
          + "the report about all rounds has its files.", underlying: error.underlying)
    }
  }

  /// Whether files of old rounds are not there, or may not be, and no state says what they said.
  var lackRounds: Bool {
    guard state == nil else { return false }
    return unusableState != nil || directories.contains { (try? RecordedRounds(in: $0).firstNumber) ?? 0 > 1 }
  }

  /// The names of all runs.
  var runs: Set<String> {
    Set(members.values.flatMap { $0.compactMap(\.head.run) }).union(state.map { Array($0.manifests.runs.keys) } ?? [])
  }

  /// The names of the runs of a manifest.
  func runs(ofManifest id: String) -> [String] { (members[id] ?? []).compactMap(\.head.run) }

  /// The ids of the manifests that journals are about.
  package var manifests: Set<String> { Set(members.keys) }

  /// The journals of a manifest.
  func journals(of manifest: ManifestExtent) throws(BatchError) -> [JournalSummary] {
    var journals: [JournalSummary] = []
    for member in members[manifest.id] ?? [] {
      journals.append(try JournalSummary(member.path, member.head, of: manifest))
    }
    return journals
  }

  /// Whether the journals of a manifest mention no files: their runs have sent nothing.
  func mentionNoFiles(ofManifest id: String) throws(BatchError) -> Bool {
    for member in members[id] ?? [] {
      guard try JournalReader.mentionsNoFiles(member.path) else { return false }
    }
    return true
  }

  /// The paths and the first lines of the journals of a manifest.
  func places(ofManifest id: String) -> [(path: LocalPath, head: JournalHead)] {
    (members[id] ?? []).map { ($0.path, $0.head) }
  }

  /// The first lines of the journals of a manifest.
  package func heads(ofManifest id: String) -> [JournalHead] { (members[id] ?? []).map(\.head) }

  /// For each manifest that lists failed files, the id of the manifest whose files they are.
  var parents: [String: String] {
    members.compactMapValues { members in members.lazy.compactMap(\.head.parent).first }
  }

  /// Whether files may have URLs of their own.
  package var haveURLsOfFiles: Bool {
    members.values.contains { $0.contains { $0.head.template != nil } }
  }

  /// Whether a manifest was written by the runs themselves, beside their journals. If no journal has its first line, it may have
  /// been.
  func isRecorded(_ manifest: String) -> Bool {
    let all = members[manifest] ?? []
    let intact = all.filter { !$0.head.isReconstructed }
    return (intact.isEmpty ? all : intact).contains { member in
      (member.head.manifestPath, member.head.parent, member.head.shard) == (nil, nil, nil)
    }
  }

  /// A journal of a manifest, if none of them has its first line; nil if one has.
  func journalWithoutHead(ofManifest id: String) -> LocalPath? {
    let all = members[id] ?? []
    return all.allSatisfy(\.head.isReconstructed) ? all.first?.path : nil
  }

  /// The paths at which the journals' runs found a manifest.
  package func paths(ofManifest id: String) -> [LocalPath] {
    (members[id] ?? []).compactMap(\.head.manifestPath)
  }

  /// The directory that has journals of a manifest.
  func directory(ofManifest id: String) -> LocalPath? {
    directories.first { directory in
      (members[id] ?? []).contains { $0.path.bytes.starts(with: directory.bytes) }
    }
  }

  /// The journals of a manifest that were written to at a time or later, and when they were last, in nanoseconds since 1970.
  func paths(
    ofManifest id: String, writtenSince time: Int64
  ) throws(BatchError) -> [(path: LocalPath, time: Int64)] {
    var found: [(path: LocalPath, time: Int64)] = []
    for member in members[id] ?? [] {
      let last = try Self.lastTime(of: member.path)
      if last >= time { found.append((member.path, last)) }
    }
    return found
  }

  private static func lastTime(of journal: LocalPath) throws(BatchError) -> Int64 {
    do throws(SystemError) {
      return try FileStatus(of: journal, followsSymlinks: true).identity.modifiedNanoseconds
    } catch {
      throw JournalReader.unreadable(journal, error)
    }
  }

  /// When the files of a manifest were sent.
  func period(ofManifest id: String) throws(BatchError) -> SendingPeriod {
    var period = SendingPeriod()
    for member in members[id] ?? [] {
      // If it is not known when a run began, it may have sent its files before all other runs, or after them.
      let begun = member.head.isReconstructed ? Int64.min : member.head.begun
      period.add(from: begun, to: try Self.lastTime(of: member.path))
    }
    return period
  }

  /// Whether a run has gone through all files of a manifest.
  package func isFinished(_ manifest: String) throws(BatchError) -> Bool {
    for member in members[manifest] ?? [] where member.head.shard == nil {
      if try JournalReader.ending(of: member.path) == .complete { return true }
    }
    return false
  }
}
