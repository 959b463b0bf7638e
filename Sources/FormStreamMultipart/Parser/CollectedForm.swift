import FormStreamPlatform

/// A small form, parsed into memory.
public struct CollectedForm: Hashable, Sendable {
  /// A part and its bytes.
  public struct Part: Hashable, Sendable {
    /// The headers.
    public let head: PartHead
    /// The contents.
    public fileprivate(set) var bytes: [UInt8]

    /// The contents as text; bytes that are not UTF-8 become U+FFFD.
    public var text: String { String(decoding: bytes, as: UTF8.self) }
  }

  /// The parts in order.
  public private(set) var parts: [Part] = []

  /// Parses a body from a source.
  ///
  /// - Parameters:
  ///   - source: the body; it is read to its end and always closed.
  ///   - parser: a parser that was not used yet.
  ///   - limit: the maximum number of bytes in all parts together.
  /// - Throws: `parserUsed`; `limitExceeded` if the parts have more than `limit` bytes; the errors of the parser and
  ///   the source.
  public init(reading source: any ByteSource, with parser: FormParser, limit: Int) throws {
    var left = max(limit, 0)
    try parser.parse(source) { event in
      guard note(event, &left) else { throw Self.overLimit(limit) }
    }
  }

  /// Parses the bytes of a body.
  ///
  /// - Parameters:
  ///   - bytes: the complete body.
  ///   - contentType: its `Content-Type`, with the boundary.
  /// - Throws: the errors of `FormParser`.
  public init(parsing bytes: [UInt8], contentType: String) throws {
    let parser = try FormParser(contentType: contentType)
    var left = bytes.count
    try bytes.withUnsafeBytes { bytes in try parser.feed(bytes) { _ = note($0, &left) } }
    while let event = try parser.finish() { _ = note(event, &left) }
  }

  /// Adds what an event brings; returns false if that is more than `left` bytes.
  private mutating func note(_ event: FormParser.Event, _ left: inout Int) -> Bool {
    switch event {
    case .partBegan(let head):
      parts.append(Part(head: head, bytes: []))
    case .partBytes(let bytes):
      guard bytes.count <= left else { return false }
      left -= bytes.count
      parts[parts.count - 1].bytes.append(contentsOf: bytes)
    case .partEnded, .formEnded:
      break
    }
    return true
  }

  /// The first part with this name.
  public subscript(name: String) -> Part? {
    parts.first { $0.head.name == name }
  }

  private static func overLimit(_ limit: Int) -> MultipartError {
    MultipartError(
      .limitExceeded, on: "the form",
      "The parts of the form have more than \(counted(limit, "byte", "bytes")), the limit for reading them into memory: parse it "
        + "event by event, or raise the limit.")
  }
}
