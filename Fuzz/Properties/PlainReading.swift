/// The parts of a body, found by searching all of it for each delimiter: slow, and written as
/// differently from the parser as possible. It does not parse headers, and has no limits.
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

  /// The first delimiter. At `start` it needs no line break before it. The end of its line is nil
  /// if the line contains more than white space.
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
