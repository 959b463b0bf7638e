import FormStreamPlatform

// This file is longer than 400 lines because it is one state machine: all its steps use the same
// private state.

/// Parses a multipart body: reads bytes and returns events.
///
/// The parser does no I/O. It keeps at most one header block and the bytes that may be the beginning of a delimiter.
/// The events are the same however the input is divided, but the bytes of a part may be divided at other places.
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
/// The parser is as lenient as RFC 2046 §5.1.1: it skips text before the first delimiter and after the last one; white
/// space may follow a delimiter; the line break after the last delimiter may be missing; a header may continue on the
/// next line; and a delimiter may follow a header block immediately. But the text before the first delimiter must not
/// contain a damaged delimiter, which is a delimiter that is not alone on its line. Skipped text must not contain
/// `Content-Disposition:`. In both cases, a part would be lost. These and all other violations are
/// ``MultipartError/Code/malformedBody``. After an error, every call throws the error again.
///
/// A parser is for one body: beginning a second body throws ``MultipartError/Code/parserUsed``. Bytes that are passed
/// to `feed` or ``next(_:)`` after ``finish()`` begin a second body.
public final class FormParser {
  /// An event of the body.
  public enum Event {
    /// A part begins. This case is indirect to keep the other events small: they are more frequent.
    indirect case partBegan(PartHead)
    /// Bytes of the part, at least one. The buffer is valid until the next call of the parser.
    case partBytes(UnsafeRawBufferPointer)
    /// The part is complete.
    case partEnded
    /// The last delimiter was read: no part follows.
    case formEnded
  }

  private enum State {
    /// In the preamble or in a part, before a delimiter.
    case data
    /// After the text of a delimiter: the next bytes show whether the text is a delimiter.
    case delimiterTail
    /// In the white space after a delimiter.
    case padding
    case headers
    /// After the end of the last part: the end of the form is reported next.
    case closing
    case epilogue
  }

  /// The number of bytes that were read.
  public private(set) var offset: Int64 = 0

  private let options: Options
  private let scanner: BoundaryScanner
  private let held: HeldBytes
  private var state = State.data
  private var failure: MultipartError?
  /// Whether `begin` was called, for a complete body.
  private var isTaken = false
  /// Whether `finish` was called.
  private var hasEnded = false

  /// How many bytes at the front of `held` are finished: they were returned with the last event, or
  /// skipped.
  private var finishedInHeld = 0
  /// How many bytes at the front of `held` are an implied line break, which was not in the input.
  private var impliedInHeld = 0
  /// How many bytes of the most recent delimiter are an implied line break.
  private var impliedInDelimiter = 0
  /// Whether the CR before the most recent delimiter belongs to the delimiter.
  private var hasCRBeforeDelimiter = false
  /// The bytes that were read after the text of the most recent delimiter.
  private var delimiterTail: [UInt8] = []

  private var headerBlock: [UInt8] = []
  private var headerBlockOffset: Int64 = 0
  private var headerLineStart = 0
  /// The bytes in the header blocks of all parts.
  private var headerBytes: Int64 = 0

  private var isInPart = false
  private var parts = 0
  private var partOffset: Int64 = 0
  private var partBytes: Int64 = 0
  /// Where the preamble or the epilogue begins.
  private var skippedOffset: Int64 = 0
  /// Searches the preamble for a damaged delimiter; nil before its first byte.
  private var preambleSearch: DamagedDelimiter?
  /// Where the first damaged delimiter in the preamble begins; nil if none was found.
  private var damagedOffset: Int64?
  /// How many bytes of the preamble or the epilogue were skipped.
  private var skippedBytes: Int64 = 0
  /// Searches the preamble, and then the epilogue, for the headers of a part.
  private var skippedPartSearch = SkippedPart()
  /// Where the first headers found in skipped text begin; nil if none were found.
  private var skippedPartOffset: Int64?

