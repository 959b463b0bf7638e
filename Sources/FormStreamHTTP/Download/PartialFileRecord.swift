import FormStreamDigest
import FormStreamJSON
import FormStreamPlatform

/// A record beside a partial file, so that a later download can continue it: `NAME.part.json`. The record is written before the
/// first byte of the partial file.
struct PartialFileRecord: Sendable {
  /// The schema of this format.
  private static let schema = "formstream.download/1"
  /// The longest record that is read.
  static let maximumSize = 64 * 1024

  private let schema: String
  /// The URL for messages, with secrets masked.
  private let url: String
  /// The digest of the URL: the URL itself may hold secrets.
  private let urlDigest: String
  /// The identity of the partial file: another program may have stored a file of its own under the same name.
  private let file: PartialFile.Identity
  /// How the last download left the partial file; nil while a download uses the file, and after such a download was killed.
  var left: PartialFile.Condition?
  /// The version of the bytes in the partial file, as the server described it.
  var version: ResourceVersion
  /// The name that the server gave the file; nil if it gave none.
  let serverName: String?
  /// How many bytes are certainly on the disk, even after a power failure.
  var synchronized: Int64 = 0
  /// The start of the system (boot) after which the other bytes were written. They are in memory or on the disk until the
  /// system stops.
  var boot: String?

  init(
    _ url: HTTPURL, _ file: PartialFile.Identity, boot: String?, version: ResourceVersion,
    serverName: String?
  ) throws {
    schema = Self.schema
    self.url = url.description
    urlDigest = try SHA256.digest(of: url.absoluteString).description
    (self.file, self.boot, self.version, self.serverName) = (file, boot, version, serverName)
  }

  /// Reads a record of this URL; nil if the bytes are something else.
  init?(_ bytes: [UInt8], of url: HTTPURL) {
    guard let record = PartialFileRecord(bytes), record.schema == Self.schema,
      record.synchronized >= 0,
      record.version.length ?? 0 >= 0,
      let digest = try? SHA256.digest(of: url.absoluteString).description,
      record.urlDigest == digest
    else { return nil }
    self = record
  }

  /// Whether a file is the partial file, and still has the bytes that a download has left, as far as this can be known. A file
  /// that another program has written must not be continued or replaced.
  func describes(_ file: PartialFile) throws(SystemError) -> Bool {
    guard try isOf(file) else { return false }
    let condition = try file.condition
    if let left { return condition == left }
    // A download that was killed has changed the file after it wrote the record. Only the time of birth shows that this is the
    // same file. The bytes that were certainly on the disk can't be missing.
    return self.file.birth != nil && (condition.size == 0 || condition.size >= synchronized)
  }

  /// Whether a file is the partial file, whatever bytes the file has.
  func isOf(_ file: PartialFile) throws(SystemError) -> Bool { try file.identity == self.file }

  func isOfSameFile(as other: PartialFileRecord) -> Bool { file == other.file }

  /// Whether a file's bytes are a record, of any file.
  static func isRecord(_ bytes: [UInt8]) -> Bool {
    PartialFileRecord(bytes)?.schema == schema
  }

  /// How many of a partial file's bytes can be relied on, if the system was started at `boot`.
  func reliable(_ size: Int64, after boot: String?) -> Int64 {
    boot != nil && boot == self.boot ? size : min(size, synchronized)
  }

  var bytes: [UInt8] { json.indentedLines() }
}

// MARK: JSON

extension PartialFileRecord {
  /// Reads a record of any URL; nil if the bytes are something else.
  private init?(_ bytes: [UInt8]) {
    guard let json = try? JSONValue(parsing: bytes), let schema = json["schema"]?.text,
      let url = json["url"]?.text, let urlDigest = json["url_sha256"]?.text,
      let file = json["file"].flatMap(PartialFile.Identity.init),
      let left = json.optional("left", PartialFile.Condition.init),
      let version = json["version"].flatMap(ResourceVersion.init),
      let serverName = json.optional("name", \.text),
      let synchronized = json["synchronized"]?.integer, let boot = json.optional("boot", \.text)
    else { return nil }
    (self.schema, self.url, self.urlDigest, self.file) = (schema, url, urlDigest, file)
    (self.left, self.version, self.serverName) = (left, version, serverName)
    (self.synchronized, self.boot) = (synchronized, boot)
  }

  /// The members are in the order of their keys.
  private var json: JSONValue {
    .object(present: [
      ("boot", boot.map(JSONValue.string)), ("file", file.json), ("left", left?.json),
      ("name", serverName.map(JSONValue.string)), ("schema", .string(schema)),
      ("synchronized", .integer(synchronized)), ("url", .string(url)),
      ("url_sha256", .string(urlDigest)), ("version", version.json),
    ])
  }
}

extension ResourceVersion {
  fileprivate init?(_ json: JSONValue) {
    guard let entityTag = json.optional("etag", \.text),
      let lastModified = json.optional("last_modified", \.text),
      let date = json.optional("date", \.text),
      let encoding = json.optional("content_encoding", \.text),
      let source = json["source_sha256"]?.text,
      let completeSource = json["source_with_query_sha256"]?.text,
      let length = json.optional("length", \.integer)
    else { return nil }
    self.init(
      entityTag: entityTag, lastModified: lastModified, date: date, encoding: encoding,
      source: source, completeSource: completeSource, length: length)
  }

  fileprivate var json: JSONValue {
    .object(present: [
      ("content_encoding", encoding.map(JSONValue.string)), ("date", date.map(JSONValue.string)),
      ("etag", entityTag.map(JSONValue.string)),
      ("last_modified", lastModified.map(JSONValue.string)),
      ("length", length.map(JSONValue.integer)), ("source_sha256", .string(source)),
      ("source_with_query_sha256", .string(completeSource)),
    ])
  }
}

extension PartialFile.Identity {
  fileprivate init?(_ json: JSONValue) {
    guard let inode = json["inode"]?.integer,
      let birth = json.optional("birth", PartialFile.Time.init)
    else { return nil }
    self.init(inode: UInt64(bitPattern: inode), birth: birth)
  }

  /// An inode of more than 63 bits is written as the negative number with the same bits.
  fileprivate var json: JSONValue {
    .object(present: [("birth", birth?.json), ("inode", .integer(Int64(bitPattern: inode)))])
  }
}

extension PartialFile.Condition {
  fileprivate init?(_ json: JSONValue) {
    guard let size = json["size"]?.integer,
      let changed = json["changed"].flatMap(PartialFile.Time.init)
    else { return nil }
    self.init(size: size, changed: changed)
  }

  fileprivate var json: JSONValue { ["changed": changed.json, "size": .integer(size)] }
}

extension PartialFile.Time {
  fileprivate init?(_ json: JSONValue) {
    guard let seconds = json["seconds"]?.integer, let nanoseconds = json["nanoseconds"]?.integer
    else { return nil }
    self.init(seconds: seconds, nanoseconds: nanoseconds)
  }

  fileprivate var json: JSONValue {
    ["nanoseconds": .integer(nanoseconds), "seconds": .integer(seconds)]
  }
}

extension JSONValue {
  /// An object without the members that have no value.
  fileprivate static func object(present members: [(key: String, value: JSONValue?)]) -> JSONValue {
    .object(members.compactMap { member in member.value.map { Member(member.key, $0) } })
  }

  /// The value of a key that may be missing or null. The outer optional is nil if the value can't be read.
  fileprivate func optional<Value>(
    _ key: String, _ read: (JSONValue) -> Value?
  ) -> Value?? {
    guard let value = self[key], value != .null else { return .some(nil) }
    return read(value).map { .some($0) }
  }
}
