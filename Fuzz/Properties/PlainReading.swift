/// What stands between a body's delimiters, found by looking at all of it again and again: slow, and as
/// unlike the parser as can be. It does not look into headers, and knows no limits.
struct PlainReading {
  private(set) var parts: [[UInt8]] = []
  /// Whether the last delimiter was found.
  private(set) var isComplete = false

  private let body: [UInt8]
  private let dashes: [UInt8]
  private let lineEnds: [[UInt8]]

  init(_ body: [UInt8], boundary: String, allowsBareLF: Bool) {
    self.body = body
    dashes = Array("--\(boundary)".utf8)
    lineEnds = [Array("\r\n".utf8)] + (allowsBareLF ? [Array("\n".utf8)] : [])
    var start = 0
    var isInPart = false
    while let found = delimiter(from: start) {
      if isInPart { parts.append(Array(body[start..<found.start])) }
      isInPart = true
      isComplete = found.isLast
      guard !isComplete, let end = found.end, let next = endOfHeaders(from: end) else { return }
      start = next
    }
  }

  private func has(_ text: [UInt8], at place: Int) -> Bool {
    body[place...].starts(with: text)
  }

  private func lineEnd(at place: Int) -> Int? {
    lineEnds.first { has($0, at: place) }.map { place + $0.count }
  }

  /// The first delimiter, which needs no line end before it at `start` itself. Its line has no end where
  /// there is more on it than white space.
  private func delimiter(from start: Int) -> (start: Int, end: Int?, isLast: Bool)? {
    for place in start...body.count {
      let behind = lineEnds.filter { has($0, at: place) }.map { place + $0.count }
      let begins = (place == start ? [place] : []) + behind
      for begin in begins where has(dashes, at: begin) {
        let tail = begin + dashes.count
        if let end = lineEnd(at: tail) { return (place, end, false) }
        let isClosed = has(Array("--".utf8), at: tail)
        if isClosed, tail + 2 == body.count || " \t\r\n".utf8.contains(body[tail + 2]) {
          return (place, nil, true)
        }
        let end = body[tail...].firstIndex { $0 != 0x20 && $0 != 0x09 } ?? body.count
        if end > tail { return (place, lineEnd(at: end), false) }
      }
    }
    return nil
  }

  private func endOfHeaders(from start: Int) -> Int? {
    var line = start
    while let feed = body[line...].firstIndex(of: 0x0A) {
      if lineEnd(at: line) == feed + 1 { return feed + 1 }
      line = feed + 1
    }
    return nil
  }
}
