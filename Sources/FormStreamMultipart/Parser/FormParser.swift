// Longer than other files here: it is one machine, whose states share what they hold, and nothing
// else may touch that.

/// Reads a multipart body back: bytes in, events out. It does no I/O and holds no more than one header
/// block and the bytes in which a delimiter may be beginning; however its input is cut, the events are
/// the same, but for where the bytes of a part are cut.
///
/// ```swift
/// let parser = try FormParser(boundary: "…")
/// while let chunk = … {
///   var input = chunk                       // an UnsafeRawBufferPointer
///   while let event = try parser.next(&input) { … }
/// }
/// while let event = try parser.finish() { … }
/// ```
///
/// It is lenient where RFC 2046 is: text before the first delimiter and behind the last is passed over;
/// white space may follow a delimiter; the line end behind the last one may be missing; headers may
/// go on over several lines; and a delimiter may follow a header block at once. All else is strict: see
/// ``MultipartError/Code/malformedBody``. A parser that has failed stays failed.
public final class FormParser {
  /// What was found.
  public enum Event {
    /// A part begins. (Indirect: the events of bytes are many, and small without it.)
    indirect case partBegan(PartHead)
    /// Bytes of the part, never none; they are lent until the parser is called again.
    case partBytes(UnsafeRawBufferPointer)
    /// The part is whole.
    case partEnded
    /// The last delimiter was read: no part follows.
    case formEnded
  }

  private enum State {
    /// Bytes of no part, or of one, up to a delimiter.
    case data
    /// Behind a delimiter's text: is it one?
    case tail
    /// White space behind a delimiter.
    case padding
    case headers
    /// Between the last part's end and the form's.
    case closing
    case epilogue
  }

  /// The number of bytes that have been taken in.
  public private(set) var offset: Int64 = 0

  private let options: Options
  private let scanner: BoundaryScanner
  private let held: HeldBytes
  private var state = State.data
  private var failure: MultipartError?

  /// How many bytes at the front of `held` were lent with the last event, or have been looked at.
  private var lent = 0
  /// How many bytes at the front of `held` never came: a line end stands before each stretch of data.
  private var unreal = 0
  /// The same of the last delimiter, and whether a CR stood before it that belongs to it.
  private var unrealInDelimiter = 0
  private var hasCRBeforeDelimiter = false
  /// What has been read behind the delimiter.
  private var tail: [UInt8] = []

  private var block: [UInt8] = []
  private var lineStart = 0
  private var blockOffset: Int64 = 0
  private var headerBytes: Int64 = 0

  private var isInPart = false
  private var parts = 0
  private var bodyOffset: Int64 = 0
  private var bytesOfPart: Int64 = 0
  private var noneOffset: Int64 = 0
  private var bytesOfNone: Int64 = 0

  /// - Parameters:
  ///   - boundary: the `boundary` parameter of the body's Content-Type, out of its quotes.
  ///   - options: what the body is read as.
  /// - Throws: `invalidBoundary` where it is empty, has a line break, or is longer than the limit.
  public init(boundary: String, options: Options = Options()) throws(MultipartError) {
    let text = Array(boundary.utf8)
    guard !text.isEmpty, text.count <= options.limits.boundary, !text.contains(0x0A),
      !text.contains(0x0D)
    else {
      throw MultipartError(
        .invalidBoundary, on: boundary,
        "The boundary \(boundary.quoted) can't part a body: it must have 1 to \(options.limits.boundary) "
          + "bytes and no line break.")
    }
    self.options = options
    let lineEnd: [UInt8] = options.allowsBareLF ? [0x0A] : [0x0D, 0x0A]
    scanner = BoundaryScanner(for: lineEnd + Array("--".utf8) + text)
    held = HeldBytes(capacity: 2 * scanner.delimiter.count + 8)
    beginData()
  }

