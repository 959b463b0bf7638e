/// Reads the body of a response: bytes in, pieces of the body out, up to its end and never further.
struct ResponseBodyReader: Sendable {
  enum Step {
    /// The input has nothing more.
    case needsMore
    /// Bytes of the body: a part of the input.
    case data(UnsafeRawBufferPointer)
    /// The trailers of a chunked body that has any.
    case trailers(Trailers)
    /// The body is complete.
    case end
  }

  private enum Kind: Sendable {
    case length
    case chunks
    case trailers
    case untilClose
    case ended
  }

  private var kind: Kind
  private let limits: ExchangeLimits
  /// The length of the body, and how much of it is left.
  private var (length, left): (Int64, Int64) = (0, 0)
  private var chunks = ChunkReader()
  private var trailerReader: HeadReader?
  /// The bytes of the body so far.
  private(set) var received: Int64 = 0

  init(_ framing: ResponseFraming, _ limits: ExchangeLimits) {
    self.limits = limits
    switch framing {
    case .none: kind = .length
    case .length(let length):
      kind = .length
      (self.length, left) = (length, length)
    case .chunked: kind = .chunks
    case .untilClose: kind = .untilClose
    }
  }

  /// Reads from the front of the input.
  ///
  /// - Parameter interimBytes: how many bytes interim heads had while no byte of the request's body moved. Trailers share their
  ///   limit.
  mutating func next(
    _ input: inout UnsafeRawBufferPointer, after interimBytes: Int
  ) throws(WireError) -> Step {
    switch kind {
    case .ended: return .needsMore
    case .untilClose: return input.isEmpty ? .needsMore : take(input.count, of: &input)
    case .length:
      if left == 0 { return end() }
      if input.isEmpty { return .needsMore }
      let size = Int(min(left, Int64(input.count)))
      left -= Int64(size)
      return take(size, of: &input)
    case .chunks:
      switch try chunks.next(&input) {
      case .needsMore: return .needsMore
      case .data(let bytes):
        received = chunks.received
        return .data(bytes)
      case .lastChunk:
        kind = .trailers
        trailerReader = makeTrailerReader(after: interimBytes)
        return try readTrailers(&input)
      }
    case .trailers: return try readTrailers(&input)
    }
  }

  /// Whether the body has no more bytes.
  var isAtEnd: Bool {
    switch kind {
    case .ended: true
    case .length: left == 0
    case .chunks, .trailers, .untilClose: false
    }
  }

  private mutating func end() -> Step {
    kind = .ended
    trailerReader = nil
    return .end
  }

  private mutating func readTrailers(
    _ input: inout UnsafeRawBufferPointer
  ) throws(WireError) -> Step {
    let isComplete: Bool?
    do {
      isComplete = try trailerReader?.read(&input)
    } catch {
      throw error.inTrailers
    }
    guard isComplete == true else { return .needsMore }
    guard let trailers = trailerReader?.trailers else { return end() }
    // The end of the response is the next event.
    kind = .length
    return .trailers(trailers)
  }

  private mutating func take(_ size: Int, of input: inout UnsafeRawBufferPointer) -> Step {
    received = received.addingReportingOverflow(Int64(size)).partialValue
    return .data(input.takeFirst(size))
  }

  /// A reader with the smallest of the limits on the size of the trailers.
  private func makeTrailerReader(after interimBytes: Int) -> HeadReader {
    var heads = limits.heads
    var error: WireError?
    // The empty line at the end is no trailer: every chunked body has it.
    let emptyLine = 2
    if chunks.trailerRoom < heads.head - emptyLine {
      (heads.head, error) = (chunks.trailerRoom + emptyLine, chunks.overheadError)
    }
    let room = max(limits.interimBytes - interimBytes, 0)
    if room < heads.head - emptyLine {
      heads.head = room + emptyLine
      error = .overLimit(.interimBytes, limits.interimBytes)
    }
    return HeadReader(.trailers, heads, sizeError: error)
  }

  /// Where the end of the connection cuts the body off; nil if it is the body's end.
  ///
  /// RFC 9112 §8: "A message body that uses the chunked transfer coding is incomplete if the zero-sized chunk that terminates
  /// the encoding has not been received. A message that uses a valid Content-Length is incomplete if the size of the message
  /// body received (in octets) is less than the value given by Content-Length."
  ///
  /// - Parameter isOrderly: whether the server ended the connection. If it broke, no one can tell whether the body is complete.
  func cut(isOrderly: Bool) -> WireError.Place? {
    switch kind {
    case .ended: nil
    case .length: left == 0 ? nil : .body(received: received, of: length)
    case .chunks: .chunks(received: received)
    case .trailers: .trailers
    case .untilClose: isOrderly ? nil : .untilClose(received: received)
    }
  }
}
