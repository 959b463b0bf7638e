extension FormParser {
  /// Parses the next bytes and calls `handle` with each event. After the last bytes, call ``finish()``.
  ///
  /// - Throws: what ``next(_:)`` and `handle` throw. If `handle` throws, the rest of the bytes is lost, so every
  ///   further call throws `parserUsed`.
  public func feed(
    _ bytes: UnsafeRawBufferPointer, to handle: (Event) throws -> Void
  ) throws {
    var input = bytes
    while let event = try next(&input) {
      do {
        try handle(event)
      } catch {
        giveUp(because: error)
        throw error
      }
    }
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
  /// An event of the body: a ``FormParser/Event`` with a copy of its bytes.
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
    /// The maximum number of bytes in a chunk that is parsed on the caller's actor. The actor may be the main actor,
    /// which has other work.
    private static var largestChunkOnActor: Int { 64 * 1024 }

    fileprivate var chunks: Chunks.AsyncIterator
    fileprivate let parser: FormParser
    fileprivate var waiting: [FoundEvent] = []
    /// The index in `waiting` of the next event.
    fileprivate var nextEvent = 0
    fileprivate var hasBegun = false
    fileprivate var hasEnded = false
    /// Why the body can't be read after the waiting events.
    fileprivate var failure: (any Error)?

    /// The next event; nil after the last. The call stays on the caller's actor, except to parse a chunk of more than
    /// 64 KiB.
    ///
    /// - Throws: `parserUsed` if the parser was used before; what the parser and the chunks throw.
    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async throws -> Element? {
      if !hasBegun {
        try parser.begin()
        hasBegun = true
      }
      while nextEvent == waiting.count {
        // The events of a chunk come before what is wrong with it, and the error stays.
        if let failure { throw failure }
        if hasEnded { return nil }
        // If no chunk can be read, no event of an earlier chunk must come again.
        (nextEvent, waiting) = (0, [])
        if let chunk = try await chunks.next(isolation: actor) {
          let bytes = Array(chunk)
          if actor == nil || bytes.count <= Self.largestChunkOnActor {
            (waiting, failure) = FoundEvent.all(in: bytes, parser)
          } else {
            // Nothing else uses the parser while this waits.
            nonisolated(unsafe) let parser = parser
            (waiting, failure) = await FoundEvent.allElsewhere(in: bytes, parser)
          }
        } else {
          do throws(MultipartError) {
            while let event = try parser.finish() { waiting.append(FoundEvent(event)) }
            hasEnded = true
          } catch {
            failure = error
          }
        }
      }
      defer { nextEvent += 1 }
      return Element(waiting[nextEvent])
    }
  }

  /// Starts with the first chunk.
  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(chunks: chunks.makeAsyncIterator(), parser: parser)
  }
}

extension FormEvents.Element {
  fileprivate init(_ event: FoundEvent) {
    self =
      switch event {
      case .partBegan(let head): .partBegan(head)
      case .partBytes(let bytes): .partBytes(bytes)
      case .partEnded: .partEnded
      case .formEnded: .formEnded
      }
  }
}

/// An event that waits to be returned. It is not a `FormEvents.Element`, because that type is generic, and arrays of a
/// generic type take twice the time.
private enum FoundEvent: Sendable {
  case partBegan(PartHead)
  case partBytes([UInt8])
  case partEnded
  case formEnded

  init(_ event: FormParser.Event) {
    self =
      switch event {
      case .partBegan(let head): .partBegan(head)
      case .partBytes(let bytes): .partBytes(Array(bytes))
      case .partEnded: .partEnded
      case .formEnded: .formEnded
      }
  }

  /// The events in a chunk, and what is wrong after them.
  static func all(
    in bytes: [UInt8], _ parser: FormParser
  ) -> (events: [FoundEvent], failure: (any Error)?) {
    var events: [FoundEvent] = []
    do {
      try bytes.withUnsafeBytes { bytes in
        try parser.feed(bytes) { events.append(FoundEvent($0)) }
      }
      return (events, nil)
    } catch {
      return (events, error)
    }
  }

  /// Parses on one of the threads that tasks share.
  @concurrent static func allElsewhere(
    in bytes: [UInt8], _ parser: FormParser
  ) async -> (events: [FoundEvent], failure: (any Error)?) {
    all(in: bytes, parser)
  }
}
