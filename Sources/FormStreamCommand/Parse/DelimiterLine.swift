import FormStreamMultipart
import FormStreamPlatform

/// A body's first line with two hyphens and some text at its start: most likely the first delimiter.
struct DelimiterLine {
  let boundary: String
  /// Whether an LF alone ends the line.
  let endsWithBareLF: Bool
}

/// A source whose start was read to find the first delimiter line. A reader of this source still gets all bytes, from
/// the first byte on.
final class StartedSource: ByteSource {
  /// Nil if no line at the start is a delimiter line.
  private(set) var delimiterLine: DelimiterLine?
  /// How many bytes were searched for the delimiter line.
  private(set) var startSize = 0

  private let source: any ByteSource
  private var start: [UInt8] = []
  private var replayed = 0
  private var isAtEnd = false

  /// The largest number of bytes of a body that are kept, even if the limit for the preamble is larger.
  private static let maximumStart: Int64 = 1 << 20
  private static let pieceSize = 16 * 1024

  /// Reads a source up to its first delimiter line, but not further than a preamble may reach.
  init(_ source: any ByteSource, limits: FormParser.Limits) throws {
    self.source = source
    let preamble = min(max(0, limits.preamble), Self.maximumStart)
    let maximum = Int(preamble) + max(0, min(limits.boundary, Int(Self.maximumStart))) + 8
    var lineStart = 0
    while true {
      while lineStart <= preamble, let end = start[lineStart...].firstIndex(of: 0x0A) {
        delimiterLine = try delimiter(in: start[lineStart..<end], endingAt: end + 1, limits)
        if delimiterLine != nil { break }
        lineStart = end + 1
      }
      if delimiterLine != nil { break }
      guard lineStart <= preamble else { break }
      if isAtEnd {
        delimiterLine = try delimiter(in: start[lineStart...], endingAt: start.count, limits)
        break
      }
      guard start.count < maximum else { break }
      try readMore()
    }
    // `start.count` alone is not used, because it depends on the pieces in which the body arrived.
    startSize = min(start.count, Int(preamble))
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
    guard replayed < start.count else {
      return isAtEnd ? 0 : try source.read(into: buffer)
    }
    let piece = start[replayed...].prefix(buffer.count)
    buffer.copyBytes(from: piece)
    replayed += piece.count
    return piece.count
  }

  func interrupt() { source.interrupt() }

  func close() { source.close() }

  private func readMore() throws {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.pieceSize, alignment: 16)
    defer { buffer.deallocate() }
    let read = try source.read(into: buffer)
    start += UnsafeRawBufferPointer(rebasing: buffer[..<read])
    isAtEnd = read == 0
  }

  /// RFC 2046 §5.1.1: "The boundary delimiter MUST occur at the beginning of a line". White space may follow it.
  private func delimiter(
    in line: ArraySlice<UInt8>, endingAt end: Int, _ limits: FormParser.Limits
  ) throws -> DelimiterLine? {
    guard line.starts(with: "--".utf8) else { return nil }
    let isBare = line.last != 0x0D
    // The last line of the body may have no line break.
    let isLine = line.endIndex < start.endIndex
    var text = line.dropFirst(2)
    if !isBare { text.removeLast() }
    while text.last?.isBlank == true { text.removeLast() }
    // In a form without parts, the first delimiter is also the last one, which ends in two hyphens.
    if text.count > 2, text.suffix(2).elementsEqual("--".utf8), try !isFollowed(from: end) {
      text.removeLast(2)
    }
    guard !text.isEmpty, text.count <= limits.boundary, !text.contains(0x0D),
      let boundary = String(validating: text, as: UTF8.self)
    else { return nil }
    return DelimiterLine(boundary: boundary, endsWithBareLF: isBare && isLine)
  }

  /// Whether anything but white space comes after `offset`. Only a little more of the body is read to find out.
  private func isFollowed(from offset: Int) throws -> Bool {
    while true {
      if start[offset...].contains(where: { !$0.isBlank && $0 != 0x0D && $0 != 0x0A }) {
        return true
      }
      if isAtEnd { return false }
      guard start.count - offset < Self.pieceSize else { return true }
      try readMore()
    }
  }
}
