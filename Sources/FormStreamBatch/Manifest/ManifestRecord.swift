package import FormStreamJSON
package import FormStreamMultipart
import FormStreamPlatform

/// The reason why a line of a manifest is not a record, as a part of a sentence.
package struct RecordFormatError: Error, Hashable, Sendable, CustomStringConvertible {
  package let description: String

  package init(_ description: String) {
    self.description = description
  }
}

/// The first line of a manifest: `formstream.manifest/1`.
package struct ManifestHeader: Hashable, Sendable {
  /// A random UUID. Journals refer to the manifest by this UUID.
  package var id: String
  /// The directory that paths are relative to; nil for the current directory of the process that reads the manifest.
  package var root: LocalPath?
  /// The name of the listing: a UUID that depends on the sources and rules of the listing. Nil unless a run wrote the manifest
  /// beside its journals.
  package var listing: String?
  /// Whether the lines stand for different files below `root`, with paths relative to `root`.
  package var hasOneRoot: Bool
  /// The round that the manifest is of; nil if it was not compared with earlier rounds.
  package var round: Round?
  /// The id of the manifest whose failed files this manifest lists; nil if it is no such list.
  package var parent: String?
  /// Whether the manifest lists files that were not accepted.
  package var isFailedList: Bool
  /// The directory with the journals of the run that did not accept the files; nil if it kept none.
  package var journal: LocalPath?
  /// The runs that were compared with the round, by the names in their journals, unless the manifest of an earlier round
  /// names them. So a journal that is lost is missed.
  package var journals: [String]

  package init(
    id: String, root: LocalPath?, listing: String? = nil, hasOneRoot: Bool = false,
    round: Round? = nil, parent: String? = nil, isFailedList: Bool = false, journal: LocalPath? = nil,
    journals: [String] = []
  ) {
    self.id = id
    self.journals = journals
    self.root = root
    self.listing = listing
    self.hasOneRoot = hasOneRoot
    self.round = round
    self.parent = parent
    self.isFailedList = isFailedList
    self.journal = journal
  }

  package var json: JSONValue {
    let root = JSONValue.path(root)
    var members = [
      JSONValue.Member("schema", "formstream.manifest/1"), JSONValue.Member("id", .string(id)),
      JSONValue.Member("root", root.text), JSONValue.Member("root_b64", root.base64),
    ]
    if hasOneRoot { members.append(.init("one_root", true)) }
    if let listing { members.append(.init("listing", .string(listing))) }
    if let round { members.append(.init("round", round.json)) }
    if let parent { members.append(.init("parent", .string(parent))) }
    if isFailedList { members.append(.init("failed", true)) }
    if let journal {
      let path = JSONValue.path(journal)
      members += [.init("journal", path.text), .init("journal_b64", path.base64)]
    }
    if !journals.isEmpty { members.append(.init("journals", .array(journals.map(JSONValue.string)))) }
    return .object(members)
  }

  /// Reads the line.
  package init(_ json: JSONValue) throws(RecordFormatError) {
    guard let schema = json["schema"]?.text, schema.hasPrefix("formstream.manifest/") else {
      throw RecordFormatError("its schema is not formstream.manifest/1")
    }
    guard schema == "formstream.manifest/1" else {
      throw RecordFormatError("its schema is \(schema.quoted), and formstream.manifest/1 is read")
    }
    guard let id = json["id"]?.text, isUUID(id) else {
      throw RecordFormatError("its id is not a UUID")
    }
    self.id = id
    root = try json.path("root")
    guard root?.bytes.isEmpty != true else { throw RecordFormatError("its root is empty") }
    listing = json["listing"]?.text
    hasOneRoot = json["one_root"] == true
    round = json["round"].flatMap(Round.init)
    parent = json["parent"]?.text
    // Lists of earlier versions name their parents alone.
    isFailedList = json["failed"] == true || parent != nil
    journal = try json.path("journal")
    journals = (json["journals"]?.elements ?? []).compactMap(\.text)
  }
}

