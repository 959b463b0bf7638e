package import FormStreamDigest
package import FormStreamMultipart

/// What became of a file that was one of many: `formstream.record/1`. Journals have the same lines.
///
/// The caller removes secrets from the URL and repairs text that was not UTF-8. No member has a default value, so
/// that none is forgotten.
package struct FileRecord: Hashable, Sendable {
  /// The response to the request that brought the file, without its headers.
  package struct Response: Hashable, Sendable {
    /// The beginning of the body.
    package var body: [UInt8]
    /// Whether the body has more bytes.
    package var isTruncated: Bool

    /// The maximum number of bytes in a record.
    package static let limit = 4096

    package init(body: [UInt8], isTruncated: Bool) {
      self.body = body
      self.isTruncated = isTruncated
    }

    package var json: JSONValue {
      let body = JSONValue.textOrBase64(body)
      return ["body": body.text, "body_b64": body.base64, "truncated": .boolean(isTruncated)]
    }
  }

  /// The id of the manifest; nil if there is none.
  package var manifest: String?
  /// The file's number in the listing or in the shard, from 0.
  package var index: Int
  /// Where the file's line begins in the manifest; nil if there is none.
  package var offset: Int64?
  package var path: LocalPath
  package var size: Int64
  /// When the file was last written to, in nanoseconds since 1970.
  package var modified: Int64
  /// The media type that was sent, and how it was found; nil if the file was not sent.
  package var type: String?
  package var typeSource: String?
  /// The digest of the file, if one was made.
  package var sha256: SHA256.Digest?
  package var url: String
  package var status: Int?
  /// `ok`, `failed`, `retryable`, `unknown`, `source-changed` or `skipped`.
  package var outcome: String
  /// How many requests were made for the file.
  package var attempts: Int
  /// Whether the server may have accepted the file before, in an earlier run.
  package var maybeDuplicate: Bool
  /// How many bytes of the last request's body were sent.
  package var bytesSent: Int64
  /// How many seconds all requests for the file took.
  package var seconds: Double
  package var response: Response?
  /// Why the outcome is not `ok`, or nil if it is.
  package var error: RecordFailure?

  package init(
    manifest: String?, index: Int, offset: Int64?, path: LocalPath, size: Int64, modified: Int64,
    type: String?, typeSource: String?, sha256: SHA256.Digest?, url: String, status: Int?,
    outcome: String, attempts: Int, maybeDuplicate: Bool, bytesSent: Int64, seconds: Double,
    response: Response?, error: RecordFailure?
  ) {
    self.manifest = manifest
    self.index = index
    self.offset = offset
    self.path = path
    self.size = size
    self.modified = modified
    self.type = type
    self.typeSource = typeSource
    self.sha256 = sha256
    self.url = url
    self.status = status
    self.outcome = outcome
    self.attempts = attempts
    self.maybeDuplicate = maybeDuplicate
    self.bytesSent = bytesSent
    self.seconds = seconds
    self.response = response
    self.error = error
  }

  package static let schema = "formstream.record/1"

  package var json: JSONValue {
    let path = JSONValue.path(path)
    return [
      "schema": .string(Self.schema),
      "manifest": .string(orNull: manifest),
      "index": .integer(Int64(index)),
      "offset": .integer(orNull: offset),
      "path": path.text,
      "path_b64": path.base64,
      "size": .integer(size),
      "mtime_ns": .integer(modified),
      "type": .string(orNull: type),
      "type_source": .string(orNull: typeSource),
      "sha256": .string(orNull: sha256?.description),
      "url": .string(url),
      "status": .integer(orNull: status.map(Int64.init)),
      "outcome": .string(outcome),
      "attempts": .integer(Int64(attempts)),
      "maybe_duplicate": .boolean(maybeDuplicate),
      "bytes_sent": .integer(bytesSent),
      "seconds": .fraction(rounding: seconds),
      "response": response?.json ?? .null,
      "error": error?.json ?? .null,
    ]
  }
}
