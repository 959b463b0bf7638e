package import FormStreamMultipart
import FormStreamPlatform

/// The journals in some directories, by the manifests that they are about. Only the first lines of the journals are read. A
/// journal and its copies count once.
package struct JournalSet: Sendable {
  struct Member: Sendable {
    let path: LocalPath
    let head: JournalHead
  }

  let directories: [LocalPath]
  private var members: [String: [Member]] = [:]

  /// - Throws: `journalUnreadable`; `journalMalformed`.
  package init(in directories: [LocalPath]) throws(BatchError) {
    self.directories = directories
    var places: [Name: Int] = [:]
    for directory in directories {
      for path in try JournalReader.journals(in: directory) {
        guard let head = try JournalReader.head(of: path) else { continue }
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
  }

  /// The parts of a first line that a journal shares with its copies.
  private struct Name: Hashable {
    let manifest: String
    let run: String
  }

  /// Whether one of two copies of a journal has more lines, or is older: its time is when the run wrote to it.
  private static func isBetter(_ one: Member, than other: Member) throws(BatchError) -> Bool {
    let (size, otherSize) = (try JournalReader.size(of: one.path), try JournalReader.size(of: other.path))
    if size != otherSize { return size > otherSize }
    return try lastTime(of: one.path) < lastTime(of: other.path)
  }

  /// The names of all runs.
  var runs: Set<String> { Set(members.values.flatMap { $0.compactMap(\.head.run) }) }

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

  /// Whether a manifest was written by the runs themselves, beside their journals.
  func isRecorded(_ manifest: String) -> Bool {
    (members[manifest] ?? []).contains { member in
      (member.head.manifestPath, member.head.parent, member.head.shard) == (nil, nil, nil)
    }
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
      period.add(from: member.head.begun, to: try Self.lastTime(of: member.path))
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
