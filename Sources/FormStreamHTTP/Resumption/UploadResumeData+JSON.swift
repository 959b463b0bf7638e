import FormStreamDigest
package import FormStreamJSON
import FormStreamMultipart
import FormStreamPlatform

// The data as lines of a file: one that describes the upload, and one for each step after it. The last step counts.
extension UploadResumeData {
  private static let schema = "formstream.resume/1"

  /// Whether a file that begins with these bytes can be one that ``line`` has begun, perhaps not completely.
  static func beginLines(_ bytes: [UInt8]) -> Bool {
    let beginning = Array(#"{"schema":"\#(schema)","url":"#.utf8)
    return zip(bytes, beginning).allSatisfy { $0 == $1 }
  }

  /// Reads the lines of a file; nil if they are something else.
  init?(lines: [UInt8]) {
    let lines = lines.split(separator: UInt8(ascii: "\n"))
    guard let first = lines.first, var data = Self(line: Array(first)) else { return nil }
    for line in lines.dropFirst() {
      // A later line may be torn.
      guard let step = try? JSONValue(parsing: Array(line)) else { continue }
      data.takeStep(step)
    }
    self = data
  }

  private init?(line: [UInt8]) {
    guard let json = try? JSONValue(parsing: line) else { return nil }
    self.init(json)
  }

  /// Reads what ``json`` has written; nil if the value is something else.
  package init?(_ json: JSONValue) {
    guard json["schema"]?.text == Self.schema, let url = json["url"]?.text, let method = json["method"]?.text,
      let total = json["total"]?.integer, total >= 0,
      let way = json["protocol"]?.text.flatMap(UploadProtocol.init),
      let digest = json["sha256_of_rest"]?.text.flatMap(SHA256Digest.init),
      let files = json["files"]?.elements?.map({ File($0) }), files.allSatisfy({ $0 != nil })
    else { return nil }
    self.init(
      url: url, uploadURL: nil, total: total, uploadProtocol: way, method: method,
      boundary: json["boundary"]?.text, otherBytes: digest, files: files.compactMap(\.self))
    takeStep(json)
  }

  private mutating func takeStep(_ json: JSONValue) {
    uploadURL = json["upload_url"]?.text
    idempotencyKey = json["idempotency_key"]?.text
    if let way = json["protocol"]?.text.flatMap(UploadProtocol.init) { uploadProtocol = way }
    confirmed = min(max(json["confirmed"]?.integer ?? 0, 0), total)
    mostSent = min(max(json["most_sent"]?.integer ?? total, 0), total)
    isInDoubt = json["in_doubt"] == .boolean(true)
    isInDoubtBefore = json["in_doubt_before"] == .boolean(true)
  }

  /// The line that describes the upload.
  var line: [UInt8] { json.line() }

  package var json: JSONValue {
    .object(
      [
        .init("schema", .string(Self.schema)), .init("url", .string(url)),
        .init("method", .string(method)), .init("total", .integer(total)),
        .init("boundary", boundary.map(JSONValue.string) ?? .null),
        .init("sha256_of_rest", .string(otherBytes.description)),
        .init("files", .array(files.map(\.json))),
      ] + stepMembers)
  }

  /// The line that says how far the upload is.
  var stepLine: [UInt8] { JSONValue.object(stepMembers).line() }

  private var stepMembers: [JSONValue.Member] {
    [
      .init("upload_url", uploadURL.map(JSONValue.string) ?? .null),
      .init("protocol", .string(uploadProtocol.rawValue)),
      .init("confirmed", .integer(confirmed)), .init("most_sent", .integer(mostSent)),
      .init("in_doubt", .boolean(isInDoubt)), .init("in_doubt_before", .boolean(isInDoubtBefore)),
      .init("idempotency_key", idempotencyKey.map(JSONValue.string) ?? .null),
    ]
  }
}

extension UploadResumeData.File {
  fileprivate init?(_ json: JSONValue) {
    guard let path = json["path_b64"]?.text.flatMap({ base64Decoded($0) }),
      let inode = json["inode"]?.integer, let size = json["size"]?.integer,
      let modified = json["modified"]?.elements?.compactMap(\.integer), modified.count == 2,
      let changed = json["changed"]?.elements?.compactMap(\.integer), changed.count == 2,
      let offset = json["offset"]?.integer, let length = json["length"]?.integer
    else { return nil }
    self.init(
      path: path, inode: UInt64(bitPattern: inode), size: size, modified: modified,
      changed: changed, offset: offset, length: length)
  }

  /// An inode of more than 63 bits is written as the negative number with the same bits.
  fileprivate var json: JSONValue {
    [
      "path_b64": .string(base64(path)), "inode": .integer(Int64(bitPattern: inode)),
      "size": .integer(size), "modified": .array(modified.map(JSONValue.integer)),
      "changed": .array(changed.map(JSONValue.integer)), "offset": .integer(offset),
      "length": .integer(length),
    ]
  }
}
