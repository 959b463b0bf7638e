extension Form {
  /// Lays out the body: checks all names and types, reads the status of all files, and adds up the
  /// length.
  ///
  /// Files are opened only for `verify`, and by a detector that reads their first bytes. If the first file of the form
  /// was opened by the detector, it stays open for the first reader. All other files are closed, and opened again when
  /// they are read.
  ///
  /// - Parameters:
  ///   - detector: finds the types of parts that have a file name and no type. By default their
  ///     extensions decide; ``NoDetection`` finds none.
  ///   - verify: whether to search files and streams for the boundary. Parts in memory are always searched. Files are
  ///     searched now, so they are read twice; streams are searched while they are read. A random boundary does not
  ///     need this.
  /// - Throws: the first error, with the name of the part or the path.
  public func layout(
    detector: any MediaTypeDetector = ExtensionTable.builtIn, verify: Bool = false
  ) throws(MultipartError) -> BodyLayout {
    var builder = LayoutBuilder(detector: detector, verifies: verify)
    try builder.add(self)
    return try builder.finish(self, as: contentType)
  }
}

extension PartBody {
  /// Lays out the body alone, without a form: for example a file that is sent by PUT.
  ///
  /// As in a form, a file must not change until its last byte is read, and a stream must have its
  /// announced length.
  ///
  /// - Throws: the first error, with the path.
  public func layout(as type: MediaType = .octetStream) throws(MultipartError) -> BodyLayout {
    if case .form(let form) = kind { return try form.layout() }
    guard type.isWellFormed else {
      throw MultipartError(
        .invalidMediaType, on: type.description,
        "The type \(type.description.quoted) of the body is not a media type: write it as type/subtype, "
          + "such as image/png.")
    }
    var builder = LayoutBuilder(detector: NoDetection(), verifies: false)
    try builder.add(self)
    return try builder.finish(nil, as: type.description)
  }
}

/// Collects the segments in one walk over a form. The layout adds up the lengths of the segments.
private struct LayoutBuilder {
  let detector: any MediaTypeDetector
  let verifies: Bool

  private var literals: [UInt8] = []
  /// The start of the literal bytes that are not in a segment yet.
  private var uncovered = 0
  private var segments: [Segment] = []
  private var scannedStreams: [Int: [Boundary]] = [:]
  private var places: [BodyLayout.Place] = []
  /// Whether a file was added. Only the first may stay open, so that two files are never open at
  /// the same time.
  private var hasFile = false
  /// The pipes and descriptors that parts will read to their end.
  private var readToEnd: Set<FileIdentity> = []
  /// A scan for each form that the current part is in, the outermost first: the part must not
  /// contain their delimiters.
  private var scans: [CollisionScan] = []

  /// Parts in memory up to this size are copied into the literal bytes, which is cheaper than a
  /// segment.
  private static let inlineSize = 1024
  /// Capacity for the literal bytes of a typical part: delimiter, headers and a short text. With
  /// 100,000 parts it saves copies of a growing array. Capacity that is not used costs no memory.
  private static let literalCapacity = 192

  init(detector: any MediaTypeDetector, verifies: Bool) {
    self.detector = detector
    self.verifies = verifies
  }

  mutating func finish(
    _ form: Form?, as contentType: String
  ) throws(MultipartError) -> BodyLayout {
    coverLiterals()
    return try BodyLayout(
      form: form, contentType: contentType, literals: literals, segments: segments,
      scannedStreams: scannedStreams, places: places)
  }

  /// Adds a body without a form.
  mutating func add(_ body: PartBody) throws(MultipartError) {
    let part = Part(body: body)
    try add(try lookUp(part, browserText: false), of: part)
  }

  mutating func add(_ form: Form) throws(MultipartError) {
    try form.checkType()
    scans.append(CollisionScan(for: form.boundary))
    let isOutermost = scans.count == 1
    if isOutermost {
      places.reserveCapacity(form.parts.count)
      literals.reserveCapacity(form.parts.count * Self.literalCapacity)
    }

    // All files are looked up before a detector reads any file: a FIFO may keep the detector waiting, and a file could
    // change meanwhile.
    var files: [Int: PartContent] = [:]
    for (index, part) in form.parts.enumerated() where part.body.isFile {
      files[index] = try lookUp(part, browserText: form.browserText)
    }
    for (index, part) in form.parts.enumerated() {
      let delimiter = mark
      form.boundary.appendDelimiter(isFirst: index == 0, closes: false, to: &literals)
      var content: PartContent
      if let file = files[index] {
        content = file
      } else {
        content = try lookUp(part, browserText: form.browserText)
      }
      let type = try resolveType(of: part, with: &content)
      let headers = try addHeaders(of: part, type: type, in: form)
      let begin = mark
      try add(content, of: part)
      guard isOutermost else { continue }
      places.append(
        BodyLayout.Place(
          headers: headers, type: type, delimiter: delimiter, begin: begin, end: mark))
    }
    form.boundary.appendDelimiter(isFirst: form.parts.isEmpty, closes: true, to: &literals)
    scans.removeLast()
  }

  // MARK: A part

