public import FormStreamMultipart

/// The events of a parser for one body. The bytes of a part are joined, however the parser cut them.
public struct ParserRun: Equatable, Sendable {
  /// One event.
  public enum Event: Equatable, Sendable {
    /// A part's headers.
    case began(PartHead)
    /// All bytes up to the next event of another kind.
    case bytes([UInt8])
    /// A part's end.
    case ended
    /// The form's end.
    case done
  }

  /// A parsed part.
  public struct Part: Equatable, Sendable {
    /// Its headers.
    public let head: PartHead
    /// Its bytes, as far as they were parsed.
    public var body: [UInt8] = []
    /// Whether its end was parsed.
    public var isComplete = false

    /// The bytes as text.
    public var text: String { String(decoding: body, as: UTF8.self) }
  }

  /// The events in order.
  public private(set) var events: [Event] = []
  /// The error's code, or nil if there was no error.
  public private(set) var code: MultipartError.Code?
  /// The offset of the error.
  public private(set) var offset: Int64?
  /// Whether there was an event of no bytes, which is a fault.
  public private(set) var hasEmptyBytes = false
  /// Whether the end is final: a parser that has failed fails again with the same error, and one that is done has no
  /// more events.
  public private(set) var isEndFinal = true

  /// Whether the form was parsed to its end.
  public var isComplete: Bool { code == nil && events.last == .done }

  /// The parsed parts.
  public var parts: [Part] {
    var parts: [Part] = []
    for event in events {
      switch event {
      case .began(let head): parts.append(Part(head: head))
      case .bytes(let bytes): parts[parts.count - 1].body += bytes
      case .ended: parts[parts.count - 1].isComplete = true
      case .done: break
      }
    }
    return parts
  }

  /// Parses a body that is cut before each of the ascending `cuts`. Each piece has its own memory, which is
  /// overwritten as soon as the parser has read the piece.
  public init(
    _ body: [UInt8], boundary: String = "B", cuts: some Sequence<Int> = EmptyCollection<Int>(),
    options: FormParser.Options = FormParser.Options()
  ) throws {
    let parser = try FormParser(boundary: boundary, options: options)
    do {
      var start = 0
      for cut in cuts {
        try feed(body[start..<cut], to: parser)
        start = cut
      }
      try feed(body[start...], to: parser)
      while let event = try parser.finish() { note(event) }
    } catch {
      code = error.code
      offset = error.offset
    }
    isEndFinal = endsAgain(parser)
  }

  /// Parses a text; see ``init(_:boundary:cuts:options:)``.
  public init(
    _ body: String, boundary: String = "B", cuts: some Sequence<Int> = EmptyCollection<Int>(),
    options: FormParser.Options = FormParser.Options()
  ) throws {
    try self.init(Array(body.utf8), boundary: boundary, cuts: cuts, options: options)
  }

  private mutating func feed(
    _ piece: ArraySlice<UInt8>, to parser: FormParser
  ) throws(MultipartError) {
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: piece.count, alignment: 1)
    defer {
      memory.initializeMemory(as: UInt8.self, repeating: 0xEE)
      memory.deallocate()
    }
    memory.copyBytes(from: piece)
    var input = UnsafeRawBufferPointer(memory)
    while let event = try parser.next(&input) { note(event) }
  }

  private func endsAgain(_ parser: FormParser) -> Bool {
    var nothing = UnsafeRawBufferPointer(start: nil, count: 0)
    do {
      guard code != nil else { return try parser.finish() == nil }
      _ = try parser.next(&nothing)
      return false
    } catch {
      return error.code == code && error.offset == offset && code != nil
    }
  }

  private mutating func note(_ event: FormParser.Event) {
    switch event {
    case .partBegan(let head): events.append(.began(head))
    case .partEnded: events.append(.ended)
    case .formEnded: events.append(.done)
    case .partBytes(let bytes):
      hasEmptyBytes = hasEmptyBytes || bytes.isEmpty
      if case .bytes(var before) = events.last {
        events.removeLast()
        before.append(contentsOf: bytes)
        events.append(.bytes(before))
      } else {
        events.append(.bytes(Array(bytes)))
      }
    }
  }
}