  /// The next event, or nil where more input is needed; what was taken in is cut off `input`.
  public func next(_ input: inout UnsafeRawBufferPointer) throws(MultipartError) -> Event? {
    try guarded { () throws(MultipartError) in
      let limit = max(0, options.limits.totalBytes ?? .max)
      let room = Int(clamping: limit - offset)
      // Cut here, so that the limit is passed at the same byte however the input is cut.
      var allowed = UnsafeRawBufferPointer(rebasing: input.prefix(max(0, room)))
      let size = allowed.count
      let event = try advance(&allowed)
      input = UnsafeRawBufferPointer(rebasing: input[(size - allowed.count)...])
      guard case nil = event, !input.isEmpty else { return event }
      throw .overLimit("The body has more than \(limit) bytes", at: limit)
    }
  }

  private func advance(
    _ input: inout UnsafeRawBufferPointer
  ) throws(MultipartError) -> Event? {
    while true {
      switch try step(&input) {
      case .event(let event): return event
      case .again: continue
      case .needsMore: return nil
      }
    }
  }

  /// Tells that there is no more input: gives the events that were waiting for that, one at each call,
  /// then nil.
  ///
  /// - Throws: `bodyIncomplete` where the last delimiter has not come.
  public func finish() throws(MultipartError) -> Event? {
    try guarded { () throws(MultipartError) in
      switch state {
      case .epilogue: return nil
      case .closing:
        state = .epilogue
        return .formEnded
      case .tail where tail == [UInt8(ascii: "-"), UInt8(ascii: "-")]:
        return close()
      default:
        throw MultipartError(
          .bodyIncomplete, on: "the body",
          "The body ends at byte \(offset) without its last delimiter: it was cut off, or its boundary "
            + "is another.", offset: offset)
      }
    }
  }

  private func guarded(
    _ body: () throws(MultipartError) -> Event?
  ) throws(MultipartError) -> Event? {
    if let failure { throw failure }
    forgetLent()
    do throws(MultipartError) {
      return try body()
    } catch {
      failure = error
      throw error
    }
  }
}

extension FormParser {
  private enum Step {
    case event(Event)
    case again
    case needsMore
  }

  private func step(_ input: inout UnsafeRawBufferPointer) throws(MultipartError) -> Step {
    if case .closing = state {
      state = .epilogue
      return .event(.formEnded)
    }
    guard !input.isEmpty else { return .needsMore }
    switch state {
    case .data: return try data(&input)
    case .tail: return try readTail(&input)
    case .padding: return try padding(&input)
    case .headers: return try headers(&input)
    case .closing, .epilogue:
      // The rest of the last delimiter's line end is no epilogue.
      if offset == noneOffset, tail.last == 0x0D, input[0] == 0x0A {
        take(1, of: &input)
        noneOffset = offset
        tail.removeAll()
      }
      let count = input.count
      take(count, of: &input)
      try pass(
        count, limit: options.limits.epilogue, of: "behind its last delimiter",
        remedy: "send none, or raise the limit")
      return .needsMore
    }
  }

  private func take(_ count: Int, of input: inout UnsafeRawBufferPointer) {
    input = UnsafeRawBufferPointer(rebasing: input[count...])
    offset += Int64(count)
  }

  // MARK: Data

  /// A delimiter may stand at the very start of a body, and of a part: there as if a line had ended.
  private func beginData() {
    let lineEnd = scanner.delimiter.prefix(options.allowsBareLF ? 1 : 2)
    Array(lineEnd).withUnsafeBytes(held.append)
    unreal = lineEnd.count
    state = .data
  }

  private func data(_ input: inout UnsafeRawBufferPointer) throws(MultipartError) -> Step {
    guard held.count > 0 else { return try dataInPlace(&input) }
    // The seam: what is held, and enough of the input to decide it.
    let before = held.count
    let length = scanner.delimiter.count
    held.append(UnsafeRawBufferPointer(rebasing: input.prefix(length)))
    switch scanner.scan(held.bytes) {
    case .delimiter(let place):
      take(place + length - before, of: &input)
      held.truncate(to: place)
      unrealInDelimiter = max(0, unreal - place)
      return try found(UnsafeRawBufferPointer(rebasing: held.bytes.dropFirst(unreal)))
    case .data(let end):
      let end = withoutCR(before: end, in: held.bytes)
      if end >= before {
        held.truncate(to: before)
      } else {
        take(input.count, of: &input)
      }
      lent = min(end, before)
      return try give(UnsafeRawBufferPointer(rebasing: held.bytes[..<lent].dropFirst(unreal)))
    }
  }

