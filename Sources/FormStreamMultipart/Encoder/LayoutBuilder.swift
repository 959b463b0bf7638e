extension Form {
  /// Lays the body out: checks every name and type, looks at every file, and sums up the length.
  /// No file is opened, unless `verify` asks for it or the guesser looks into one. The first that it looks
  /// into stays open for the first reader, if no file stands before it; all others are closed, and must be
  /// the same when they are read.
  ///
  /// - Parameters:
  ///   - guesser: asked for the type of parts that have a file name and no type.
  ///   - verify: whether files and streams are searched for the boundary too, as parts in memory
  ///     always are: files now, which reads them once more, and streams while they are read. A
  ///     boundary drawn at random needs none of it.
  /// - Throws: the first thing that stands in the way, naming the part or the path.
  public func layout(
    guessing guesser: any MediaTypeGuessing = NoGuess(), verify: Bool = false
  ) throws(MultipartError) -> BodyLayout {
    var builder = LayoutBuilder(guesser: guesser, verifies: verify)
    try builder.add(self)
    return try builder.finish(self, as: contentType)
  }
}

extension PartBody {
  /// Lays the body out by itself, with no form around it: what a PUT of a file sends.
  ///
  /// The same holds as for a part of a form: a file must stay as it is until its last byte is read, and a
  /// stream gives what it promises, or reading fails.
  ///
  /// - Throws: the first thing that stands in the way, naming the path.
  public func layout(as type: MediaType = .octetStream) throws(MultipartError) -> BodyLayout {
    if case .form(let form) = kind { return try form.layout() }
    guard type.isWellFormed else {
      throw MultipartError(
        .invalidMediaType, on: type.description,
        "The type \(type.description.quoted) of the body is not a media type: write it as type/subtype, "
          + "such as image/png.")
    }
    var builder = LayoutBuilder(guesser: NoGuess(), verifies: false)
    try builder.add(self)
    return try builder.finish(nil, as: type.description)
  }
}

/// The one walk over a form: it writes what is literal, notes what is not, and counts both.
private struct LayoutBuilder {
  let guesser: any MediaTypeGuessing
  let verifies: Bool

  private var literals: [UInt8] = []
  /// Where the literal bytes start that no segment covers yet.
  private var uncovered = 0
  private var segments: [Segment] = []
  private var starts: [Int64] = [0]
  private var scannedStreams: [Int: [Boundary]] = [:]
  private var places: [BodyLayout.Place] = []
  /// Whether a file has come: the first one is the one that may stay open, so that no two ever are.
  private var hasFile = false
  /// What parts will read up: pipes, and what stands open under a descriptor.
  private var drained: Set<FileIdentity> = []
  /// The bytes in all segments so far; nil once one is of unknown length.
  private var total: Int64? = 0
  /// A scan for each form that is open, the outermost first: a part may hold none of their delimiters.
  private var scans: [CollisionScan] = []

  /// Bytes in memory up to this size stand among the literal ones: a copy is cheaper than a segment.
  private static let inlineSize = 1024
  /// Room for the literal bytes of a usual part: delimiter, headers and a short text. It is a guess
  /// that nothing depends on: it saves an array that grows with 100,000 parts from being copied, and
  /// its outgrown halves from lying about. Memory that is not written to is not taken.
  private static let literalRoom = 192

  init(guesser: any MediaTypeGuessing, verifies: Bool) {
    self.guesser = guesser
    self.verifies = verifies
  }

  mutating func finish(
    _ form: Form?, as contentType: String
  ) throws(MultipartError) -> BodyLayout {
    try coverLiterals()
    return BodyLayout(
      form: form, contentType: contentType, contentLength: total, literals: literals,
      segments: segments, starts: Array(starts.prefix(segments.count)),
      scannedStreams: scannedStreams, places: places)
  }

  /// Adds a body that no form is around.
  mutating func add(_ body: PartBody) throws(MultipartError) {
    let part = Part(name: "body", body: body)
    try add(try look(at: part, browserText: false), of: part)
  }

