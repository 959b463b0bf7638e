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

  /// How many bytes trailers may have, and the error if they have more.
  struct TrailerRoom {
    let bytes: Int
    let error: WireError
  }

  private enum Kind: Sendable {
    /// The first number is what is left.
    case length(Int64, of: Int64)
    case chunks(ChunkReader)
    case trailers(HeadReader)
    case untilClose
    case ended
  }

  private var kind: Kind
  private let limits: HeadLimits
  /// The bytes of the body so far.
  private(set) var received: Int64 = 0

  init(_ framing: ResponseFraming, _ limits: HeadLimits) {
    self.limits = limits
    kind =
      switch framing {
      case .none: .length(0, of: 0)
      case .length(let length): .length(length, of: length)
      case .chunked: .chunks(ChunkReader())
      case .untilClose: .untilClose
      }
  }

  /// Reads from the front of the input.
  ///
  /// - Parameter room: a limit on trailers that isn't the body's own.
  mutating func next(
    _ input: inout UnsafeRawBufferPointer, _ room: TrailerRoom
  ) throws(WireError) -> Step {
    switch kind {
    case .ended: return .needsMore
    case .untilClose: return input.isEmpty ? .needsMore : take(input.count, of: &input)
    case .length(0, _):
      kind = .ended
      return .end
    case .length(let left, let length):
      if input.isEmpty { return .needsMore }
      let size = Int(min(left, Int64(input.count)))
      kind = .length(left - Int64(size), of: length)
      return take(size, of: &input)
    case .chunks(var reader):
      // The state is a few numbers: it is copied here, and nothing is allocated.
      defer { if case .chunks = kind { kind = .chunks(reader) } }
      switch try reader.next(&input) {
      case .needsMore: return .needsMore
      case .data(let bytes):
        received = reader.received
        return .data(bytes)
      case .lastChunk:
        kind = .trailers(trailerReader(after: reader, room))
        return try next(&input, room)
      }
    case .trailers(var reader):
      kind = .ended
      guard try reader.read(&input) else {
        kind = .trailers(reader)
        return .needsMore
      }
      guard let trailers = reader.trailers else { return .end }
      kind = .length(0, of: 0)
      return .trailers(trailers)
    }
  }

  private mutating func take(_ size: Int, of input: inout UnsafeRawBufferPointer) -> Step {
    received = received.addingReportingOverflow(Int64(size)).partialValue
    return .data(input.takeFirst(size))
  }

  /// A reader with the smallest of the limits on the size of the trailers.
  private func trailerReader(after chunks: ChunkReader, _ room: TrailerRoom) -> HeadReader {
    var limits = limits
    var error: WireError?
    if chunks.trailerRoom < limits.head { (limits.head, error) = (chunks.trailerRoom, chunks.overheadError) }
    if room.bytes < limits.head { (limits.head, error) = (room.bytes, room.error) }
    return HeadReader(.trailers, limits, sizeError: error)
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
    case .ended, .length(0, _): nil
    case .length(_, let length): .body(received: received, of: length)
    case .chunks: .chunks(received: received)
    case .trailers: .trailers
    case .untilClose: isOrderly ? nil : .untilClose(received: received)
    }
  }
}
