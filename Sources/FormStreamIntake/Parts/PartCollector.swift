import FormStreamDigest
package import FormStreamMultipart
package import FormStreamRecords

/// What is made of a body as it is read: short text fields are kept, all else is the handler's; and a record of
/// each part.
package final class PartCollector {
  /// What is kept, and what is made of what goes by.
  package struct Options {
    /// The most bytes of one text field that are kept.
    package var textField = 64 * 1024
    /// The most bytes of all text fields together.
    package var allTextFields = 16 * 1024 * 1024
    /// Whether digests are made.
    package var makesDigests = true
    /// Whether headers are kept for the record.
    package var keepsHeaders = true

    package init() {}
  }

  /// The part that is being read.
  package private(set) var current: CollectedPart?

  private let upload: any Upload
  private let options: Options
  private var whole: [CollectedPart] = []
  private var textLeft: Int

  package init(_ upload: any Upload, options: Options = Options()) {
    self.upload = upload
    self.options = options
    textLeft = options.allTextFields
  }

  /// The parts that are whole.
  package var parts: [ParsedPartRecord] {
    whole.enumerated().map { $1.record(index: $0, keepsHeaders: options.keepsHeaders) }
  }

  package func handle(_ event: FormParser.Event) throws {
    switch event {
    case .partBegan(let head): try begin(PartDescription(head))
    case .partBytes(let bytes): try write(bytes)
    case .partEnded: try endPart()
    case .formEnded: break
    }
  }

  /// - Parameter isText: whether the part is kept where it is short.
  package func begin(_ part: PartDescription, isText: Bool? = nil) throws {
    let isText = isText ?? (part.filename == nil)
    current = try CollectedPart(
      part, of: upload, digest: options.makesDigests ? try SHA256() : nil,
      keeping: isText ? min(options.textField, textLeft) : nil)
  }

  package func write(_ bytes: UnsafeRawBufferPointer) throws {
    try current?.write(bytes)
  }

  package func endPart() throws {
    guard let part = current else { return }
    try part.end()
    textLeft -= part.value?.count ?? 0
    whole.append(part)
    current = nil
  }

  /// All of the body came.
  package func end() throws {
    try upload.end(parts.map(ReceivedPart.init))
  }
}
