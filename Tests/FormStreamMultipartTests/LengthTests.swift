import FormStreamMultipart
import FormStreamPlatform
import FormStreamTestSupport
import Testing

/// Streams whose length is found out before they are sent.
@Suite struct LengthTests {
  private let record = SourceRecord()
  private let place: TemporaryDirectory
  init() throws { place = try TemporaryDirectory() }

  private func layout(
    _ sizes: Int..., replay: Replay = .once, verify: Bool = false
  ) throws -> BodyLayout {
    let record = record
    return try Form(boundary: Boundary("B")) {
      Part.text("a", "1")
      for size in sizes {
        Part.stream("s", replay: replay) {
          StaccatoSource(noise(size), seed: 7, record: record)
        }
      }
      Part.text("z", "2")
    }.layout(verify: verify)
  }

  private func readAhead(
    _ layout: BodyLayout, _ limit: Int, spools: Bool = false
  ) throws(MultipartError) -> BodyLayout {
    try layout.readAhead(
      upTo: limit, spoolingIn: spools ? place.local(".") : nil,
      interruptedBy: SourceInterruption()
    ) { _ in }
  }

  /// What a form with these streams has, written by hand.
  private func body(_ sizes: Int...) -> [UInt8] {
    let start = "--B\r\nContent-Disposition: form-data; name="
    var body = Array("\(start)\"a\"\r\n\r\n1".utf8)
    for size in sizes { body += Array("\r\n\(start)\"s\"\r\n\r\n".utf8) + noise(size) }
    return body + Array("\r\n\(start)\"z\"\r\n\r\n2\r\n--B--\r\n".utf8)
  }

