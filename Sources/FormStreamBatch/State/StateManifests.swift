import FormStreamJSON
import FormStreamMultipart
import FormStreamPlatform

/// The manifests that a state sums up, and their journals.
struct StateManifests: Sendable {
  /// Where a run has sent its files. The name of a template says nothing here: it is another one for each manifest.
  struct Target: Hashable, Sendable {
    var url: String
    var hasTemplate: Bool
  }

  struct Journal: Sendable {
    /// The name of the file.
    var name: [UInt8]
    /// The name of the run; nil in journals of earlier builds.
    var run: String?
    /// Where the run sent the files, as the first line of the journal has it.
    var url: String
    var template: String?
    /// The size of the file, in bytes.
    var size: Int64
    /// Whether the journal has no last line, because its run was killed.
    var isOpen: Bool
    /// How many lines can't be read.
    var damagedLines: Int

    var target: Target { Target(url: url, hasTemplate: template != nil) }
  }

  struct Manifest: Sendable {
    var id: String
    /// The name of the file beside the journals; nil if a list of failed files is somewhere else.
    var name: [UInt8]?
    var size: Int64
    var round: Int
    var root: LocalPath?
    var hasOneRoot: Bool
    var listing: String?
    var parent: String?
    var period: SendingPeriod
    var journals: [Journal]
  }

  /// In the order of the rounds.
  private(set) var all: [Manifest] = []
  private var places: [String: Int] = [:]
  /// The names of the files that were summed up, with their sizes.
  private(set) var files: [[UInt8]: Int64] = [:]
  /// The sizes of the journals, by their runs.
  private(set) var runs: [String: Int64] = [:]

  /// How many manifests and journals a state sums up.
  struct Counts: Hashable, Sendable {
    var (manifests, journals, openJournals) = (0, 0, 0)

    mutating func add(_ manifest: Manifest) {
      manifests += 1
      journals += manifest.journals.count
      openJournals += manifest.journals.count { $0.isOpen }
    }
  }

  subscript(id: String) -> Manifest? { places[id].map { all[$0] } }

  /// Whether a record is of an earlier manifest than another one, or before it in the same.
  func isEarlier(_ one: RecordPlace, than other: RecordPlace) -> Bool {
    (places[one.manifest] ?? 0, one.offset) < (places[other.manifest] ?? 0, other.offset)
  }

  mutating func add(_ manifest: Manifest) {
    places[manifest.id] = all.count
    all.append(manifest)
    if let name = manifest.name { files[name] = manifest.size }
    for journal in manifest.journals {
      files[journal.name] = journal.size
      if let run = journal.run { runs[run] = journal.size }
    }
  }
}

extension StateManifests.Target {
  var json: JSONValue { ["url": .string(url), "template": .boolean(hasTemplate)] }

  /// Nil if the value is something else.
  init?(_ json: JSONValue) {
    guard let url = json["url"]?.text else { return nil }
    (self.url, hasTemplate) = (url, json["template"] == true)
  }
}

extension StateManifests.Counts {
  var json: JSONValue {
    ["manifests": .integer(Int64(manifests)), "journals": .integer(Int64(journals)), "open": .integer(Int64(openJournals))]
  }

  /// Reads the numbers; nil if the value is something else.
  init?(_ json: JSONValue) {
    func count(_ key: String) -> Int? {
      json[key]?.integer.flatMap { (0...Round.maximum).contains($0) ? Int(exactly: $0) : nil }
    }
    guard let manifests = count("manifests"), let journals = count("journals"), let open = count("open") else { return nil }
    (self.manifests, self.journals, openJournals) = (manifests, journals, open)
  }
}

extension StateManifests.Manifest {
  static let schema = "formstream.state-manifest/1"

  var json: JSONValue {
    let file = JSONValue.path(name.map { LocalPath(bytes: $0) })
    let root = JSONValue.path(root)
    return [
      "schema": .string(Self.schema), "id": .string(id), "file": file.text, "file_b64": file.base64, "size": .integer(size),
      "round": .integer(Int64(round)), "root": root.text, "root_b64": root.base64, "one_root": .boolean(hasOneRoot),
      "listing": .string(orNull: listing), "parent": .string(orNull: parent),
      "first_ns": .integer(orNull: period.first == .max ? nil : period.first),
      "last_ns": .integer(orNull: period.last == .min ? nil : period.last),
      "journals": .array(journals.map(\.json)),
    ]
  }

  /// Reads the line; nil if it is another one.
  init?(_ json: JSONValue) {
    guard json["schema"]?.text == Self.schema, let id = json["id"]?.text, let round = json["round"]?.integer,
      (1...Round.maximum).contains(round), let size = json["size"]?.integer, let journals = json["journals"]?.elements
    else { return nil }
    (self.id, self.size, self.round) = (id, size, Int(round))
    name = ((try? json.path("file")) ?? nil)?.bytes
    root = (try? json.path("root")) ?? nil
    (hasOneRoot, listing, parent) = (json["one_root"] == true, json["listing"]?.text, json["parent"]?.text)
    period = SendingPeriod(first: json["first_ns"]?.integer ?? .max, last: json["last_ns"]?.integer ?? .min)
    self.journals = journals.compactMap(StateManifests.Journal.init)
    guard self.journals.count == journals.count else { return nil }
  }
}

extension StateManifests.Journal {
  fileprivate var json: JSONValue {
    let file = JSONValue.path(LocalPath(bytes: name))
    return [
      "file": file.text, "file_b64": file.base64, "run": .string(orNull: run), "url": .string(url),
      "template": .string(orNull: template), "size": .integer(size), "open": .boolean(isOpen),
      "damaged_lines": .integer(Int64(damagedLines)),
    ]
  }

  fileprivate init?(_ json: JSONValue) {
    guard let name = (try? json.path("file")) ?? nil, let size = json["size"]?.integer, let url = json["url"]?.text else {
      return nil
    }
    (self.name, self.size, run, isOpen) = (name.bytes, size, json["run"]?.text, json["open"] == true)
    (self.url, template) = (url, json["template"]?.text)
    damagedLines = json["damaged_lines"]?.integer.map { Int(clamping: $0) } ?? 0
  }
}
