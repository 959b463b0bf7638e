extension FormParser {
  /// Parses the next bytes and calls `handle` with each event. After the last bytes, call ``finish()``.
  ///
  /// - Throws: what ``next(_:)`` and `handle` throw.
  public func feed(
    _ bytes: UnsafeRawBufferPointer, to handle: (Event) throws -> Void
  ) throws {
    var input = bytes
    while let event = try next(&input) { try handle(event) }
  }

  /// Parses a source to its end and calls `handle` with each event. Always closes the source.
  ///
  /// - Throws: `parserUsed` if the parser was used before; what ``next(_:)``, ``finish()``, the source and `handle` throw.
  public func parse(_ source: any ByteSource, to handle: (Event) throws -> Void) throws {
    defer { source.close() }
    try begin()
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 * 1024, alignment: 16)
    defer { buffer.deallocate() }
    while true {
      let count = try source.read(into: buffer)
      guard count > 0 else { break }
      try feed(UnsafeRawBufferPointer(rebasing: buffer.prefix(count)), to: handle)
    }
    while let event = try finish() { try handle(event) }
  }
}

/// The events of a body that arrives in chunks, for example in a server.
///
/// ```swift
/// for try await event in FormEvents(of: chunks, parser: try FormParser(contentType: type)) { … }
/// ```
///
/// The sequence can be iterated once.
public struct FormEvents<Chunks: AsyncSequence>: AsyncSequence
where Chunks.Element: Collection<UInt8> {
  /// What was found in the body: a ``FormParser/Event`` with a copy of its bytes.
  public enum Element: Hashable, Sendable {
    /// A part begins.
    case partBegan(PartHead)
    /// Bytes of the part, at least one.
    case partBytes([UInt8])
    /// The part is complete.
    case partEnded
    /// The last delimiter was read: no part follows.
    case formEnded
  }

  private let chunks: Chunks
  private let parser: FormParser

  /// Parses chunks. The sequence can be iterated once, because the parser can be used once.
  ///
  /// - Parameters:
  ///   - chunks: the body in chunks of any size.
  ///   - parser: a parser that was not used yet.
  public init(of chunks: Chunks, parser: FormParser) {
    self.chunks = chunks
    self.parser = parser
  }

  /// Parses one chunk at a time; only the events of that chunk are in memory.
  public struct AsyncIterator: AsyncIteratorProtocol {
    fileprivate var chunks: Chunks.AsyncIterator
    fileprivate let parser: FormParser
    fileprivate var waiting: ArraySlice<Element> = []
    fileprivate var hasBegun = false
    fileprivate var hasEnded = false

    /// The next event; nil after the last.
    ///
    /// - Throws: `parserUsed` if the parser was used before; what the parser and the chunks throw.
    public mutating func next() async throws -> Element? {
      if !hasBegun {
        try parser.begin()
        hasBegun = true
      }
      while waiting.isEmpty, !hasEnded {
        var events: [Element] = []
        if let chunk = try await chunks.next() {
          try Array(chunk).withUnsafeBytes { bytes in
            try parser.feed(bytes) { events.append(Element($0)) }
          }
        } else {
          hasEnded = true
          while let event = try parser.finish() { events.append(Element(event)) }
        }
        waiting = events[...]
      }
      return waiting.popFirst()
    }
  }

  /// Starts with the first chunk.
  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(chunks: chunks.makeAsyncIterator(), parser: parser)
  }
}

extension FormEvents.Element {
  fileprivate init(_ event: FormParser.Event) {
    self =
      switch event {
      case .partBegan(let head): .partBegan(head)
      case .partBytes(let bytes): .partBytes(Array(bytes))
      case .partEnded: .partEnded
      case .formEnded: .formEnded
      }
  }
}
