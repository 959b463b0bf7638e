import FormStreamMultipart
import FormStreamPlatform

/// Finds the data of a chunked body in bytes of any division.
///
/// RFC 9112 §7.1: chunked-body = *chunk last-chunk trailer-section CRLF;
/// chunk = chunk-size [ chunk-ext ] CRLF chunk-data CRLF
///
/// Every line ends with CRLF here, and a size is nothing but digits: a program that accepts more would see the end of the body
/// at another place.
struct ChunkReader: Sendable {
  enum Step {
    /// The input has nothing more.
    case needsMore
    /// Bytes of the body.
    case data(UnsafeRawBufferPointer)
    /// The last chunk was read; the trailers follow.
    case lastChunk
  }

  private enum State: Sendable {
    /// In the digits of a size.
    case size
    /// After the digits; only white space came since.
    case afterSize
    case chunkExtension
    case sizeLF
    case data
    case dataCR
    case dataLF
  }

  /// Extensions and trailers together may have this many bytes more than the data.
  static let freeOverhead: Int64 = 16 * 1024

  private var state = State.size
  private var digits = 0
  /// The size of the chunk; from the start of its data on, how much of the data is still to come.
  private var left: Int64 = 0
  /// The bytes of the body so far.
  private(set) var received: Int64 = 0
  private var overhead: Int64 = 0

  /// How many bytes extensions and trailers may have. The bytes of the body so far add to the number, so that a body in many
  /// chunks may have an extension in each.
  private var maximumOverhead: Int64 {
    let (sum, overflow) = Self.freeOverhead.addingReportingOverflow(received)
    return overflow ? .max : sum
  }

  /// How many bytes the trailers may have.
  var trailerRoom: Int { Int(clamping: maximumOverhead - overhead) }

  /// The error if extensions and trailers have more bytes.
  var overheadError: WireError { .overLimit(.chunkOverhead, Int(clamping: maximumOverhead)) }

  /// Reads from the front of the input.
  mutating func next(_ input: inout UnsafeRawBufferPointer) throws(WireError) -> Step {
    var index = 0
    while index < input.count {
      if state == .data {
        _ = input.takeFirst(index)
        let piece = input.takeFirst(Int(min(left, Int64(input.count))))
        left -= Int64(piece.count)
        received = received.addingReportingOverflow(Int64(piece.count)).partialValue
        if left == 0 { state = .dataCR }
        return .data(piece)
      }
      let isLast = try readFraming(input[index])
      index += 1
      if isLast {
        _ = input.takeFirst(index)
        return .lastChunk
      }
    }
    _ = input.takeFirst(index)
    return .needsMore
  }

  /// Reads one byte of the framing. Returns whether it ends the line of the last chunk.
  private mutating func readFraming(_ byte: UInt8) throws(WireError) -> Bool {
    switch state {
    case .size: try readSize(byte)
    case .afterSize: try readAfterSize(byte)
    case .chunkExtension: try readExtension(byte)
    case .sizeLF:
      guard byte == .lf else { throw .chunkSize(byte) }
      guard left > 0 else { return true }
      state = .data
    case .data: break
    case .dataCR:
      guard byte == .cr else { throw .chunkEnd(byte) }
      state = .dataLF
    case .dataLF:
      guard byte == .lf else { throw .chunkEnd(byte) }
      (state, digits) = (.size, 0)
    }
    return false
  }

  /// RFC 9112 §7.1: chunk-size = 1*HEXDIG. "A recipient MUST anticipate potentially large hexadecimal numerals and prevent
  /// parsing errors due to integer conversion overflows".
  private mutating func readSize(_ byte: UInt8) throws(WireError) {
    guard let digit = Hexadecimal.value(of: byte) else {
      guard digits > 0 else { throw .chunkSize(byte) }
      return try readAfterSize(byte)
    }
    guard left <= Int64.max >> 4 else { throw .chunkSize(nil) }
    left = left << 4 | Int64(digit)
    digits += 1
    // 16 digits suffice. Others are zeros.
    if digits > 16 { try countOverhead() }
  }

  /// RFC 9112 §7.1.1: chunk-ext = *( BWS ";" BWS chunk-ext-name [ BWS "=" BWS chunk-ext-val ] )
  private mutating func readAfterSize(_ byte: UInt8) throws(WireError) {
    switch byte {
    case .cr: return state = .sizeLF
    case UInt8(ascii: ";"): state = .chunkExtension
    case _ where byte.isBlank: state = .afterSize
    default: throw .chunkSize(byte)
    }
    try countOverhead()
  }

  /// RFC 9112 §7.1.1: "A recipient MUST ignore unrecognized chunk extensions."
  private mutating func readExtension(_ byte: UInt8) throws(WireError) {
    if byte == .cr { return state = .sizeLF }
    guard HTTPSyntax.isFieldValueByte(byte) else { throw .chunkExtension(byte) }
    try countOverhead()
  }

  private mutating func countOverhead() throws(WireError) {
    guard overhead < maximumOverhead else { throw overheadError }
    overhead += 1
  }
}
