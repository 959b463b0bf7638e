import FormStreamPlatform

/// The layout of a body: where each byte comes from, and how many bytes there are.
///
/// Usually it is the body of a form. A file, bytes or a stream can also be laid out alone (``PartBody/layout(as:)``).
///
/// One walk over the form creates the list of segments. The length is the sum of their lengths, and the reader reads
/// exactly these segments. A layout is a value: create a reader for each attempt.
public struct BodyLayout: Sendable {
  /// The form that was laid out; nil if the body is not a form.
  public let form: Form?
  /// The value of the request's `Content-Type` header.
  public let contentType: String
  /// The exact number of bytes in the body; nil if the length of a part is not known.
  public private(set) var contentLength: Int64?

  let literals: [UInt8]
  let segments: [Segment]
  /// The offset of each segment, up to and including the first of unknown length.
  let starts: [Int64]
  /// The indices of the one-shot segments, in order.
  let oneShots: [Int]
  /// The boundaries to search for while streams are read, by the index of the segment.
  let scannedStreams: [Int: [Boundary]]
  private let places: [Place]
  private var parts: [Part] { form?.parts ?? [] }

  /// A place in the body: `skip` bytes after the start of a segment.
  struct Mark: Sendable {
    let segment: Int
    let skip: Int
  }

  struct Place: Sendable {
    let headers: Range<Int>
    let type: MediaType?
    let delimiter: Mark
    /// The beginning and the end of the contents.
    let (begin, end): (Mark, Mark)
  }

  init(
    form: Form?, contentType: String, literals: [UInt8], segments: [Segment],
    scannedStreams: [Int: [Boundary]], places: [Place]
  ) throws(MultipartError) {
    self.form = form
    self.contentType = contentType
    self.literals = literals
    self.segments = segments
    self.scannedStreams = scannedStreams
    self.places = places
    var starts: [Int64] = []
    starts.reserveCapacity(segments.count)
    var total: Int64? = 0
    for segment in segments {
      guard let start = total else { break }
      starts.append(start)
      total = try segment.length.map { (length) throws(MultipartError) in
        try Self.sum(start, length)
      }
    }
    (self.starts, contentLength) = (starts, total)
    oneShots = segments.indices.filter { segments[$0].isOneShot }
    hasStreams = segments.contains { if case .stream = $0.content { true } else { false } }
  }

  /// The same body as if its length were not known, so that it is sent in chunks.
  package func withUnknownLength() -> BodyLayout {
    var copy = self
    copy.contentLength = nil
    return copy
  }

  /// The same body with some segments replaced by others.
  func replacing(
    _ replacements: [(index: Int, segment: Segment)]
  ) throws(MultipartError) -> BodyLayout {
    var segments = segments
    for (index, segment) in replacements { segments[index] = segment }
    return try BodyLayout(
      form: form, contentType: contentType, literals: literals, segments: segments,
      scannedStreams: scannedStreams, places: places)
  }

  private static func sum(_ one: Int64, _ other: Int64) throws(MultipartError) -> Int64 {
    let (sum, overflow) = one.addingReportingOverflow(other)
    guard !overflow else {
      throw MultipartError(
        .bodyTooLarge, on: "the body",
        "The length of the body does not fit into 64 bits: remove parts.")
    }
    return sum
  }

  /// Whether the body can be read from its start more than once.
  public var isReplayable: Bool { oneShots.isEmpty }

  /// Whether reading may have to wait for another program or thread: for a pipe, a generator or a
  /// sequence.
  package let hasStreams: Bool

  /// Whether reading a part of the body may take arbitrarily long: see ``BodyReader/waitsForNext``.
  package var mustBeWaitedFor: Bool { segments.contains(where: \.mustBeWaitedFor) }

  /// A reader at the start of the body. It opens nothing before the first read.
  public func makeReader() -> BodyReader {
    BodyReader(of: self)
  }

  /// Reads the complete body into memory: for small forms and for tests.
  ///
  /// - Throws: `limitExceeded` if the body has more than `limit` bytes, and what reading throws.
  public func bytes(limit: Int) throws(MultipartError) -> [UInt8] {
    // The length is checked before a one-shot stream is used.
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
      "The body has more than \(counted(limit, "byte", "bytes")), the limit for reading it into memory: read it in pieces, or "
        + "raise the limit.")
  }
}

extension BodyLayout {
  /// Where one of the parts is in the body.
  public struct PlacedPart: Sendable {
    /// The part.
    public let part: Part
    /// Its header lines as they are sent, including the empty line at the end.
    public let headers: String
    /// Its media type as it is sent, given or detected; nil if it has no `Content-Type`.
    public let type: MediaType?
    /// The offset of its delimiter; nil after a part of unknown length.
    public let offset: Int64?
    /// The offset of its contents; nil after a part of unknown length.
    public let bodyOffset: Int64?
    /// The length of its contents; nil if it is not known.
    public let bodyLength: Int64?
  }

  /// The number of parts; 0 if the body is not a form. A form inside the form counts as one part.
  public var partCount: Int { places.count }

  /// Where the part at `index` is.
  public func placedPart(at index: Int) -> PlacedPart {
    let place = places[index]
    return PlacedPart(
      part: parts[index], headers: String(decoding: literals[place.headers], as: UTF8.self),
      type: place.type, offset: offset(of: place.delimiter), bodyOffset: offset(of: place.begin),
      bodyLength: length(from: place.begin, to: place.end))
  }

  /// The offset of a place in the body; nil after a part of unknown length.
  private func offset(of mark: Mark) -> Int64? {
    mark.segment < starts.count ? starts[mark.segment] + Int64(mark.skip) : nil
  }

  /// The number of bytes between two places; nil if a part of unknown length is between them.
  private func length(from begin: Mark, to end: Mark) -> Int64? {
    var length = Int64(end.skip) - Int64(begin.skip)
    for segment in segments[begin.segment..<end.segment] {
      guard let more = segment.length else { return nil }
      // The lengths after a part of unknown length were not added up before: their sum may not fit into 64 bits.
      guard let sum = try? Self.sum(length, more) else { return nil }
      length = sum
    }
    return length
  }

  /// The segment that contains `offset`, and the offset in that segment. In a body of unknown
  /// length, every offset after the first segment of unknown length is in that segment.
  func find(_ offset: Int64) -> (segment: Int, skip: Int64) {
    if offset == contentLength { return (segments.count, 0) }
    let next = starts.partitionPoint { $0 >= offset }
    if next < starts.count, starts[next] == offset { return (next, 0) }
    return (next - 1, offset - starts[next - 1])
  }
}

extension Collection where Index == Int {
  /// The index of the first element that satisfies a condition, in O(log n). All elements after it
  /// must satisfy it too.
  func partitionPoint(where belongsToSecondPart: (Element) -> Bool) -> Int {
    var (low, high) = (startIndex, endIndex)
    while low < high {
      let middle = low + (high - low) / 2
      if belongsToSecondPart(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
