import FormStreamMultipart
import FormStreamPlatform
import FormStreamTestSupport
import Testing

@Suite struct StreamTests {
  private let record = SourceRecord()

  private func layout(
    length: Int64? = nil, replay: Replay = .repeatable,
    _ open: @escaping @Sendable () throws -> any ByteSource
  ) throws -> BodyLayout {
    try Form(boundary: Boundary("B")) {
      Part.text("a", "1")
      Part.stream("s", length: length, replay: replay, open)
      Part.text("z", "2")
    }.layout()
  }

  @Test(arguments: [1, 10, 4096])
  func `a stream with fewer bytes than its length is an error`(chunk: Int) throws {
    let record = record
    let layout = try layout(length: 11) { StaccatoSource(noise(10), seed: 1, record: record) }
    let reader = layout.makeReader()
    let error = failure { try drain(reader, chunk: chunk) }
    #expect(error?.code == .streamTooShort)
    #expect(error?.subject == "s")
    #expect(!reader.isAtEnd)
    #expect(record.closes == 1)
  }

  @Test(arguments: [1, 10, 4096])
  func `a stream with more bytes than its length is an error`(chunk: Int) throws {
    let record = record
    for promised in [0, 1, 9] as [Int64] {
      let layout = try layout(length: promised) { ScriptedSource(noise(10), record: record) }
      let reader = layout.makeReader()
      #expect(failure { try drain(reader, chunk: chunk) }?.code == .streamTooLong)
      // The last bytes are not returned, or a body of this stream alone would be complete.
      let start = try #require(layout.placedPart(at: 1).bodyOffset)
      #expect(reader.position < start + max(promised, 1))
    }
    #expect(record.closes == 3)
  }

  @Test func `an endless stream with a length is stopped`() throws {
    let record = record
    let layout = try layout(length: 1000) { EndlessSource(record: record) }
    #expect(failure { try layout.bytes(limit: 1 << 20) }?.code == .streamTooLong)
    #expect(record.closes == 1)
    #expect(record.largestRead <= 1000)
  }

  @Test(arguments: [1, 2, 5])
  func `a stream that fails keeps its error`(call: Int) throws {
    let record = record
    for length in [nil, 100] as [Int64?] {
      let layout = try layout(length: length) {
        FailingSource(onCall: call, with: TestError(call), record: record)
      }
      let error = failure { try layout.bytes(limit: 1 << 20) }
      #expect(error?.code == .streamFailed)
      #expect(error?.underlying as? TestError == TestError(call))
    }
    #expect(record.closes == 2)
  }

  @Test func `a stream that fails when its end is checked is not a complete body`() throws {
    let layout = try layout(length: 20) { FailingSource(onCall: 3, with: TestError(3)) }
    let error = failure { try layout.bytes(limit: 1 << 20) }
    #expect(error?.code == .streamFailed)
    #expect(error?.underlying as? TestError == TestError(3))
  }

  @Test func `a stream that can't be opened keeps its error`() throws {
    let error = failure { try layout { throw TestError(7) }.bytes(limit: 1000) }
    #expect(error?.code == .streamFailed)
    #expect(error?.underlying as? TestError == TestError(7))
  }

  @Test(arguments: [1, 1000, Int.max - 4096])
  func `a stream that returns more than the size of the buffer is an error`(excess: Int) throws {
    let record = record
    for length in [nil, 5000] as [Int64?] {
      let layout = try layout(length: length) {
        LyingSource(record: record) { $0 + excess }
      }
      #expect(failure { try drain(layout.makeReader(), chunk: 64) }?.code == .streamFailed)
    }
    #expect(record.closes == 2)
  }

  @Test(arguments: [-1, Int.min])
  func `a stream that returns a negative count is an error`(claim: Int) throws {
    for length in [nil, 5000] as [Int64?] {
      let layout = try layout(length: length) { LyingSource { _ in claim } }
      #expect(failure { try drain(layout.makeReader(), chunk: 64) }?.code == .streamFailed)
    }
  }

