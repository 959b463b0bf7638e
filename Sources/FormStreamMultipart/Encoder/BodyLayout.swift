/// A body, laid out: where each byte comes from, and how many there are. Mostly it is a form's; a file, bytes
/// or a stream can be laid out by themselves, too (``PartBody/layout(as:)``).
///
/// One walk over the form makes the list of segments; the length is their sum and nothing else, and
/// the reader gives those segments and nothing else. A layout is a value: any number of readers can
/// be made from it, one for each attempt.
public struct BodyLayout: Sendable {
  /// The form that was laid out; nil where the body is none.
  public let form: Form?
  /// The value of the request's `Content-Type` header.
  public let contentType: String
  /// The exact number of bytes in the body; nil where a part's length can't be known.
  public let contentLength: Int64?

  let literals: [UInt8]
  let segments: [Segment]
  /// Where each segment starts, up to and with the first of unknown length.
  let starts: [Int64]
  /// The segments that can be read once, in order.
  let oneShots: [Int]
  /// The boundaries to look for in streams as they pass, for each such segment.
  let scannedStreams: [Int: [Boundary]]
  private let places: [Place]
  private var parts: [Part] { form?.parts ?? [] }

  struct Place: Sendable {
    let headers: Range<Int>
    let type: MediaType?
    let offset: Int64?
    let bodyOffset: Int64?
    let bodyLength: Int64?
  }

  init(
    form: Form?, contentType: String, contentLength: Int64?, literals: [UInt8], segments: [Segment],
    starts: [Int64], scannedStreams: [Int: [Boundary]], places: [Place]
  ) {
    self.form = form
    self.contentType = contentType
    self.contentLength = contentLength
    self.literals = literals
    self.segments = segments
    self.starts = starts
    self.scannedStreams = scannedStreams
    self.places = places
    oneShots = segments.indices.filter { segments[$0].isOneShot }
  }

  /// Whether the body can be read from its start more than once.
  public var isReplayable: Bool { oneShots.isEmpty }

  /// Whether reading may have to wait for somebody: a pipe, a generator, a sequence. Files and memory do not.
  package var hasStreams: Bool {
    segments.contains { if case .stream = $0.content { true } else { false } }
  }

  /// A reader at the body's start. Nothing is opened before the first read.
  public func makeReader() -> BodyReader {
    BodyReader(of: self)
  }

  /// The whole body in memory: for small forms and for tests.
  ///
  /// - Throws: `limitExceeded` where the body has more than `limit` bytes, and whatever reading throws.
  public func bytes(limit: Int) throws(MultipartError) -> [UInt8] {
    // Known before a stream that can be read once is used up.
    if let contentLength, contentLength > limit { throw overLimit(limit) }
    let reader = makeReader()
    defer { reader.close() }
    var body: [UInt8] = []
    while true {
      let piece = try reader.read(upTo: 64 * 1024)
      if piece.isEmpty { return body }
      guard body.count + piece.count <= limit else { throw overLimit(limit) }
      body.append(contentsOf: piece)
    }
  }

  private func overLimit(_ limit: Int) -> MultipartError {
    MultipartError(
      .limitExceeded, on: "the body",
      "The body has more than the \(limit) bytes that it may take in memory: read it in pieces, or "
        + "raise the limit.")
  }
}

extension BodyLayout {
  /// Where one of the form's parts stands in the body.
  public struct PlacedPart: Sendable {
    /// The part.
    public let part: Part
    /// Its header lines as they are sent, up to and with the empty one.
    public let headers: String
    /// Its media type as it is sent, given or detected; nil if it has no `Content-Type`.
    public let type: MediaType?
    /// Where its delimiter starts; nil behind a part of unknown length.
    public let offset: Int64?
    /// Where its bytes start; nil behind a part of unknown length.
    public let bodyOffset: Int64?
    /// How many bytes it has; nil where that can't be known.
    public let bodyLength: Int64?
  }

  /// The number of parts, none where the body is no form; those of a form inside the form count as one.
  public var partCount: Int { places.count }

  /// Where the part at `index` stands.
  public func placedPart(at index: Int) -> PlacedPart {
    let place = places[index]
    return PlacedPart(
      part: parts[index], headers: String(decoding: literals[place.headers], as: UTF8.self),
      type: place.type, offset: place.offset, bodyOffset: place.bodyOffset,
      bodyLength: place.bodyLength)
  }

  /// The segment in which `offset` lies, or at whose start it lies, and how far into it. In a body of
  /// unknown length, an offset behind the first part of unknown length lies in that part's segment.
  func find(_ offset: Int64) -> (segment: Int, skip: Int64) {
    if offset == contentLength { return (segments.count, 0) }
    let next = starts.partitionPoint { $0 >= offset }
    if next < starts.count, starts[next] == offset { return (next, 0) }
    return (next - 1, offset - starts[next - 1])
  }
}

extension Collection where Index == Int {
  /// The first index, in a collection where all elements that satisfy `belongsToSecondPart` stand behind
  /// those that don't, in O(log n).
  func partitionPoint(where belongsToSecondPart: (Element) -> Bool) -> Int {
    var (low, high) = (startIndex, endIndex)
    while low < high {
      let middle = low + (high - low) / 2
      if belongsToSecondPart(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