  mutating func add(_ form: Form) throws(MultipartError) {
    scans.append(CollisionScan(for: form.boundary))
    let isOutermost = scans.count == 1
    if isOutermost {
      places.reserveCapacity(form.parts.count)
      literals.reserveCapacity(form.parts.count * Self.literalRoom)
    }

    // All files are looked at before a guesser reads any: a FIFO may keep it waiting.
    var files: [Int: PartContent] = [:]
    for (index, part) in form.parts.enumerated() where part.body.isFile {
      files[index] = try look(at: part, browserText: form.browserText)
    }
    for (index, part) in form.parts.enumerated() {
      let offset = try position()
      form.boundary.appendDelimiter(isFirst: index == 0, closes: false, to: &literals)
      var content: PartContent
      if let file = files[index] {
        content = file
      } else {
        content = try look(at: part, browserText: form.browserText)
      }
      let type = try resolveType(of: part, with: &content)
      let headers = try addHeaders(of: part, type: type, in: form)
      let bodyOffset = try position()
      let (firstSegment, firstLiteral) = (segments.count, literals.count)
      try add(content, of: part)
      guard isOutermost else { continue }
      places.append(
        BodyLayout.Place(
          headers: headers, type: type, offset: offset, bodyOffset: bodyOffset,
          bodyLength: try length(fromSegment: firstSegment, literal: firstLiteral)))
    }
    form.boundary.appendDelimiter(isFirst: form.parts.isEmpty, closes: true, to: &literals)
    scans.removeLast()
  }

  // MARK: A part

  private mutating func addHeaders(
    of part: Part, type: MediaType?, in form: Form
  ) throws(MultipartError) -> Range<Int> {
    let start = literals.count
    try HeaderBlock.append(part, type: type, escaping: form.escaping, to: &literals)
    let range = start..<literals.count
    for index in scans.indices { scans[index].restart() }
    let collision = literals.withUnsafeBytes {
      Self.scan(UnsafeRawBufferPointer(rebasing: $0[range]), with: &scans)
    }
    if let collision { throw CollisionScan.collision(collision, in: part.name) }
    return range
  }

  private func resolveType(
    of part: Part, with content: inout PartContent
  ) throws(MultipartError) -> MediaType? {
    if case .form(let inner) = content {
      let outer = part.type ?? .multipartMixed
      let names = outer.parameters?.map(\.name)
      guard outer.essence.hasPrefix("multipart/"), let names, !names.contains("boundary") else {
        throw MultipartError(
          .invalidMediaType, on: part.name,
          "Part \(part.name.quoted) holds a form, which can't be of type "
            + "\(outer.description.quoted): give it a multipart type without a boundary, or none.")
      }
      return MediaType(unchecked: "\(outer); boundary=\(inner.boundary.parameterValue)")
    }
    var known = part.type
    if known == nil { known = try guessType(of: part, with: &content) }
    guard let type = known else { return nil }
    // A guess, or a literal in somebody's source, has not been looked at yet.
    guard type.isWellFormed else {
      throw MultipartError(
        .invalidMediaType, on: part.name,
        "The type \(type.description.quoted) of part \(part.name.quoted) is not a media type: write it "
          + "as type/subtype, such as image/png.")
    }
    return type
  }

  private func guessType(
    of part: Part, with content: inout PartContent
  ) throws(MultipartError) -> MediaType? {
    guard let filename = part.filename else { return nil }
    let preview = ContentPreview(content, of: part.name, keepsFile: !hasFile)
    let type = guesser.mediaType(
      of: UntypedPart(filename: filename, path: part.body.path, content: preview))
    if let failure = preview.failure { throw failure }
    content = preview.content
    return type ?? .octetStream
  }

  /// Looks at what a part is made from; nothing is opened.
  private mutating func look(
    at part: Part, browserText: Bool
  ) throws(MultipartError) -> PartContent {
    switch part.body.kind {
    case .text(let text):
      return .memory(
        MemoryBytes(
          browserText ? EscapingProfile.withBrowserNewlines(text.utf8) : Array(text.utf8)))
    case .bytes(let bytes): return .memory(bytes)
    case .file(let origin): return try content(of: origin.lookUp(for: part.name), for: part)
    case .descriptor(let origin): return try content(of: origin.lookUp(for: part.name), for: part)
    case .stream(let origin): return .stream(origin)
    case .form(let inner): return .form(inner)
    }
  }

  private mutating func content(
    of finding: FileLookup, for part: Part
  ) throws(MultipartError) -> PartContent {
    switch finding {
    case .extent(let extent): return .file(extent)
    case .stream(let stream, let status):
      // A device gives each reader its own; of a pipe, the second would get what the first leaves.
      if status.kind != .device, !drained.insert(status.identity).inserted {
        throw StreamOrigin.notReplayable(part.name)
      }
      return .stream(stream)
    }
  }

