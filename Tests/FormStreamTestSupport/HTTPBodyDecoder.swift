import FormStreamMultipart

/// Takes a body out of its framing, in pieces of any size.
struct HTTPBodyDecoder {
  private enum State {
    case sizeLine
    case bytes(Int)
    case chunkEnd
    case trailers
    case untilClose
    case done
    /// The framing is broken or unknown, so the body's end can't be found.
    case broken
  }

  private(set) var chunkSizes: [Int] = []
  private(set) var trailers: [RecordedHeader] = []
  private(set) var faults: [String] = []
  private var state: State
  private let isChunked: Bool
  private var line: [UInt8] = []

  init(_ framing: RecordedFraming) {
    switch framing {
    case .none: (state, isChunked) = (.done, false)
    case .contentLength(let count): (state, isChunked) = (count == 0 ? .done : .bytes(count), false)
    case .chunked, .both: (state, isChunked) = (.sizeLine, true)
    case .untilClose: (state, isChunked) = (.untilClose, false)
    case .invalid: (state, isChunked) = (.broken, false)
    }
  }

  /// Whether the complete body was read.
  var isComplete: Bool { if case .done = state { true } else { false } }

  /// Whether no more bytes belong to the body, complete or not.
  var isOver: Bool {
    switch state {
    case .done, .broken: true
    default: false
    }
  }

  /// How many more bytes there are at least, framing included; 0 at the end.
  var missing: Int {
    switch state {
    case .bytes(let count): isChunked ? count + 7 : count
    case .sizeLine, .trailers: 2
    case .chunkEnd: 2 - line.count
    case .untilClose: 1
    case .done, .broken: 0
    }
  }

  /// Reports that the connection has ended, which completes a body without another framing.
  mutating func connectionEnded() {
    if case .untilClose = state { state = .done }
  }

  /// Reads the bytes that belong to the body, at most `limit` without the framing, and passes those to `body`.
  ///
  /// - Returns: how many bytes were read, framing included.
  mutating func read(
    _ bytes: UnsafeRawBufferPointer, limit: Int, body: (UnsafeRawBufferPointer) -> Void
  ) -> Int {
    var index = 0
    var count = 0
    while index < bytes.count, !isOver, count < limit {
      let rest = UnsafeRawBufferPointer(rebasing: bytes[index...])
      switch state {
      case .bytes(let left):
        let piece = min(left, rest.count, limit - count)
        body(UnsafeRawBufferPointer(rebasing: rest[..<piece]))
        index += piece
        count += piece
        state = piece < left ? .bytes(left - piece) : isChunked ? .chunkEnd : .done
      case .untilClose:
        let piece = min(rest.count, limit - count)
        body(UnsafeRawBufferPointer(rebasing: rest[..<piece]))
        index += piece
        count += piece
      case .chunkEnd:
        readChunkEnd(rest[0])
        index += 1
      case .sizeLine, .trailers, .done, .broken:
        index += readLine(rest)
      }
    }
    return index
  }

  /// RFC 9112 §7.1: chunk = chunk-size [ chunk-ext ] CRLF chunk-data CRLF
  private mutating func readChunkEnd(_ byte: UInt8) {
    line.append(byte)
    if line.first != 13 || line.count == 2 && line[1] != 10 {
      stop("a chunk does not end in CRLF")
    } else if line.count == 2 {
      line = []
      state = .sizeLine
    }
  }

  private mutating func readLine(_ bytes: UnsafeRawBufferPointer) -> Int {
    let count = bytes.firstIndex(of: 10).map { $0 + 1 }
    line.append(contentsOf: bytes[..<(count ?? bytes.count)])
    if line.count > 8192 { stop("a line of the chunks is longer than 8192 bytes") }
    guard count != nil, !isOver else { return count ?? bytes.count }
    var complete = line.dropLast()
    line = []
    if complete.last == 13 {
      complete.removeLast()
    } else {
      faults.append("a line of the chunks ends in LF alone")
    }
    if case .sizeLine = state { readSize(complete) } else { readTrailer(complete) }
    return count ?? bytes.count
  }

  private mutating func readSize(_ line: ArraySlice<UInt8>) {
    let digits = line.prefix { $0 != UInt8(ascii: ";") }
    let text = String(decoding: digits, as: UTF8.self)
    guard let size = Int(text, radix: 16), text.first?.isHexDigit == true else {
      return stop("this is not a chunk size: \(text)")
    }
    if size > 0, chunkSizes.count < 10_000 { chunkSizes.append(size) }
    state = size == 0 ? .trailers : .bytes(size)
  }

  private mutating func readTrailer(_ line: ArraySlice<UInt8>) {
    if line.isEmpty {
      state = .done
    } else if let header = RecordedHeader(line: line) {
      trailers.append(header)
    } else {
      faults.append("this is not a trailer: \(String(decoding: line, as: UTF8.self))")
    }
  }

  private mutating func stop(_ fault: String) {
    faults.append(fault)
    state = .broken
  }
}
