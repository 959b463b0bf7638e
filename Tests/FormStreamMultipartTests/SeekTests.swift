import FormStreamMultipart
import FormStreamTestSupport
import Testing

@Suite struct SeekTests {
  private let directory: TemporaryDirectory
  private let boundary: Boundary
  init() throws {
    directory = try TemporaryDirectory()
    boundary = try Boundary("B")
    try directory.write("file", noise(700, seed: 2))
    try directory.write("empty", "")
  }

  /// A part of each kind, with empty parts between them.
  private func parts() -> [Part] {
    let inner = Form(boundary: .random()) {
      Part.text("x", "in")
      Part.file("y", directory.local("file"))
    }
    return [
      .text("short", "text"),
      .text("long", String(repeating: "é", count: 600)),
      .bytes("bytes", noise(1100, seed: 3)),
      .file("file", directory.local("file")),
      .file("empty", directory.local("empty")),
      .file("range", directory.local("file"), range: FileRange(offset: 100, length: 321)),
      .file("none", directory.local("file"), range: FileRange(offset: 700)),
      .stream("stream", length: 300) { StaccatoSource(noise(300, seed: 4), seed: 1) },
      .stream("nothing", length: 0) { OneByteSource([]) },
      .form("inner", inner),
    ]
  }

  private func withUnknown() -> [Part] {
    var parts = parts()
    parts.insert(.stream("unknown") { StaccatoSource(noise(500, seed: 5), seed: 2) }, at: 4)
    return parts
  }

  private func allBytes(of layout: BodyLayout) throws -> [UInt8] {
    try layout.bytes(limit: 1 << 20)
  }

  @Test func `a body of known length can be read from every offset`() throws {
    try seekEverywhere(Form(boundary: boundary, parts: parts()).layout())
  }

  @Test func `a body of unknown length can be read from every offset`() throws {
    try seekEverywhere(Form(boundary: boundary, parts: withUnknown()).layout())
  }

  private func seekEverywhere(_ layout: BodyLayout) throws {
    let body = try allBytes(of: layout)
    let check = BodyCheck(limit: body.count + 4096)
    let hopper = layout.makeReader()
    for offset in 0...body.count {
      for reader in [hopper, layout.makeReader()] {
        try reader.seek(to: Int64(offset))
        #expect(reader.position == Int64(offset))
        if try !check.matches(body[offset...], reader, chunk: 4096) {
          Issue.record("from \(offset)")
        }
        #expect(reader.isAtEnd)
        #expect(reader.position == Int64(body.count))
      }
    }
  }

  @Test(arguments: [1, 2, 3] as [UInt64])
  func `random seeks find the right bytes`(seed: UInt64) throws {
    for parts in [parts(), withUnknown()] {
      let layout = try Form(boundary: boundary, parts: parts).layout()
      let body = try allBytes(of: layout)
      let reader = layout.makeReader()
      var random = SeededSequence(seed: seed)
      for _ in 0..<2000 {
        let offset = Int.random(in: 0...body.count, using: &random)
        if Bool.random(using: &random) { try reader.seek(to: Int64(offset)) }
        let place = Int(reader.position)
        let piece = try reader.read(upTo: Int.random(in: 1...900, using: &random))
        #expect(piece == Array(body[place..<place + piece.count]))
        #expect(!piece.isEmpty || place == body.count)
      }
    }
  }

  @Test func `offsets outside a body of known length are refused, and reading continues`() throws {
    let layout = try Form(boundary: boundary, parts: parts()).layout()
    let body = try allBytes(of: layout)
    let reader = layout.makeReader()
    _ = try reader.read(upTo: 10)
    for offset in [-1, Int64(body.count) + 1, .max, .min] {
      let error = failure { try reader.seek(to: offset) }
      #expect(error?.code == .offsetOutsideBody)
      #expect(error?.subject == "\(offset)")
      #expect(reader.position == 10)
    }
    #expect(try drain(reader, chunk: 999) == Array(body[10...]))
  }

