/// A small form read whole into memory.
public struct CollectedForm: Hashable, Sendable {
  /// A part and its bytes.
  public struct Part: Hashable, Sendable {
    /// What stood at its head.
    public let head: PartHead
    /// Its bytes.
    public fileprivate(set) var bytes: [UInt8]

    /// The bytes as text, repaired where they are not UTF-8.
    public var text: String { String(decoding: bytes, as: UTF8.self) }
  }

  /// The parts in order.
  public private(set) var parts: [Part] = []

  /// Reads a body from a source.
  ///
  /// - Parameters:
  ///   - source: gives the body; it is read to its end and closed.
  ///   - parser: a fresh parser; it is used up.
  ///   - limit: the most bytes that all parts together may have.
  /// - Throws: `limitExceeded` past the limit; whatever parsing and reading throw.
  public init(reading source: any ByteSource, with parser: FormParser, limit: Int) throws {
    var left = limit
    var parts: [Part] = []
    try parser.parse(source) { event in
      switch event {
      case .partBegan(let head):
        parts.append(Part(head: head, bytes: []))
      case .partBytes(let bytes):
        left -= bytes.count
        guard left >= 0 else { throw Self.overLimit(limit) }
        parts[parts.count - 1].bytes.append(contentsOf: bytes)
      case .partEnded, .formEnded:
        break
      }
    }
    self.parts = parts
  }

  /// The first part of a name.
  public subscript(name: String) -> Part? {
    parts.first { $0.head.name == name }
  }

  private static func overLimit(_ limit: Int) -> MultipartError {
    MultipartError(
      .limitExceeded, on: "the form",
      "The form's parts have more than the \(limit) bytes that they may take in memory: read it event by "
        + "event, or raise the limit.")
  }
}
