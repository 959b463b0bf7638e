import FormStreamJSON
import FormStreamMultipart
import FormStreamPlatform

/// What is known of a resumable upload apart from its bytes: the head of the request that created it, and how far its processing
/// is. It is a file, so that it outlives the receiver.
struct UploadState: Sendable {
  enum Phase: Sendable {
    /// Bytes are missing.
    case open
    /// All bytes have arrived, and the handler is ending the upload. If a receiver finds an upload in this phase, an
    /// earlier receiver was ended meanwhile, and it is not known what has happened to the upload.
    /// But if `movesFile` is true, storing moves the file with the bytes: if the file is still there, the upload was not stored.
    case processing(movesFile: Bool)
    /// The upload was processed, and this was the response.
    case complete(Response)
  }

  /// The head of the request that created the upload, without secrets.
  var origin: RequestHead
  /// The bytes of the complete upload; nil if the client has not announced them.
  var length: Int64?
  var phase = Phase.open
  /// Where the bytes begin whose announced digest was not compared yet; nil if there are none. Whoever finds such bytes drops
  /// them.
  var uncheckedFrom: Int64?
  /// Whose share of the store the upload belongs to; empty if that is not known.
  let client: String
  /// The record of the complete upload, if its response doesn't bring it and there is room for it.
  private(set) var record: [UInt8]?

  /// The headers that are not written to the disk. When the upload is complete, the values of the request that completes it take
  /// their place.
  private static let secrets = ["Authorization", "Proxy-Authorization"]
  /// The most bytes of a response's body that are kept.
  private static let largestKeptBody = 1024 * 1024
  /// The most bytes in a file. A head of 16 KiB has at most this many bytes if each is escaped, and so has a response.
  private static let largestFile = 8 * 1024 * 1024

  init(origin: RequestHead, length: Int64?, client: String) {
    (self.origin, self.length, self.client) = (origin, length, client)
  }

  /// Keeps the record of the complete upload, unless it is too large.
  mutating func setRecord(_ record: [UInt8]?) {
    self.record = record.flatMap { $0.count <= Self.largestKeptBody ? $0 : nil }
  }

  var isComplete: Bool { if case .complete = phase { true } else { false } }

  /// Whether the file with the bytes is about to be moved, or was moved.
  var isMoving: Bool { if case .processing(movesFile: true) = phase { true } else { false } }

  /// About how many bytes the file has.
  var keptSize: Int64 { Int64(json.line().count) }

  /// The head of the creating request as a request with the complete body would have had it.
  ///
  /// - Parameter last: the request that completes the upload, which has proved to know the token.
  func completeHead(from last: RequestHead) -> RequestHead {
    var fields: HTTPHeaders = [:]
    for field in origin.fields where !Self.isSecret(field.name) { fields.append(field) }
    for field in last.fields where Self.isSecret(field.name) { fields.append(field) }
    return RequestHead(
      method: origin.method, target: origin.target, version: origin.version, fields: fields,
      isPlain: true)
  }

  private static func isSecret(_ name: String) -> Bool {
    secrets.contains { name.isSameHeaderName(as: $0) }
  }
}

// MARK: The file

extension UploadState {
  private static let schema = "formstream.upload/1"

  /// Reads the state of an upload; nil if there is none that this process can trust.
  ///
  /// - Throws: if the file can't be read now: no descriptor is left, or the disk fails.
  init?(of id: UploadID, in directory: DirectoryDescriptor) throws(SystemError) {
    guard let bytes = try directory.ownContents(of: id.stateName, upTo: Self.largestFile),
      let json = try? JSONValue(parsing: bytes), json["schema"]?.text == Self.schema,
      let method = json["method"]?.text, let target = json["target"]?.text,
      let version = json["version"]?.text, let fields = Self.headers(json["headers"])
    else { return nil }
    origin = RequestHead(
      method: method, target: target, version: version, fields: fields, isPlain: true)
    length = json["length"]?.integer
    uncheckedFrom = json["unchecked_from"]?.integer
    client = json["client"]?.text ?? ""
    record = json["record_b64"]?.text.flatMap { base64Decoded($0) }
    switch json["phase"]?.text {
    case "open": phase = .open
    case "processing": phase = .processing(movesFile: false)
    case "moving": phase = .processing(movesFile: true)
    case "complete":
      guard let status = json["status"]?.integer.flatMap({ Int(exactly: $0) }),
        (200...599).contains(status), let headers = Self.headers(json["response_headers"]),
        let body = json["response_b64"]?.text.flatMap({ base64Decoded($0) })
      else { return nil }
      phase = .complete(Response(kept: status, headers: headers, body: body))
    default: return nil
    }
  }

  /// Writes the file, in place of an older one.
  func write(as id: UploadID, in directory: DirectoryDescriptor) throws(SystemError) {
    try written(in: directory).replace(id.stateName)
  }

  /// Writes a file that may take the place of the upload's state later, without any more room.
  func prepared(in directory: DirectoryDescriptor) throws(SystemError) -> AtomicFile {
    let file = try written(in: directory)
    // A request has a descriptor for a state only as long as it writes one.
    try file.close()
    return file
  }

  private func written(in directory: DirectoryDescriptor) throws(SystemError) -> AtomicFile {
    let file = try AtomicFile(in: directory, permissions: 0o600)
    var failure: SystemError?
    json.line().withUnsafeBytes { bytes in
      do throws(SystemError) { try file.write(bytes) } catch { failure = error }
    }
    if let failure { throw failure }
    return file
  }

  private var json: JSONValue {
    let (name, response): (String, Response?) =
      switch phase {
      case .open: ("open", nil)
      case .processing(let movesFile): (movesFile ? "moving" : "processing", nil)
      case .complete(let response): ("complete", response)
      }
    let isKept = response.map { $0.body.count <= Self.largestKeptBody } ?? false
    return [
      "schema": .string(Self.schema),
      "phase": .string(name),
      "method": .string(origin.method),
      "target": .string(origin.target),
      "version": .string(origin.version),
      "headers": Self.json(origin.fields, isIncluded: { !Self.isSecret($0) }),
      "length": .integer(orNull: length),
      "unchecked_from": .integer(orNull: uncheckedFrom),
      "client": .string(client),
      "status": .integer(orNull: response.map { Int64($0.status) }),
      "response_headers": Self.json(response?.headers ?? [:]),
      "response_b64": .string(isKept ? base64(response?.body ?? []) : ""),
      "record_b64": .string(orNull: record.map { base64($0) }),
    ]
  }

  private static func json(
    _ headers: HTTPHeaders, isIncluded: (String) -> Bool = { _ in true }
  ) -> JSONValue {
    .array(
      headers.filter { isIncluded($0.name) }.map { field in
        let value = JSONValue.textOrBase64(field.bytes)
        return [.string(field.name), value.text, value.base64]
      })
  }

  private static func headers(_ json: JSONValue?) -> HTTPHeaders? {
    guard let lines = json?.elements else { return nil }
    var headers: HTTPHeaders = [:]
    for line in lines {
      guard let line = line.elements, line.count == 3, let name = line[0].text,
        let bytes = line[1].text.map({ Array($0.utf8) })
          ?? line[2].text.flatMap({ base64Decoded($0) })
      else { return nil }
      headers.append(name, bytes: bytes)
    }
    return headers
  }
}