  private func dataInPlace(
    _ input: inout UnsafeRawBufferPointer
  ) throws(MultipartError) -> Step {
    let bytes = input
    switch scanner.scan(bytes) {
    case .delimiter(let place):
      take(place + scanner.delimiter.count, of: &input)
      unrealInDelimiter = 0
      return try found(UnsafeRawBufferPointer(rebasing: bytes[..<place]))
    case .data(let end):
      let end = withoutCR(before: end, in: bytes)
      take(bytes.count, of: &input)
      held.append(UnsafeRawBufferPointer(rebasing: bytes[end...]))
      return try give(UnsafeRawBufferPointer(rebasing: bytes[..<end]))
    }
  }

  /// Where LF alone may end a line, a CR may be part of the delimiter that is to come.
  private func withoutCR(before end: Int, in bytes: UnsafeRawBufferPointer) -> Int {
    options.allowsBareLF && end > 0 && bytes[end - 1] == 0x0D ? end - 1 : end
  }

  private func found(_ bytes: UnsafeRawBufferPointer) throws(MultipartError) -> Step {
    hasCRBeforeDelimiter = options.allowsBareLF && bytes.last == 0x0D
    lent = held.count
    state = .tail
    tail.removeAll(keepingCapacity: true)
    return try give(
      hasCRBeforeDelimiter ? UnsafeRawBufferPointer(rebasing: bytes.dropLast()) : bytes)
  }

  private func give(_ bytes: UnsafeRawBufferPointer) throws(MultipartError) -> Step {
    guard !bytes.isEmpty else {
      forgetLent()
      return .again
    }
    guard isInPart else {
      try pass(
        bytes.count, limit: options.limits.preamble, of: "before its first delimiter",
        remedy: "its boundary is another, or it needs a higher limit")
      forgetLent()
      return .again
    }
    let limit = max(0, options.limits.partBytes ?? .max)
    let allowed = bytes.prefix(Int(clamping: max(0, limit - bytesOfPart)))
    bytesOfPart += Int64(bytes.count)
    if bytesOfPart > limit {
      let error = MultipartError.overLimit(
        "A part has more than \(limit) bytes", at: bodyOffset + limit)
      guard !allowed.isEmpty else { throw error }
      // The bytes up to the limit are given however the input is cut; the next call fails.
      failure = error
    }
    return .event(.partBytes(UnsafeRawBufferPointer(rebasing: allowed)))
  }

  private func forgetLent() {
    held.dropFirst(lent)
    unreal = max(0, unreal - lent)
    lent = 0
  }

  private func pass(
    _ count: Int, limit: Int64, of place: String, remedy: String
  ) throws(MultipartError) {
    bytesOfNone += Int64(count)
    if bytesOfNone > limit {
      throw .overLimit(
        "The body has more than \(limit) bytes \(place)", at: noneOffset + limit, remedy: remedy)
    }
  }

  // MARK: Delimiters

  /// RFC 2046 §5.1.1: a delimiter ends with white space and CRLF; the last one has two hyphens before
  /// them. What begins like one and goes on in another way is data.
  private func readTail(_ input: inout UnsafeRawBufferPointer) throws(MultipartError) -> Step {
    let byte = input[0]
    take(1, of: &input)
    tail.append(byte)
    let hyphen = UInt8(ascii: "-")
    switch tail.count {
    case 1 where byte == 0x0A && options.allowsBareLF: return try beginPart(.headers)
    case 1 where byte.isBlank: return try beginPart(.padding)
    case 1 where byte == 0x0D || byte == hyphen: return .again
    case 2 where tail[0] == 0x0D && byte == 0x0A: return try beginPart(.headers)
    case 2 where tail[0] == hyphen && byte == hyphen: return .again
    case 3 where byte.isBlank || byte == 0x0D || byte == 0x0A: return .event(close())
    default: return try takeBack()
    }
  }