  @Test func `a stream is opened at its first byte, and is not asked for more than its reader`()
    throws
  {
    let record = record
    let layout = try layout { ScriptedSource(noise(5000), record: record) }
    let reader = layout.makeReader()
    let start = Int(try #require(layout.placedPart(at: 1).bodyOffset))
    #expect(try reader.read(upTo: 4096).count == start)
    #expect(record.opens == 0)
    _ = try drain(reader, chunk: 100)
    #expect(record.opens == 1)
    #expect(record.largestRead == 100)
    #expect(record.closes == 1)
  }

  @Test func `a stream is closed once and not read again: at its end, early, released, in a seek`()
    throws
  {
    let record = record
    let layout = try layout { StaccatoSource(noise(500), seed: 2, record: record) }
    let start = try #require(layout.placedPart(at: 1).bodyOffset)

    let ended = layout.makeReader()
    _ = try drain(ended, chunk: 64)
    ended.close()
    #expect((record.opens, record.closes) == (1, 1))

    let closed = layout.makeReader()
    while closed.position <= start { _ = try closed.read(upTo: 64) }
    #expect((record.opens, record.closes) == (2, 1))
    closed.close()
    closed.close()
    #expect((record.opens, record.closes) == (2, 2))

    var dropped: BodyReader? = layout.makeReader()
    while let reader = dropped, reader.position <= start { _ = try reader.read(upTo: 64) }
    #expect((record.opens, record.closes) == (3, 2))
    dropped = nil
    #expect((record.opens, record.closes) == (3, 3))

    let seeker = layout.makeReader()
    while seeker.position <= start { _ = try seeker.read(upTo: 64) }
    try seeker.seek(to: 0)
    #expect((record.opens, record.closes) == (4, 4))
    #expect(record.readsAfterClose == 0)
  }

  @Test func `a one-shot stream is not read twice`() throws {
    let record = record
    let layout = try layout(length: 10, replay: .once) { OneByteSource(noise(10), record: record) }
    let copy = layout
    _ = try layout.bytes(limit: 1000)
    for layout in [layout, copy, try #require(layout.form).layout()] {
      let error = failure { try layout.bytes(limit: 1000) }
      #expect(error?.code == .notReplayable)
      #expect(error?.subject == "s")
    }
    #expect(record.opens == 1)
  }

  @Test func `a replayable stream can be read several times`() throws {
    let layout = try layout { OneByteSource(noise(10)) }
    #expect(layout.isReplayable)
    #expect(try layout.bytes(limit: 1000) == layout.bytes(limit: 1000))
  }

  @Test(arguments: [0, 9, 11], [1, 4096])
  func `a replayable stream that has another length the second time is an error`(
    _ size: Int, _ chunk: Int
  ) throws {
    let opens = Guarded(0)
    let layout = try layout {
      ScriptedSource(
        noise(
          opens.withLock { count in
            count += 1
            return count == 3 ? size : 10
          }))
    }
    // A pass that is not complete says nothing.
    let partial = layout.makeReader()
    while opens.withLock(\.self) == 0 { _ = try partial.read(upTo: 4) }
    partial.close()
    let body = try layout.bytes(limit: 1000)
    let reader = layout.makeReader()
    let error = failure { try drain(reader, chunk: chunk) }
    #expect(error?.code == .sourceChanged)
    #expect(error?.change == (size < 10 ? .shrunk : .grown))
    #expect(error?.subject == "s")
    #expect(!reader.isAtEnd)
    #expect(try layout.bytes(limit: 1000) == body)
  }

  @Test func `a replayable stream may have another length in another layout`() throws {
    let opens = Guarded(0)
    let body = PartBody.stream {
      ScriptedSource(
        noise(
          opens.withLock { count in
            count += 1
            return count
          }))
    }
    #expect(try body.layout().bytes(limit: 10).count == 1)
    #expect(try body.layout().bytes(limit: 10).count == 2)
  }

  @Test func `a descriptor is one-shot, and stays open for its owner`() throws {
    let directory = try TemporaryDirectory()
    let bytes = noise(10_000)
    let file = try OpenFile(directory.write("f", bytes))
    for length in [10_000, nil] as [Int64?] {
      file.rewind()
      let layout = try Form(boundary: Boundary("B")) {
        Part(name: "a", body: .descriptor(file.descriptor, length: length))
      }.layout()
      let start = Int(try #require(layout.placedPart(at: 0).bodyOffset))
      #expect(Array(try layout.bytes(limit: 20_000)[start...].dropLast(9)) == bytes)
      #expect(file.isOpen)
      #expect(failure { try layout.bytes(limit: 20_000) }?.code == .notReplayable)
    }
  }

  @Test func `a negative length is refused`() throws {
    #expect(failure { try layout(length: -1) { OneByteSource([]) } }?.code == .streamFailed)
  }

  @Test func `lengths whose sum does not fit into 64 bits are refused`() throws {
    let huge = Part.stream("s", length: .max) { EndlessSource() }
    #expect(failure { try Form(parts: [huge, huge]).layout() }?.code == .bodyTooLarge)
    #expect(failure { try Form(parts: [huge]).layout() }?.code == .bodyTooLarge)
    // 58 bytes are the delimiters and the header.
    let fits = Part.stream("s", length: .max - 58) { EndlessSource() }
    let layout = try Form(boundary: Boundary("B"), parts: [fits]).layout()
    #expect(layout.contentLength == .max)
    let over = Part.stream("s", length: .max - 57) { EndlessSource() }
    #expect(
      failure { try Form(boundary: Boundary("B"), parts: [over]).layout() }?.code == .bodyTooLarge)
  }

  @Test func `forms can be nested 32 deep and no deeper`() throws {
    func nest(_ depth: Int) throws -> Form {
      var form = Form(boundary: try Boundary("B\(depth)B")) { Part.text("a", "1") }
      for level in (1..<depth).reversed() {
        let inner = form
        form = Form(boundary: try Boundary("B\(level)B")) { Part.form("f", inner) }
      }
      return form
    }
    let deepest = try nest(32).layout()
    #expect(try deepest.bytes(limit: 1 << 16).count == deepest.contentLength.map(Int.init))
    #expect(failure { try nest(33).layout() }?.code == .nestedTooDeep)
  }
}