  @Test
  func `an offset after the end of a body of unknown length is refused, and reading continues`()
    throws
  {
    let layout = try Form(boundary: boundary, parts: withUnknown()).layout()
    let body = try allBytes(of: layout)
    for start in [10, body.count - 10, body.count] {
      let reader = layout.makeReader()
      try reader.seek(to: Int64(start))
      for offset in [-1, Int64(body.count) + 1, Int64(body.count) + 100_000] {
        #expect(failure { try reader.seek(to: offset) }?.code == .offsetOutsideBody)
        #expect(reader.position == Int64(start))
      }
      #expect(try drain(reader, chunk: 999) == Array(body[start...]))
    }
  }

  /// A text, a one-shot stream, a text.
  private func oneShot(length: Int64?) throws -> (BodyLayout, body: [UInt8], stream: Range<Int>) {
    func form(_ replay: Replay) -> Form {
      Form(boundary: boundary) {
        Part.text("a", "before")
        Part.stream("once", length: length, replay: replay) {
          StaccatoSource(noise(200, seed: 6), seed: 3)
        }
        Part.text("z", "behind")
      }
    }
    let start = try #require(try form(.once).layout().placedPart(at: 1).bodyOffset)
    return (
      try form(.once).layout(), try allBytes(of: form(.repeatable).layout()),
      Int(start)..<Int(start) + 200
    )
  }

  @Test(arguments: [nil, 200] as [Int64?])
  func `before a one-shot stream was begun, every offset before it can be reached`(
    length: Int64?
  ) throws {
    let (layout, body, stream) = try oneShot(length: length)
    let reader = layout.makeReader()
    for offset in [0, 30, stream.lowerBound, 7, stream.lowerBound - 1, stream.lowerBound] {
      try reader.seek(to: Int64(offset))
    }
    #expect(try drain(reader, chunk: 64) == Array(body[stream.lowerBound...]))
    #expect(!layout.isReplayable)
  }

  @Test(arguments: [nil, 200] as [Int64?])
  func `a one-shot stream is not skipped`(length: Int64?) throws {
    let (layout, body, stream) = try oneShot(length: length)
    let reader = layout.makeReader()
    _ = try reader.read(upTo: 10)
    for offset in [stream.lowerBound + 1, stream.upperBound, stream.upperBound + 5, body.count] {
      let error = failure { try reader.seek(to: Int64(offset)) }
      #expect(error?.code == .notReplayable)
      #expect(error?.subject == "once")
      #expect(reader.position == 10)
    }
    #expect(try drain(reader, chunk: 64) == Array(body[10...]))
  }

  @Test(arguments: [nil, 200] as [Int64?])
  func `a one-shot stream that was begun is not read again`(length: Int64?) throws {
    let (layout, body, stream) = try oneShot(length: length)
    for goal in [stream.lowerBound + 1, stream.upperBound, stream.upperBound + 5, body.count] {
      let reader = try oneShot(length: length).0.makeReader()
      while reader.position < goal { _ = try reader.read(upTo: goal - Int(reader.position)) }
      for offset in [0, stream.lowerBound - 1, stream.lowerBound] {
        #expect(failure { try reader.seek(to: Int64(offset)) }?.code == .notReplayable)
        #expect(reader.position == Int64(goal))
      }
      #expect(try drain(reader, chunk: 64) == Array(body[goal...]))
    }
    #expect(layout.contentLength == length.map { _ in Int64(body.count) })
  }

  @Test func `a one-shot stream after one of unknown length is not skipped either`() throws {
    func form(_ replay: Replay) -> Form {
      Form(boundary: boundary) {
        Part.stream("unknown") { StaccatoSource(noise(300, seed: 7), seed: 4) }
        Part.stream("once", length: 100, replay: replay) { OneByteSource(noise(100, seed: 8)) }
        Part.text("z", "behind")
      }
    }
    let body = try allBytes(of: form(.repeatable).layout())
    for start in [0, 60, 200] {
      let reader = try form(.once).layout().makeReader()
      try reader.seek(to: Int64(start))
      for offset in [body.count - 70, body.count] {
        #expect(failure { try reader.seek(to: Int64(offset)) }?.code == .notReplayable)
        #expect(reader.position == Int64(start))
      }
      #expect(try drain(reader, chunk: 64) == Array(body[start...]))
    }
  }
}