/// A UUID in lowercase hexadecimal digits (RFC 9562 §4).
func isUUID(_ text: String) -> Bool {
  text.utf8.count == 36
    && text.utf8.enumerated().allSatisfy { index, byte in
      [8, 13, 18, 23].contains(index)
        ? byte == UInt8(ascii: "-")
        : Hexadecimal.value(of: byte) != nil && byte == byte.asciiLowercased
    }
}

/// A line of a manifest after the first line. It describes a file.
package struct ManifestRecord: Hashable, Sendable {
  /// The file or the problem that was found at the path when the manifest was made.
  package enum Contents: Hashable, Sendable {
    case file(size: Int64, modified: Int64)
    /// Why the file can't be sent.
    case problem(FileFailure)
    /// The file was in an earlier round and is not there any more, or is there again. There is nothing to send.
    case presence(isGone: Bool)
  }

  /// The longest path that is read, in bytes. The system opens paths of at most 4095 bytes, and the path of the root may be
  /// just as long.
  package static let maximumPath = 16 * 1024

  package var path: LocalPath
  package var contents: Contents
  package var type: MediaType?
  package var sha256: SHA256Digest?
  /// Names and values of text fields.
  package var fields: [BatchFile.Field]
  /// The file's index in an earlier run, in which the file was not accepted; nil if the manifest does not keep the index.
  package var index: Int?
  /// Whether the server may have accepted the file before.
  package var maybeDuplicate: Bool
  /// The record whose idempotency keys are used for the file; nil for this record.
  package var keyRecord: RecordPlace?
  /// The slices of the file that the server has accepted in an earlier round.
  package var slices: SliceProgress?
  /// Whether the path leads to a directory that can't be listed.
  package var isDirectory: Bool
  /// Whether the path was named on the command line and is a link, which is followed wherever it leads.
  package var isNamedLink: Bool

  package init(
    path: LocalPath, contents: Contents, type: MediaType? = nil, sha256: SHA256Digest? = nil,
    fields: [BatchFile.Field] = [], index: Int? = nil, maybeDuplicate: Bool = false,
    keyRecord: RecordPlace? = nil, slices: SliceProgress? = nil, isDirectory: Bool = false,
    isNamedLink: Bool = false
  ) {
    self.isDirectory = isDirectory
    self.path = path
    self.contents = contents
    self.type = type
    self.sha256 = sha256
    self.fields = fields
    self.index = index
    self.maybeDuplicate = maybeDuplicate
    self.keyRecord = keyRecord
    self.slices = slices
    self.isNamedLink = isNamedLink
  }

  package var json: JSONValue { .object(members) }

  /// The members of the line.
  var members: [JSONValue.Member] {
    let path = JSONValue.path(path)
    var members = [
      JSONValue.Member("path", path.text), JSONValue.Member("path_b64", path.base64),
    ]
    var failure: FileFailure?
    switch contents {
    case .file(let size, let modified):
      members.append(.init("size", .integer(size)))
      members.append(.init("mtime_ns", .integer(modified)))
    case .problem(let problem):
      members += [.init("size", .null), .init("mtime_ns", .null)]
      failure = problem
    case .presence(let isGone):
      members.append(.init("gone", .boolean(isGone)))
      return members
    }
    if let type { members.append(.init("type", .string(type.description))) }
    if let sha256 { members.append(.init("sha256", .string(sha256.description))) }
    if !fields.isEmpty {
      members.append(.init("fields", .pairs(fields.map { ($0.name, $0.value) })))
    }
    if let index { members.append(.init("index", .integer(Int64(index)))) }
    if maybeDuplicate { members.append(.init("maybe_duplicate", true)) }
    if let keyRecord { members.append(.init("key_record", keyRecord.json)) }
    if let slices { members.append(.init("slices", slices.json)) }
    if isNamedLink { members.append(.init("link", true)) }
    if let failure { members.append(.init("error", failure.record)) }
    if isDirectory { members.append(.init("directory", true)) }
    return members
  }

  /// Reads the line. Keys of later versions are skipped.
  package init(_ json: JSONValue) throws(RecordFormatError) {
    guard let path = try json.path("path"), !path.bytes.isEmpty else {
      throw RecordFormatError("it has no path")
    }
    guard path.bytes.count <= Self.maximumPath else {
      throw RecordFormatError("its path has more than \(Self.maximumPath) bytes")
    }
    self.path = path
    isDirectory = json["directory"] == true
    if case .boolean(let isGone) = json["gone"] {
      contents = .presence(isGone: isGone)
    } else if let failure = json["error"], failure != .null {
      guard let code = failure["code"]?.text, let message = failure["message"]?.text else {
        throw RecordFormatError("its error has no code and message")
      }
      contents = .problem(FileFailure(code: code, message: Message(message)))
    } else {
      guard let size = json["size"]?.integer, size >= 0 else {
        throw RecordFormatError("its size is not a number of bytes")
      }
      guard let modified = json["mtime_ns"]?.integer else {
        throw RecordFormatError("its mtime_ns is not a number of nanoseconds")
      }
      contents = .file(size: size, modified: modified)
    }
    type = try json.optionalText("type").map { text throws(RecordFormatError) in
      guard let type = MediaType(text) else {
        throw RecordFormatError("its type is not a media type")
      }
      return type
    }
    sha256 = try json.optionalText("sha256").map { text throws(RecordFormatError) in
      guard let digest = SHA256Digest(text) else {
        throw RecordFormatError("its sha256 is not 64 hexadecimal digits")
      }
      return digest
    }
    if let value = json["index"], value != .null {
      guard let number = value.integer.flatMap(Int.init(exactly:)), number >= 0 else {
        throw RecordFormatError("its index is not a number from 0")
      }
      index = number
    }
    switch json["maybe_duplicate"] {
    case .boolean(let value): maybeDuplicate = value
    case nil, .null: maybeDuplicate = false
    default: throw RecordFormatError("its maybe_duplicate is neither true nor false")
    }
    keyRecord = try json["key_record"].flatMap { value throws(RecordFormatError) in
      if value == .null { return nil }
      guard let place = RecordPlace(value) else {
        throw RecordFormatError("its key_record is not a manifest and an offset")
      }
      return place
    }
    slices = try json["slices"].flatMap { value throws(RecordFormatError) in
      if value == .null { return nil }
      guard let slices = SliceProgress(value) else {
        throw RecordFormatError("its slices are not a size, a number of bytes and a time")
      }
      return slices
    }
    isNamedLink = json["link"] == true
    fields = []
    guard let list = json["fields"], list != .null else { return }
    for field in list.elements ?? [.null] {
      guard let pair = field.elements, pair.count == 2, let name = pair[0].text,
        let value = pair[1].text
      else { throw RecordFormatError("its fields are not a list of [name, value]") }
      fields.append(BatchFile.Field(name: name, value: value))
    }
  }
}

extension JSONValue {
  /// The path from a key or its `…_b64` variant; nil if both are null or missing.
  package func path(_ key: String) throws(RecordFormatError) -> LocalPath? {
    if let encoded = try optionalText("\(key)_b64") {
      guard let bytes = base64Decoded(encoded) else {
        throw RecordFormatError("its \(key)_b64 is not base 64")
      }
      return LocalPath(bytes: bytes)
    }
    return try optionalText(key).map { LocalPath($0) }
  }

  /// The text of a key; nil if the value is null or missing.
  fileprivate func optionalText(_ key: String) throws(RecordFormatError) -> String? {
    guard let value = self[key], value != .null else { return nil }
    guard let text = value.text else { throw RecordFormatError("its \(key) is not text") }
    return text
  }
}
