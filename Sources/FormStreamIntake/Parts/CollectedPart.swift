import FormStreamDigest
import FormStreamMultipart
import FormStreamPlatform

/// A part while it is read. A short text field keeps its bytes; every other part passes them to a sink.
package final class CollectedPart {
  package let part: PartDescription
  package private(set) var size: Int64 = 0
  /// The bytes so far; nil if a sink receives them.
  private(set) var value: [UInt8]?

  private let upload: any Upload
  private let limit: Int
  private let digest: PartDigest?
  private var sha256: SHA256Digest?
  private var isAdopted = false
  private var sink: (any PartSink)?

  /// - Parameter limit: the most bytes kept of a text field; nil if the part is not a text field.
  init(
    _ part: PartDescription, of upload: any Upload, digest: PartDigest?, keeping limit: Int?
  ) throws {
    self.part = part
    self.upload = upload
    self.limit = limit ?? 0
    self.digest = digest
    if limit != nil { value = [] } else { sink = try upload.begin(part) }
  }

  func write(_ bytes: UnsafeRawBufferPointer) throws {
    size += Int64(bytes.count)
    try digest?.update(bytes)
    if let count = value?.count, count + bytes.count > limit, let value = value.take() {
      let sink = try upload.begin(part)
      self.sink = sink
      try value.withUnsafeBytes(sink.write)
    }
    if let sink { try sink.write(bytes) } else { value?.append(contentsOf: bytes) }
  }

  /// Lets the sink take over a file that has all bytes of the part. Returns false if the bytes must be written instead.
  ///
  /// - Parameter sha256: the digest of the file; nil if none is wanted.
  func adopt(_ file: PartialFile, sha256: SHA256Digest?) throws -> Bool {
    let size = try file.size
    guard let sink = sink as? any AdoptingSink, try sink.adopt(file) else { return false }
    self.size = size
    self.sha256 = sha256
    isAdopted = true
    return true
  }

  func end() throws {
    if !isAdopted { sha256 = try digest?.finalize() }
    try sink?.end()
  }

  /// About how many bytes of memory the part takes until its record is sent: as objects, as JSON, and as a page.
  ///
  /// Each text is held here and in the record, and its JSON takes up to six bytes for each byte.
  var memory: Int {
    let headers = part.headers.reduce(0) { $0 + $1.name.utf8.count + $1.bytes.count + 64 }
    return 2048 + 8 * (headers + (part.name?.utf8.count ?? 0) + (value?.count ?? 0))
  }

  func received(at index: Int, keepsHeaders: Bool) -> ReceivedPart {
    ReceivedPart(
      index: index, name: part.name, filename: part.filename, contentType: part.contentType,
      headers: keepsHeaders ? part.headers : [:],
      size: size, sha256: sha256, value: value, storedAs: sink?.storedAs)
  }
}