  @Test func `a stream up to the limit gets a length, and can be read again`() throws {
    for limit in [0, 1, 2, 65_535, 65_536, 65_537] {
      for size in [limit, limit - 1] where size >= 0 {
        let known = try readAhead(layout(size), limit)
        #expect(known.contentLength == Int64(body(size).count))
        #expect(known.isReplayable)
        for _ in 0..<2 { #expect(try drain(known.makeReader(), chunk: 999) == body(size)) }
      }
      let unknown = try readAhead(layout(limit + 1), limit)
      #expect(unknown.contentLength == nil)
      #expect(!unknown.isReplayable)
      #expect(try drain(unknown.makeReader(), chunk: 999) == body(limit + 1))
      #expect(failure { try drain(unknown.makeReader(), chunk: 999) }?.code == .notReplayable)
    }
    #expect(record.closes == record.opens)
    #expect(record.readsAfterClose == 0)
  }

  @Test func `the limit is that of all streams together, and the first longer one ends it`() throws {
    let both = try readAhead(layout(600, 400), 1000)
    #expect(both.contentLength == Int64(body(600, 400).count))
    let (first, second) = (both.placedPart(at: 1), both.placedPart(at: 2))
    #expect(first.bodyLength == 600 && second.bodyLength == 400)
    let offset = try #require(second.bodyOffset)
    #expect(Array(body(600, 400)[Int(offset)...].prefix(400)) == noise(400))
    #expect(both.placedPart(at: 3).offset == offset + 400)
    let one = try readAhead(layout(600, 401, 5), 1000)
    #expect(one.contentLength == nil)
    #expect(one.placedPart(at: 1).bodyLength == 600)
    #expect(record.opens == 4)
    #expect(try drain(one.makeReader(), chunk: 100) == body(600, 401, 5))
  }

  @Test func `a stream that can be opened again is longer than the limit in each reader`() throws {
    let unknown = try readAhead(layout(3000, replay: .repeatable), 1000)
    #expect(unknown.isReplayable)
    for _ in 0..<2 { #expect(try drain(unknown.makeReader(), chunk: 999) == body(3000)) }
    // The first reader went on where reading ahead ended.
    #expect(record.opens == 2)
  }

  @Test func `longer streams are stored in a file without a name`() throws {
    let known = try readAhead(layout(70_000, 10, 300_000), 1000, spools: true)
    #expect(known.contentLength == Int64(body(70_000, 10, 300_000).count))
    #expect(known.isReplayable && !known.hasStreams)
    for chunk in [100, 1 << 20] {
      #expect(try drain(known.makeReader(), chunk: chunk) == body(70_000, 10, 300_000))
    }
    let reader = known.makeReader()
    try reader.seek(to: 200_000)
    #expect(try drain(reader, chunk: 4096) == Array(body(70_000, 10, 300_000)[200_000...]))
    #expect(try run(program: "/bin/ls", ["-A"], in: place).output == "")
    #expect(record.closes == 3)
  }

  @Test func `a directory that does not exist is named`() throws {
    let layout = try layout(10)
    let error = failure {
      try layout.readAhead(
        upTo: 0, spoolingIn: "/nosuch", interruptedBy: SourceInterruption()
      ) { _ in }
    }
    #expect(error?.code == .spoolFailed)
    #expect(error?.description.contains("TMPDIR") == true)
    #expect(record.closes == 1)
  }

  @Test(.enabled(if: SmallDisk.isAllowed)) func `a full disk is named`() throws {
    try SmallDisk.mounted(size: "64k", files: 10) { disk in
      let layout = try layout(200_000)
      let error = failure {
        try layout.readAhead(upTo: 0, spoolingIn: disk, interruptedBy: SourceInterruption()) { _ in
        }
      }
      #expect(error?.code == .spoolFailed)
      #expect(error?.description.contains("free some space") == true)
    }
  }

  @Test func `the boundary is found in what was read ahead or stored`() throws {
    for spools in [false, true] {
      let form = try Form(boundary: Boundary("B")) {
        Part.stream("s", replay: .once) { OneByteSource(Array("x\r\n--B--\r\n".utf8)) }
      }
      let layout = try form.layout(verify: true)
      let limit = spools ? 3 : 1000
      #expect(failure { try readAhead(layout, limit, spools: spools) }?.code == .boundaryCollision)
    }
  }

  @Test func `a stream that is measured has its length, and must have it later`() throws {
    let layout = try layout(3000, 0, replay: .repeatable)
    let known = try layout.measured(interruptedBy: SourceInterruption())
    #expect(known.contentLength == Int64(body(3000, 0).count))
    #expect(try drain(known.makeReader(), chunk: 100) == body(3000, 0))
    for (first, second) in [(10, 11), (11, 10)] {
      let record = record
      let start = record.opens
      let changing = try Form(boundary: Boundary("B")) {
        Part.stream("s") {
          ScriptedSource(noise(record.opens == start ? first : second), record: record)
        }
      }.layout().measured(interruptedBy: SourceInterruption())
      let error = failure { try drain(changing.makeReader(), chunk: 100) }
      #expect(error?.code == .sourceChanged)
      #expect(error?.change == (first < second ? .grown : .shrunk))
    }
  }

  @Test func `reading ahead can be interrupted`() async throws {
    let (reached, interruption) = (try Gate(), SourceInterruption())
    let source = try InterruptibleSource(reached: reached)
    let layout = try PartBody.stream(replay: .once) { source }.layout()
    async let ended = onNewThread {
      failure {
        try layout.readAhead(upTo: 10, spoolingIn: nil, interruptedBy: interruption) { _ in }
      }
    }
    #expect(await onNewThread { reached.wait() })
    interruption.interrupt()
    let error = await ended
    #expect(error?.code == .streamFailed)
  }
}

/// A source that has no bytes, and waits for them until it is interrupted.
private final class InterruptibleSource: ByteSource, @unchecked Sendable {
  private let (reached, interrupted): (Gate, Gate)

  init(reached: Gate) throws { (self.reached, interrupted) = (reached, try Gate()) }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
    reached.open()
    _ = interrupted.wait()
    throw TestError(1)
  }

  func interrupt() { interrupted.open() }
  func close() {}
}
