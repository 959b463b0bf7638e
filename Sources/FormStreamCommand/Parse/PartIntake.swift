import Multipart
import Records
import Storage

/// What is made of a part as it is read: a value where it is a short text field, else a file where files
/// are stored.
final class PartIntake {
  let head: PartHead
  private(set) var size: Int64 = 0

  private let store: FileStore?
  private var digest: SHA256?
  /// The bytes so far, for as long as they are kept.
  private var value: [UInt8]?
  private let limit: Int
  private var file: IncomingFile?

  init(_ head: PartHead, store: FileStore?, digest: consuming SHA256?, keeping limit: Int) {
    self.head = head
    self.store = store
    self.digest = digest
    self.limit = limit
    value = head.filename == nil ? [] : nil
  }

  func take(_ bytes: UnsafeRawBufferPointer) throws {
    size += Int64(bytes.count)
    try digest?.update(bytes)
    if let value, value.count + bytes.count > limit {
      self.value = nil
      try value.withUnsafeBytes(write)
    }
    if value == nil { try write(bytes) } else { value?.append(contentsOf: bytes) }
  }

  /// The part is whole: its file gets its name.
  func finish(index: Int) throws -> ParsedPartRecord {
    // A browser sends a file without a name and without bytes where no file was chosen.
    if let filename = head.filename, !filename.isEmpty { try write(.init(start: nil, count: 0)) }
    let place = SafePath(
      filename: head.filename, field: head.name, keepingDirectories: false)
    let stored = try file?.store(as: place)
    return ParsedPartRecord(
      index: index, name: head.name, filename: head.filename, contentType: head.contentType,
      headers: head.fields.map { RecordHeader($0.name, $0.value) }, size: size,
      sha256: try digest.take()?.finalize(), value: value, storedAs: stored?.description)
  }

  private func write(_ bytes: UnsafeRawBufferPointer) throws {
    if file == nil { file = try store?.makeFile() }
    try file?.write(bytes)
  }
}
