import FormStreamMultipart
import FormStreamPlatform

/// Reads the lines of a head, or of the trailers of a chunked body, from memory that grows at its end.
///
/// A scan keeps offsets only. It stops at the first byte that decides something, so what it finds doesn't depend on how the head
/// was divided.
struct HeadScan: Sendable {
  enum Finding {
    /// The head isn't complete.
    case needsMore
    /// The head has this many bytes.
    case complete(Int)
    case error(WireError)
  }

  /// What is read.
  enum Section: Sendable {
    /// A status line and headers.
    case response
    /// Headers only. Every line must end with CRLF, as all lines of a chunked body.
    case trailers
  }

  let section: Section
  let limits: HeadLimits
  /// The error if all bytes are more than `limits.head`.
  let sizeError: WireError

  private(set) var lines: [HeaderLine] = []
  /// The status line; nil until it is complete.
  private(set) var statusLine: StatusLine?
  private var lineStart = 0
  /// The offset of the first byte that wasn't looked at.
  private var next = 0

  init(_ section: Section, _ limits: HeadLimits, sizeError: WireError? = nil) {
    (self.section, self.limits) = (section, limits)
    self.sizeError = sizeError ?? .overLimit(.head, limits.head)
  }

  /// Starts with another head. The memory for the lines is used again.
  mutating func reset() {
    lines.removeAll(keepingCapacity: lines.capacity <= 64)
    statusLine = nil
    lineStart = 0
    next = 0
  }

  /// Continues in memory that begins with the same bytes as before.
  mutating func scan(_ head: UnsafeRawBufferPointer) -> Finding {
    while true {
      if isInStatusLine, let odd = StatusLine.firstOddByte(of: head, upTo: room) {
        return .error(.notHTTP(Array(head[...odd])))
      }
      next = head.firstLineBreakOrNUL(from: next)
      if let error = limitError(at: min(next + 1, head.count)) { return .error(error) }
      guard next < head.count else { return .needsMore }

      var end = next + 1
      switch head[next] {
      case .lf:
        if section == .trailers { return .error(.bareLF) }
      case .cr:
        // RFC 9112 §2.2: "A recipient of such a bare CR MUST consider that element to be invalid or replace each bare CR with SP".
        guard end < head.count else { return .needsMore }
        guard head[end] == .lf else { return .error(.forbiddenByte(.cr, offset: next)) }
        end += 1
        if let error = limitError(at: end) { return .error(error) }
      default:
        // RFC 9110 §5.5: "Field values containing CR, LF, or NUL characters are invalid and dangerous".
        return .error(.forbiddenByte(0, offset: next))
      }
      if lineStart == next, !isInStatusLine { return .complete(end) }
      if let error = readLine(head, lineStart..<next) { return .error(error) }
      lineStart = end
      next = end
    }
  }

  private var isInStatusLine: Bool { section == .response && statusLine == nil }

  /// The offset that the current line can't exceed.
  private var room: Int {
    let (end, overflow) = lineStart.addingReportingOverflow(limits.line)
    return overflow ? limits.head : min(end, limits.head)
  }

  /// The error if bytes up to `end` exceed a limit.
  private func limitError(at end: Int) -> WireError? {
    guard end > room else { return nil }
    return room == limits.head ? sizeError : .overLimit(.line, limits.line)
  }

  private mutating func readLine(
    _ head: UnsafeRawBufferPointer, _ line: Range<Int>
  ) -> WireError? {
    guard !isInStatusLine else {
      statusLine = StatusLine(head, line)
      return statusLine == nil ? .statusLine(head.beginning(of: line)) : nil
    }
    return head[line.lowerBound].isBlank ? continueLine(head, line) : readHeader(head, line)
  }

  /// RFC 9112 §5: field-line = field-name ":" OWS field-value OWS
  private mutating func readHeader(
    _ head: UnsafeRawBufferPointer, _ line: Range<Int>
  ) -> WireError? {
    var index = line.lowerBound
    while index < line.upperBound, HTTPSyntax.isTokenByte(head[index]) { index += 1 }
    let name = line.lowerBound..<index
    while index < line.upperBound, head[index].isBlank { index += 1 }
    guard !name.isEmpty, index < line.upperBound, head[index] == UInt8(ascii: ":") else {
      return .notHeader(head.beginning(of: line))
    }
    // RFC 9112 §5.1: "A proxy MUST remove any such whitespace from a response message before forwarding the message downstream."
    // A proxy that doesn't know the rule frames the message in another way than one that does.
    if index > name.upperBound, let header = head.framingHeader(name) {
      return .disguisedFraming(header.name)
    }
    guard lines.count < limits.headers else { return .overLimit(.headers, limits.headers) }
    if lines.isEmpty { lines.reserveCapacity(16) }
    lines.append(HeaderLine(name: name, value: head.trimmingBlanks((index + 1)..<line.upperBound)))
    return nil
  }

  /// RFC 9112 §5.2: obs-fold = OWS CRLF RWS
  private mutating func continueLine(
    _ head: UnsafeRawBufferPointer, _ line: Range<Int>
  ) -> WireError? {
    // RFC 9112 §2.2: "A recipient that receives whitespace between the start-line and the first header field MUST either reject
    // the message as invalid or consume each whitespace-preceded line without further processing".
    guard let last = lines.indices.last else { return .blankBeforeHeaders }
    if let header = head.framingHeader(lines[last].name) { return .disguisedFraming(header.name) }
    let more = head.trimmingBlanks(line)
    lines[last].isFolded = true
    if more.isEmpty { return nil }
    let start = lines[last].value.isEmpty ? more.lowerBound : lines[last].value.lowerBound
    lines[last].value = start..<more.upperBound
    return nil
  }
}

extension UnsafeRawBufferPointer {
  fileprivate func framingHeader(_ name: Range<Int>) -> FramingHeader? {
    FramingHeader(UnsafeRawBufferPointer(rebasing: self[name]))
  }

  fileprivate func trimmingBlanks(_ range: Range<Int>) -> Range<Int> {
    var (start, end) = (range.lowerBound, range.upperBound)
    while start < end, self[start].isBlank { start += 1 }
    while end > start, self[end - 1].isBlank { end -= 1 }
    return start..<end
  }

  fileprivate func beginning(of line: Range<Int>) -> [UInt8] {
    Array(self[line].prefix(WireError.shownBytes))
  }
}