  private mutating func add(_ content: PartContent, of part: Part) throws(MultipartError) {
    switch content {
    case .memory(let bytes): try addMemory(bytes, of: part)
    case .file(let extent): try addFile(extent, of: part)
    case .stream(let origin): try addStream(origin, of: part)
    case .form(let inner): try addForm(inner, of: part)
    }
  }

  private mutating func addMemory(_ bytes: MemoryBytes, of part: Part) throws(MultipartError) {
    var collision: Boundary?
    bytes.withBytes { collision = Self.scan($0, with: &scans) }
    if let collision { throw CollisionScan.collision(collision, in: part.name) }
    if bytes.count <= Self.inlineSize {
      bytes.withBytes { literals.append(contentsOf: $0) }
    } else {
      try add(.memory(bytes), length: Int64(bytes.count), of: part)
    }
  }

  private mutating func addFile(_ extent: FileExtent, of part: Part) throws(MultipartError) {
    hasFile = true
    if verifies {
      let reader = try FileReader(extent, part: part.name)
      if let collision = try reader.scan(with: &scans) {
        throw CollisionScan.collision(collision, in: part.name)
      }
    }
    try add(.file(extent), length: extent.length, of: part)
  }

  private mutating func addStream(
    _ origin: StreamOrigin, of part: Part
  ) throws(MultipartError) {
    if let length = origin.length, length < 0 {
      throw MultipartError(
        .streamFailed, on: part.name,
        "The stream of part \(part.name.quoted) promises \(length) bytes: promise 0 or more, or nil."
      )
    }
    try coverLiterals()
    if verifies { scannedStreams[segments.count] = scans.map(\.boundary) }
    try add(.stream(origin), length: origin.length, of: part)
  }

  private mutating func addForm(_ inner: Form, of part: Part) throws(MultipartError) {
    guard scans.count < Form.maximumNesting else {
      throw MultipartError(
        .nestedTooDeep, on: part.name,
        "Part \(part.name.quoted) is a form \(scans.count) forms deep: \(Form.maximumNesting) is the "
          + "most.")
    }
    // The inner delimiter lines stand inside this part, too; the last one, which two hyphens close, is
    // as long as any.
    let delimiter = Array("--\(inner.boundary)--".utf8)
    for index in scans.indices { scans[index].restart() }
    if let collision = delimiter.withUnsafeBytes({ Self.scan($0, with: &scans) }) {
      throw CollisionScan.collision(collision, in: part.name)
    }
    try add(inner)
  }

  private static func scan(
    _ bytes: UnsafeRawBufferPointer, with scans: inout [CollisionScan]
  ) -> Boundary? {
    for index in scans.indices where scans[index].finds(in: bytes) { return scans[index].boundary }
    return nil
  }

  // MARK: Segments

  /// Where the next byte stands, or nil behind a part of unknown length.
  private func position() throws(MultipartError) -> Int64? {
    guard let total else { return nil }
    return try sum(total, Int64(literals.count - uncovered))
  }

  /// How many bytes were added since there were so many segments and so many literal bytes.
  private func length(
    fromSegment firstSegment: Int, literal firstLiteral: Int
  ) throws(MultipartError) -> Int64? {
    var length = Int64(literals.count - firstLiteral)
    for segment in segments[firstSegment...] {
      if case .literal = segment.content { continue }
      guard let more = segment.length else { return nil }
      length = try sum(length, more)
    }
    return length
  }

  private mutating func coverLiterals() throws(MultipartError) {
    guard uncovered < literals.count else { return }
    let range = uncovered..<literals.count
    uncovered = literals.count
    try append(Segment(content: .literal(range), length: Int64(range.count), name: ""))
  }

  private mutating func add(
    _ content: Segment.Content, length: Int64?, of part: Part
  ) throws(MultipartError) {
    try coverLiterals()
    try append(Segment(content: content, length: length, name: part.name))
  }

  private mutating func append(_ segment: Segment) throws(MultipartError) {
    segments.append(segment)
    guard let sumSoFar = total else { return }
    guard let length = segment.length else {
      total = nil
      return
    }
    total = try sum(sumSoFar, length)
    if let total { starts.append(total) }
  }

  private func sum(_ one: Int64, _ other: Int64) throws(MultipartError) -> Int64 {
    let (sum, overflow) = one.addingReportingOverflow(other)
    guard !overflow else {
      throw MultipartError(
        .bodyTooLarge, on: "the body",
        "The body would have more bytes than a 64-bit Content-Length can say: leave parts out.")
    }
    return sum
  }
}
