extension FormParser {
  /// Takes in bytes and hands each event over as it comes.
  public func feed(
    _ bytes: UnsafeRawBufferPointer, to handle: (Event) throws -> Void
  ) throws {
    var input = bytes
    while let event = try next(&input) { try handle(event) }
  }

  /// Reads a source to its end, and hands each event over as it comes. The source is closed, whatever
  /// happens.
  ///
  /// - Throws: `MultipartError` where the body is not a form; what the source or `handle` throws.
  public func parse(_ source: any ByteSource, to handle: (Event) throws -> Void) throws {
    defer { source.close() }
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

/// The parts of a body that comes in chunks, such as one that a server receives.
///
/// ```swift
/// for try await event in FormEvents(of: chunks, parser: try FormParser(contentType: type)) { … }
/// ```
public struct FormEvents<Chunks: AsyncSequence>: AsyncSequence
where Chunks.Element: Collection<UInt8> {
  /// What was found, with bytes of its own.
  public enum Element: Hashable, Sendable {
    /// A part begins.
    case partBegan(PartHead)
    /// Bytes of the part, never none.
    case partBytes([UInt8])
    /// The part is whole.
    case partEnded
    /// The last delimiter was read: no part follows.
    case formEnded
  }

  private let chunks: Chunks
  private let parser: FormParser

  /// - Parameters:
  ///   - chunks: the body in pieces of any size.
  ///   - parser: a fresh parser; it is used up.
  public init(of chunks: Chunks, parser: FormParser) {
    self.chunks = chunks
    self.parser = parser
  }

  /// Gives the events of one chunk after the other; no more than a chunk is in memory.
  public struct AsyncIterator: AsyncIteratorProtocol {
    fileprivate var chunks: Chunks.AsyncIterator
    fileprivate let parser: FormParser
    fileprivate var waiting: ArraySlice<Element> = []
    fileprivate var hasEnded = false

    /// The next event; nil behind the last one.
    public mutating func next() async throws -> Element? {
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

  /// Starts to read.
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
