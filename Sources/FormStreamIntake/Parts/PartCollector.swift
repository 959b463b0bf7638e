import FormStreamDigest
package import FormStreamMultipart
package import FormStreamPlatform

/// Collects the parts of a body: keeps short text fields, passes all other bytes to an upload, and records each part.
package final class PartCollector {
  /// The options for what is kept and computed.
  package struct Options {
    /// The most bytes kept of one text field.
    package var textField = 64 * 1024
    /// The most bytes kept of all text fields together.
    package var allTextFields = 16 * 1024 * 1024
    /// Whether each part gets a SHA-256 digest.
    package var makesDigests = true
    /// Whether the record lists the parts' headers.
    package var keepsHeaders = true
    /// Called after each part with about how many bytes of memory the part and its record take; throws if the memory is too
    /// much.
    package var reserve: ((Int) throws -> Void)?

    package init() {}
  }

  /// The part that is being read.
  package private(set) var current: CollectedPart?

  private let upload: any Upload
  private let options: Options
  private var completeParts: [CollectedPart] = []
  private var remainingTextBytes: Int

  package init(_ upload: any Upload, options: Options = Options()) {
    self.upload = upload
    self.options = options
    remainingTextBytes = options.allTextFields
  }

  /// The parts that are complete.
  package var parts: [ReceivedPart] {
    completeParts.enumerated().map { $1.received(at: $0, keepsHeaders: options.keepsHeaders) }
  }

  package func handle(_ event: FormParser.Event) throws {
    switch event {
    case .partBegan(let head): try begin(PartDescription(head))
    case .partBytes(let bytes): try write(bytes)
    case .partEnded: try endPart()
    case .formEnded: break
    }
  }

  /// Begins a part.
  ///
  /// - Parameter isText: whether the part's bytes are kept if they are few; nil means every part without a file name.
  package func begin(_ part: PartDescription, isText: Bool? = nil) throws {
    let isText = isText ?? (part.filename == nil)
    current = try CollectedPart(
      part, of: upload, digest: options.makesDigests ? try PartDigest() : nil,
      keeping: isText ? min(options.textField, remainingTextBytes) : nil)
  }

  package func write(_ bytes: UnsafeRawBufferPointer) throws {
    try current?.write(bytes)
  }

  /// Lets the current part's sink take over a file that has all bytes of the part. No bytes of the part were written. Returns
  /// false if the sink can't take files over; then the bytes must be written.
  ///
  /// - Parameter sha256: the digest of the file, for the record; nil for none.
  package func adopt(_ file: PartialFile, sha256: SHA256Digest?) throws -> Bool {
    try current?.adopt(file, sha256: sha256) ?? false
  }

  package func endPart() throws {
    guard let part = current else { return }
    try part.end()
    remainingTextBytes -= part.value?.count ?? 0
    completeParts.append(part)
    current = nil
    try options.reserve?(part.memory)
  }

  /// Ends the upload. The body must be complete.
  package func end() throws {
    try end { upload, parts in try upload.end(parts) }
  }

  /// Ends the upload by calling `body` with the upload and its parts.
  package func end<Result>(
    by body: (any Upload, [ReceivedPart]) throws -> Result
  ) rethrows -> Result {
    try body(upload, parts)
  }
}