  /// Creates a parser for one body.
  ///
  /// - Parameters:
  ///   - boundary: the `boundary` parameter of the body's Content-Type, without quotes.
  ///   - options: how strictly the body is read, and the limits.
  /// - Throws: `invalidBoundary` if the boundary is empty, contains a line break, or is longer than
  ///   the limit.
  public init(boundary: String, options: Options = Options()) throws(MultipartError) {
    let text = Array(boundary.utf8)
    guard !text.isEmpty, text.count <= options.limits.boundary, !text.contains(0x0A),
      !text.contains(0x0D)
    else {
      throw MultipartError(
        .invalidBoundary, on: boundary,
        "The boundary \(boundary.quoted) is not valid: it must have 1 to \(counted(options.limits.boundary, "byte", "bytes")) "
          + "(\(Limits.Name.boundary)) and no line break.")
    }
    self.options = options
    let lineBreak: [UInt8] = options.allowsBareLF ? [0x0A] : [0x0D, 0x0A]
    scanner = BoundaryScanner(for: lineBreak + Array("--".utf8) + text)
    held = HeldBytes(capacity: 2 * scanner.delimiter.count + 8)
    beginData()
  }

  /// Returns the next event, or nil if more input is needed. Removes the bytes that were read from `input`.
  ///
  /// - Throws: `malformedBody` and `limitExceeded`, with the offset; `parserUsed` after ``finish()``.
  public func next(_ input: inout UnsafeRawBufferPointer) throws(MultipartError) -> Event? {
    if hasEnded, failure == nil, !input.isEmpty { throw .parserUsed }
    return try keepingFailure { () throws(MultipartError) in
      let limit = max(0, options.limits.totalBytes ?? .max)
      let room = Int(clamping: limit - offset)
      // The input is cut here, so that the limit is exceeded at the same byte however the input is
      // divided.
      var allowed = UnsafeRawBufferPointer(rebasing: input.prefix(max(0, room)))
      let size = allowed.count
      let event = try advance(&allowed)
      input = UnsafeRawBufferPointer(rebasing: input[(size - allowed.count)...])
      guard case nil = event, !input.isEmpty else { return event }
      throw .overLimit(
        "The body has more than \(limit.counting("byte"))", at: limit, limit: .totalBytes)
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

  /// Ends the input. Returns the events that depended on the end, one for each call, then nil.
  ///
  /// - Throws: `bodyIncomplete` if the last delimiter is missing.
  public func finish() throws(MultipartError) -> Event? {
    hasEnded = true
    return try keepingFailure { () throws(MultipartError) in
      switch state {
      case .epilogue: return nil
      case .closing:
        state = .epilogue
        return .formEnded
      case .delimiterTail where delimiterTail == [UInt8(ascii: "-"), UInt8(ascii: "-")]:
        return try close()
      default:
        throw MultipartError(
          .bodyIncomplete, on: "the body",
          "The body ends at byte \(offset) without its last delimiter: it was cut off, or it has another "
            + "boundary.", offset: offset)
      }
    }
  }

  /// Begins a complete body.
  ///
  /// - Throws: `parserUsed` if anything was parsed before.
  func begin() throws(MultipartError) {
    if let failure { throw failure }
    guard !isTaken, !hasEnded, offset == 0 else { throw .parserUsed }
    isTaken = true
  }

  /// Makes every further call fail, because bytes that were not parsed are lost.
  func giveUp(because error: any Error) {
    failure =
      failure
      ?? MultipartError(
        .parserUsed, on: "the parser",
        "Handling an event before byte \(offset) failed, and the bytes after it were dropped: create another parser.",
        offset: offset, underlying: error)
  }

  private func keepingFailure(
    _ body: () throws(MultipartError) -> Event?
  ) throws(MultipartError) -> Event? {
    if let failure { throw failure }
    dropFinished()
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
    case .data: return try readData(&input)
    case .delimiterTail: return try readDelimiterTail(&input)
    case .padding: return try readPadding(&input)
    case .headers: return try readHeaders(&input)
    case .closing, .epilogue:
      // The LF that ends the line of the last delimiter does not belong to the epilogue.
      if offset == skippedOffset, delimiterTail.last == 0x0D, input[0] == 0x0A {
        consume(1, of: &input)
        skippedOffset = offset
        delimiterTail.removeAll()
      }
      let count = input.count
      searchForPart(input, at: offset, limit: options.limits.epilogue)
      consume(count, of: &input)
      try refuseSkippedPart()
      try skip(
        count, limit: options.limits.epilogue, .epilogue, where: "after its last delimiter",
        otherwise: "send none")
      return .needsMore
    }
  }

  private func consume(_ count: Int, of input: inout UnsafeRawBufferPointer) {
    input = UnsafeRawBufferPointer(rebasing: input[count...])
    offset += Int64(count)
  }

  // MARK: Data

  /// A delimiter may be at the very start of a body or a part. So the data is read as if a line
  /// break preceded it.
  private func beginData() {
    let lineBreak = scanner.delimiter.prefix(options.allowsBareLF ? 1 : 2)
    Array(lineBreak).withUnsafeBytes(held.append)
    impliedInHeld = lineBreak.count
    state = .data
  }

  private func readData(_ input: inout UnsafeRawBufferPointer) throws(MultipartError) -> Step {
    guard held.count > 0 else { return try readDataInPlace(&input) }
    // Searches the held bytes, and enough of the input to show whether the held bytes begin a delimiter.
    let before = held.count
    let length = scanner.delimiter.count
    held.append(UnsafeRawBufferPointer(rebasing: input.prefix(length)))
    switch scanner.scan(held.bytes) {
    case .delimiter(let start):
      consume(start + length - before, of: &input)
      held.truncate(to: start)
      impliedInDelimiter = max(0, impliedInHeld - start)
      return try foundDelimiter(
        UnsafeRawBufferPointer(rebasing: held.bytes.dropFirst(impliedInHeld)))
    case .data(let end):
      let end = withoutCR(before: end, in: held.bytes)
      if end >= before {
        held.truncate(to: before)
      } else {
        consume(input.count, of: &input)
      }
      finishedInHeld = min(end, before)
      return try deliver(
        UnsafeRawBufferPointer(rebasing: held.bytes[..<finishedInHeld].dropFirst(impliedInHeld)))
    }
  }

  private func readDataInPlace(
    _ input: inout UnsafeRawBufferPointer
  ) throws(MultipartError) -> Step {
    let bytes = input
    switch scanner.scan(bytes) {
    case .delimiter(let start):
      consume(start + scanner.delimiter.count, of: &input)
      impliedInDelimiter = 0
      return try foundDelimiter(UnsafeRawBufferPointer(rebasing: bytes[..<start]))
    case .data(let end):
      let end = withoutCR(before: end, in: bytes)
      consume(bytes.count, of: &input)
      held.append(UnsafeRawBufferPointer(rebasing: bytes[end...]))
      return try deliver(UnsafeRawBufferPointer(rebasing: bytes[..<end]))
    }
  }

  /// If an LF alone may end a line, a CR at the end may belong to the delimiter that follows.
  private func withoutCR(before end: Int, in bytes: UnsafeRawBufferPointer) -> Int {
    options.allowsBareLF && end > 0 && bytes[end - 1] == 0x0D ? end - 1 : end
  }

  private func foundDelimiter(_ bytes: UnsafeRawBufferPointer) throws(MultipartError) -> Step {
    hasCRBeforeDelimiter = options.allowsBareLF && bytes.last == 0x0D
    finishedInHeld = held.count
    state = .delimiterTail
    delimiterTail.removeAll(keepingCapacity: true)
    return try deliver(
      hasCRBeforeDelimiter ? UnsafeRawBufferPointer(rebasing: bytes.dropLast()) : bytes)
  }

  private func deliver(_ bytes: UnsafeRawBufferPointer) throws(MultipartError) -> Step {
    guard !bytes.isEmpty else {
      dropFinished()
      return .again
    }
    guard isInPart else {
      searchForPart(bytes, at: skippedBytes, limit: options.limits.preamble)
      try skip(
        bytes.count, limit: options.limits.preamble, .preamble, where: "before its first delimiter",
        otherwise: "name the boundary that the body's delimiter lines have")
      searchPreamble(bytes)
      dropFinished()
      return .again
    }
    let limit = max(0, options.limits.partBytes ?? .max)
    let allowed = bytes.prefix(Int(clamping: max(0, limit - partBytes)))
    partBytes += Int64(bytes.count)
    if partBytes > limit {
      let error = MultipartError.overLimit(
        "A part has more than \(limit.counting("byte"))", at: partOffset + limit,
        limit: .partBytes)
      guard !allowed.isEmpty else { throw error }
      // The bytes up to the limit are returned however the input is divided. The next call throws.
      failure = error
    }
    return .event(.partBytes(UnsafeRawBufferPointer(rebasing: allowed)))
  }

  private func searchPreamble(_ bytes: UnsafeRawBufferPointer) {
    guard damagedOffset == nil else { return }
    let lineBreak = options.allowsBareLF ? 1 : 2
    var search = preambleSearch ?? DamagedDelimiter(Array(scanner.delimiter.dropFirst(lineBreak)))
    let start = search.start(in: bytes)
    damagedOffset = start.map { skippedBytes - Int64(bytes.count) + Int64($0) }
    preambleSearch = search
  }

  /// RFC 2046 §5.1.1: "The boundary delimiter MUST occur at the beginning of a line". If the first delimiter is
  /// elsewhere, for example after a byte order mark, the delimiter and its part would be skipped without an error.
  private func refuseDamagedDelimiter() throws(MultipartError) {
    if damagedOffset == nil, let size = preambleSearch?.sizeAtEnd {
      damagedOffset = skippedBytes - Int64(size)
    }
    guard let damagedOffset else { return }
    throw .malformed(
      "a delimiter is not alone on a line that ends with CRLF, so the part after it would be lost",
      at: damagedOffset)
  }

  /// Searches skipped bytes for the headers of a part. The search ends at the limit, so that its result does not depend
  /// on how the input is divided.
  private func searchForPart(_ bytes: UnsafeRawBufferPointer, at start: Int64, limit: Int64) {
    guard skippedPartOffset == nil else { return }
    let searched = bytes.prefix(Int(clamping: max(0, limit - skippedBytes)))
    skippedPartOffset = skippedPartSearch.start(in: searched).map { start + Int64($0) }
  }

  /// Throws if a part was found in skipped text: before the first delimiter or after the last one. The delimiter of
  /// such a part is damaged or missing, or the part comes after the last delimiter.
  private func refuseSkippedPart() throws(MultipartError) {
    guard let skippedPartOffset else { return }
    throw .malformed(
      "the headers of a part stand before the first delimiter or after the last one, so the part would be lost",
      at: skippedPartOffset)
  }

  private func dropFinished() {
    held.dropFirst(finishedInHeld)
    impliedInHeld = max(0, impliedInHeld - finishedInHeld)
    finishedInHeld = 0
  }

  private func skip(
    _ count: Int, limit: Int64, _ name: Limits.Name, where location: String, otherwise: String
  ) throws(MultipartError) {
    skippedBytes += Int64(count)
    if skippedBytes > limit {
      throw .overLimit(
        "The body has more than \(limit.counting("byte")) \(location)", at: skippedOffset + limit,
        limit: name, otherwise: otherwise)
    }
  }

  // MARK: Delimiters

  /// RFC 2046 §5.1.1: a delimiter ends with white space and CRLF. The last delimiter has two hyphens before the white
  /// space. Text that begins like a delimiter and continues differently is data.
  private func readDelimiterTail(_ input: inout UnsafeRawBufferPointer) throws(MultipartError)
    -> Step
  {
    let byte = input[0]
    consume(1, of: &input)
    delimiterTail.append(byte)
    let hyphen = UInt8(ascii: "-")
    switch delimiterTail.count {
    case 1 where byte == 0x0A && options.allowsBareLF: return try beginPart(.headers)
    case 1 where byte.isBlank: return try beginPart(.padding)
    case 1 where byte == 0x0D || byte == hyphen: return .again
    case 2 where delimiterTail[0] == 0x0D && byte == 0x0A: return try beginPart(.headers)
    case 2 where delimiterTail[0] == hyphen && byte == hyphen: return .again
    case 3 where byte.isBlank || byte == 0x0D || byte == 0x0A: return .event(try close())
    default: return try rejectDelimiter()
    }
  }

  /// The text was not a delimiter: it is data, and the bytes after it are scanned again.
  private func rejectDelimiter() throws(MultipartError) -> Step {
    if hasCRBeforeDelimiter { [UInt8(0x0D)].withUnsafeBytes(held.append) }
    scanner.delimiter.withUnsafeBytes {
      held.append(UnsafeRawBufferPointer(rebasing: $0.dropFirst(impliedInDelimiter)))
    }
    finishedInHeld = held.count
    delimiterTail.withUnsafeBytes(held.append)
    impliedInHeld = 0
    state = .data
    return try deliver(UnsafeRawBufferPointer(rebasing: held.bytes[..<finishedInHeld]))
  }

  private func beginPart(_ next: State) throws(MultipartError) -> Step {
    if parts == 0 {
      try refuseDamagedDelimiter()
      try refuseSkippedPart()
    }
    parts += 1
    guard parts <= options.limits.parts else {
      let error = MultipartError.overLimit(
        "The body has more than \(options.limits.parts.counting("part"))", at: offset,
        limit: .parts)
      guard let event = endPart() else { throw error }
      // The previous part is complete, so its end is reported. The next call throws.
      failure = error
      return .event(event)
    }
    state = next
    headerBlock.removeAll(keepingCapacity: true)
    headerLineStart = 0
    headerBlockOffset = offset
    delimiterTail.removeAll(keepingCapacity: true)
    return endPart().map(Step.event) ?? .again
  }

  private func close() throws(MultipartError) -> Event {
    if parts == 0 {
      try refuseDamagedDelimiter()
      try refuseSkippedPart()
    }
    skippedPartSearch = SkippedPart()
    skippedOffset = offset
    skippedBytes = 0
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

  private func readPadding(_ input: inout UnsafeRawBufferPointer) throws(MultipartError) -> Step {
    let byte = input[0]
    consume(1, of: &input)
    let isAfterCR = !delimiterTail.isEmpty
    switch byte {
    case 0x20 where !isAfterCR, 0x09 where !isAfterCR:
      // The first blank was read before `headerBlockOffset`.
      guard offset - headerBlockOffset < Int64(options.limits.headerBlock) else {
        throw .overLimit(
          "A delimiter has more than \(options.limits.headerBlock.counting("byte")) of white space after it",
          at: offset - 1, limit: .headerBlock)
      }
      return .again
    case 0x0D where !isAfterCR:
      delimiterTail.append(byte)
      return .again
    case 0x0A where isAfterCR || options.allowsBareLF:
      headerBlockOffset = offset
      state = .headers
      return .again
    default:
      throw .malformed("a delimiter is followed by more than white space", at: offset - 1)
    }
  }
}

extension FormParser {
  private func readHeaders(_ input: inout UnsafeRawBufferPointer) throws(MultipartError) -> Step {
    let end = input.firstIndex(of: 0x0A, from: 0).map { $0 + 1 }
    let count = end ?? input.count
    try checkLimits(for: count)
    headerBlock.append(contentsOf: UnsafeRawBufferPointer(rebasing: input[..<count]))
    headerBytes += Int64(count)
    consume(count, of: &input)
    guard end != nil else { return .needsMore }

    let line = headerBlock[headerLineStart...]
    let lineOffset = headerBlockOffset + Int64(headerLineStart)
    headerLineStart = headerBlock.count
    if line.starts(with: scanner.delimiter.dropFirst(options.allowsBareLF ? 1 : 2)) {
      throw .malformed("there is a delimiter among the headers of a part", at: lineOffset)
    }
    let endsWithBareLF = line.dropLast().last != 0x0D
    if endsWithBareLF && !options.allowsBareLF {
      throw .malformed("a line ends with an LF alone", at: offset - 1)
    }
    guard line.count == (endsWithBareLF ? 1 : 2) else { return .again }
    let head = try parseHead()
    isInPart = true
    partOffset = offset
    partBytes = 0
    beginData()
    return .event(.partBegan(head))
  }

  private func checkLimits(for count: Int) throws(MultipartError) {
    let limits = options.limits
    let (inBlock, inAll) = (limits.headerBlock - headerBlock.count, limits.allHeaders - headerBytes)
    if Int64(inBlock) <= inAll, count > inBlock {
      throw .overLimit(
        "The headers of a part have more than \(limits.headerBlock.counting("byte"))",
        at: offset + Int64(inBlock), limit: .headerBlock)
    }
    if Int64(count) > inAll {
      throw .overLimit(
        "The headers of all parts have more than \(limits.allHeaders.counting("byte"))",
        at: offset + inAll, limit: .allHeaders)
    }
  }

  private func parseHead() throws(MultipartError) -> PartHead {
    do {
      return try PartHead(reading: headerBlock, options: options)
    } catch {
      let flawOffset = headerBlockOffset + Int64(error.offset)
      throw error.isOverLimit
        ? .overLimit(error.what, at: flawOffset, limit: .headersPerPart)
        : .malformed(error.what, at: flawOffset)
    }
  }
}