  private mutating func addHeaders(
    of part: Part, type: MediaType?, in form: Form
  ) throws(MultipartError) -> Range<Int> {
    try part.headers.checkOfPart()
    let start = literals.count
    try HeaderBlock.append(part, type: type, in: form, to: &literals)
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
      guard let type = part.type else { return inner.typeInsideForm }
      guard type.isMultipartWithoutBoundary else {
        throw MultipartError(
          .invalidMediaType, on: part.name,
          "Part \(part.name.quoted) is a form, which can't have the type "
            + "\(type.description.quoted): give it a multipart type without a boundary, or none.")
      }
      return inner.type(as: type)
    }
    var known = part.type
    if known == nil { known = try detectType(of: part, with: &content) }
    guard let type = known else { return nil }
    // A detected type and a literal were not checked yet.
    guard type.isWellFormed else {
      throw MultipartError(
        .invalidMediaType, on: part.name,
        "The type \(type.description.quoted) of part \(part.name.quoted) is not a media type: write it "
          + "as type/subtype, such as image/png.")
    }
    return type
  }

  private func detectType(
    of part: Part, with content: inout PartContent
  ) throws(MultipartError) -> MediaType? {
    guard let filename = part.filename else { return nil }
    let preview = ContentPreview(content, of: part.name, keepsFile: !hasFile)
    let type = detector.mediaType(
      of: UntypedPart(filename: filename, path: part.body.path, content: preview))
    if let failure = preview.failure { throw failure }
    content = preview.content
    return type ?? .octetStream
  }

  /// Looks up the contents of a part. Opens nothing.
  private mutating func lookUp(
    _ part: Part, browserText: Bool
  ) throws(MultipartError) -> PartContent {
    switch part.body.kind {
    case .text(let text):
      return .memory(
        MemoryBytes(
          browserText ? EscapingProfile.withBrowserNewlines(text.utf8) : Array(text.utf8)))
    case .bytes(let bytes): return .memory(bytes)
    case .file(let origin): return try content(of: origin.lookUp(for: part.name), for: part)
    case .pinned(let file, let range): return .file(try file.extent(range, part: part.name))
    case .closed(let file): return .file(try file.extent(part: part.name))
    case .descriptor(let origin): return try content(of: origin.lookUp(for: part.name), for: part)
    case .stream(let origin): return .stream(origin)
    case .form(let inner): return .form(inner)
    case .invalid(let error): throw error
    }
  }

  private mutating func content(
    of finding: FileLookup, for part: Part
  ) throws(MultipartError) -> PartContent {
    switch finding {
    case .extent(let extent): return .file(extent)
    case .stream(let stream, let status):
      // Two parts can read the same device. But from a pipe, the second part would get only the bytes that the first
      // part leaves.
      if status.kind != .device, !readToEnd.insert(status.identity).inserted {
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
      add(.memory(bytes), length: Int64(bytes.count), of: part)
    }
  }

  private mutating func addFile(_ extent: FileExtent, of part: Part) throws(MultipartError) {
    hasFile = true
    var extent = extent
    // The bytes that are searched for the boundary must be the bytes that are sent.
    if verifies, extent.growing != nil {
      extent.growing = GrowingFile(.compared, seen: extent.identity)
    }
    if verifies || extent.growing?.growth == .compared {
      let reader = try FileReader(extent, part: part.name, opened: extent.kept?.take())
      var searched = verifies ? scans : []
      if let collision = try reader.scan(with: &searched) {
        throw CollisionScan.collision(collision, in: part.name)
      }
      extent.hash = reader.hash
    }
    add(.file(extent), length: extent.length, of: part)
  }

  private mutating func addStream(
    _ origin: StreamOrigin, of part: Part
  ) throws(MultipartError) {
    if let length = origin.length, length < 0 {
      throw MultipartError(
        .streamFailed, on: part.name,
        "The stream\(ofPart(part.name)) has a length of \(length) bytes: give 0 or more, or nil."
      )
    }
    coverLiterals()
    if verifies { scannedStreams[segments.count] = scans.map(\.boundary) }
    add(.stream(origin.inLayout()), length: origin.length, of: part)
  }

  private mutating func addForm(_ inner: Form, of part: Part) throws(MultipartError) {
    guard scans.count < Form.maximumNesting else {
      throw MultipartError(
        .nestedTooDeep, on: part.name,
        "Part \(part.name.quoted) is a form inside \(scans.count) forms: at most \(Form.maximumNesting) are "
          + "allowed.")
    }
    // The delimiters of the inner form are inside this part too. The last delimiter, with two hyphens at its end, is
    // the longest.
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

  /// The place of the next byte.
  private var mark: BodyLayout.Mark {
    BodyLayout.Mark(segment: segments.count, skip: literals.count - uncovered)
  }

  private mutating func coverLiterals() {
    guard uncovered < literals.count else { return }
    let range = uncovered..<literals.count
    uncovered = literals.count
    segments.append(Segment(content: .literal(range), length: Int64(range.count), name: ""))
  }

  private mutating func add(_ content: Segment.Content, length: Int64?, of part: Part) {
    coverLiterals()
    segments.append(Segment(content: content, length: length, name: part.name))
  }
}