  /// The delimiter was none: its text is data, and what follows it is looked at again.
  private func takeBack() throws(MultipartError) -> Step {
    if hasCRBeforeDelimiter { [UInt8(0x0D)].withUnsafeBytes(held.append) }
    scanner.delimiter.withUnsafeBytes {
      held.append(UnsafeRawBufferPointer(rebasing: $0.dropFirst(unrealInDelimiter)))
    }
    lent = held.count
    tail.withUnsafeBytes(held.append)
    unreal = 0
    state = .data
    return try give(UnsafeRawBufferPointer(rebasing: held.bytes[..<lent]))
  }

  private func beginPart(_ next: State) throws(MultipartError) -> Step {
    parts += 1
    guard parts <= options.limits.parts else {
      let error = MultipartError.overLimit(
        "The body has more than \(options.limits.parts) parts", at: offset)
      guard let event = endPart() else { throw error }
      // The part before is whole, and its end is told; the next call fails.
      failure = error
      return .event(event)
    }
    state = next
    block.removeAll(keepingCapacity: true)
    lineStart = 0
    blockOffset = offset
    tail.removeAll(keepingCapacity: true)
    return endPart().map(Step.event) ?? .again
  }

  private func close() -> Event {
    noneOffset = offset
    bytesOfNone = 0
    guard let event = endPart() else {
      state = .epilogue
      return .formEnded
    }
    state = .closing
    return event
  }

  private func endPart() -> Event? {
    defer { isInPart = false }
    return isInPart ? .partEnded : nil
  }

  private func padding(_ input: inout UnsafeRawBufferPointer) throws(MultipartError) -> Step {
    let byte = input[0]
    take(1, of: &input)
    let isBehindCR = !tail.isEmpty
    switch byte {
    case 0x20 where !isBehindCR, 0x09 where !isBehindCR:
      // The first one was read before `blockOffset`.
      guard offset - blockOffset < Int64(options.limits.headerBlock) else {
        throw .overLimit(
          "A delimiter has more than \(options.limits.headerBlock) bytes of white space behind it",
          at: offset - 1)
      }
      return .again
    case 0x0D where !isBehindCR:
      tail.append(byte)
      return .again
    case 0x0A where isBehindCR || options.allowsBareLF:
      blockOffset = offset
      state = .headers
      return .again
    default:
      throw .malformed("a delimiter is followed by more than white space", at: offset - 1)
    }
  }
}

extension FormParser {
  private func headers(_ input: inout UnsafeRawBufferPointer) throws(MultipartError) -> Step {
    let end = input.firstIndex(of: 0x0A, from: 0).map { $0 + 1 }
    let count = end ?? input.count
    try checkRoom(for: count)
    block.append(contentsOf: UnsafeRawBufferPointer(rebasing: input[..<count]))
    headerBytes += Int64(count)
    take(count, of: &input)
    guard end != nil else { return .needsMore }

    let line = block[lineStart...]
    let place = blockOffset + Int64(lineStart)
    lineStart = block.count
    if line.starts(with: scanner.delimiter.dropFirst(options.allowsBareLF ? 1 : 2)) {
      throw .malformed("a delimiter stands among the headers of a part", at: place)
    }
    let isBare = line.dropLast().last != 0x0D
    if isBare && !options.allowsBareLF {
      throw .malformed("a line ends with LF alone", at: offset - 1)
    }
    guard line.count == (isBare ? 1 : 2) else { return .again }
    let head = try head()
    isInPart = true
    bodyOffset = offset
    bytesOfPart = 0
    beginData()
    return .event(.partBegan(head))
  }

  private func checkRoom(for count: Int) throws(MultipartError) {
    let limits = options.limits
    let (inBlock, inAll) = (limits.headerBlock - block.count, limits.allHeaders - headerBytes)
    if Int64(inBlock) <= inAll, count > inBlock {
      throw .overLimit(
        "The headers of a part take more than \(limits.headerBlock) bytes",
        at: offset + Int64(inBlock))
    }
    if Int64(count) > inAll {
      throw .overLimit(
        "The headers of all parts take more than \(limits.allHeaders) bytes", at: offset + inAll)
    }
  }

  private func head() throws(MultipartError) -> PartHead {
    do {
      return try PartHead(reading: block, options: options)
    } catch {
      let place = blockOffset + Int64(error.place)
      throw error.isOverLimit
        ? .overLimit(error.what, at: place) : .malformed(error.what, at: place)
    }
  }
}
