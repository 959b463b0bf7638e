import FormStreamMultipart

/// Takes a body out of its framing, in pieces of any size.
struct BodyDecoder {
  private enum State {
    case sizeLine
    case bytes(Int)
    case chunkEnd
    case trailers
    case done
    /// Broken, or of no framing that is known: nothing more can be told.
    case lost
  }

  /// What a piece of the body's bytes is told of.
  struct Findings {
    var chunkSizes: [Int] = []
    var trailers: [RecordedHeader] = []
    var faults: [String] = []
  }

  private var state: State
  private let isChunked: Bool
  private var line: [UInt8] = []
  private(set) var findings = Findings()

  init(_ framing: RecordedFraming) {
    switch framing {
    case .none: (state, isChunked) = (.done, false)
    case .contentLength(let count): (state, isChunked) = (count == 0 ? .done : .bytes(count), false)
    case .chunked, .both: (state, isChunked) = (.sizeLine, true)
    case .invalid: (state, isChunked) = (.lost, false)
    }
  }

  /// Whether the body is whole.
  var isComplete: Bool { if case .done = state { true } else { false } }

  /// Whether no more of these bytes are the body's.
  var isOver: Bool {
    switch state {
    case .done, .lost: true
    default: false
    }
  }

  /// How many bytes at least are still to come, framing included; 0 at the end.
  var missing: Int {
    switch state {
    case .bytes(let count): isChunked ? count + 7 : count
    case .sizeLine, .trailers: 2
    case .chunkEnd: 2 - line.count
    case .done, .lost: 0
    }
  }

  /// Takes what belongs to the body, and gives its bytes to `give`.
  ///
  /// - Returns: how many bytes were taken.
  mutating func take(
    _ bytes: UnsafeRawBufferPointer, most: Int, give: (UnsafeRawBufferPointer) -> Void
  ) -> Int {
    var place = 0
    var given = 0
    while place < bytes.count, !isOver, given < most {
      let rest = UnsafeRawBufferPointer(rebasing: bytes[place...])
      if case .bytes(let count) = state {
        let taken = min(count, rest.count, most - given)
        give(UnsafeRawBufferPointer(rebasing: rest[..<taken]))
        place += taken
        given += taken
        state = taken < count ? .bytes(count - taken) : isChunked ? .chunkEnd : .done
      } else if case .chunkEnd = state {
        line.append(rest[0])
        place += 1
        // RFC 9112 §7.1: chunk = chunk-size [ chunk-ext ] CRLF chunk-data CRLF
        if line.first != 13 || line.count == 2 && line[1] != 10 {
          lose("a chunk does not end in CRLF")
        } else if line.count == 2 {
          line = []
          state = .sizeLine
        }
      } else {
        place += takeLine(rest)
      }
    }
    return place
  }

  private mutating func takeLine(_ bytes: UnsafeRawBufferPointer) -> Int {
    let count = bytes.firstIndex(of: 10).map { $0 + 1 }
    line.append(contentsOf: bytes[..<(count ?? bytes.count)])
    if line.count > 8192 { lose("a line of the chunks is longer than 8192 bytes") }
    guard count != nil, !isOver else { return count ?? bytes.count }
    var whole = line.dropLast()
    line = []
    if whole.last == 13 {
      whole.removeLast()
    } else {
      findings.faults.append("a line of the chunks ends in LF alone")
    }
    if case .sizeLine = state { takeSize(whole) } else { takeTrailer(whole) }
    return count ?? bytes.count
  }

  private mutating func takeSize(_ whole: ArraySlice<UInt8>) {
    let digits = whole.prefix { $0 != UInt8(ascii: ";") }
    let text = String(decoding: digits, as: UTF8.self)
    guard let size = Int(text, radix: 16), text.first?.isHexDigit == true else {
      return lose("this is no chunk size: \(text)")
    }
    if size > 0, findings.chunkSizes.count < 10_000 { findings.chunkSizes.append(size) }
    state = size == 0 ? .trailers : .bytes(size)
  }

  private mutating func takeTrailer(_ whole: ArraySlice<UInt8>) {
    if whole.isEmpty {
      state = .done
    } else if let header = RequestHead.header(whole) {
      findings.trailers.append(header)
    } else {
      findings.faults.append("this is no trailer: \(String(decoding: whole, as: UTF8.self))")
    }
  }

  private mutating func lose(_ what: String) {
    findings.faults.append(what)
    state = .lost
  }
}
