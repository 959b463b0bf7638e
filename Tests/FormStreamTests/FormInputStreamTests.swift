import FormStream
import Foundation
import FormStreamTestSupport
import Testing

@Suite struct FormInputStreamTests {
  private func layout(_ parts: [Part]) throws -> BodyLayout {
    try Form(boundary: Boundary("B"), parts: parts).layout()
  }

  private func small() throws -> BodyLayout { try layout([.text("a", "1")]) }

  private func failing() throws -> BodyLayout {
    try layout([.stream("s") { FailingSource(onCall: 2, with: TestError(2)) }])
  }

  private func read(_ stream: InputStream, _ count: Int) -> Int {
    var buffer = [UInt8](repeating: 0, count: max(count, 1))
    return stream.read(&buffer, maxLength: count)
  }

  @Test func `the status is notOpen, open, atEnd, closed`() throws {
    let stream = FormInputStream(try small())
    #expect(stream.streamStatus == .notOpen)
    #expect(stream.hasBytesAvailable)
    stream.open()
    #expect(stream.streamStatus == .open)
    let body = try drain(stream, chunk: 5)
    #expect(body == (try small().bytes(limit: 1000)))
    #expect(stream.streamStatus == .atEnd)
    #expect(!stream.hasBytesAvailable)
    #expect(read(stream, 5) == 0)
    #expect(stream.streamError == nil)
    stream.close()
    #expect(stream.streamStatus == .closed)
  }

  @Test(arguments: [1, 7, 64, 4096])
  func `it returns the bytes of the layout, and their count`(chunk: Int) throws {
    let directory = try TemporaryDirectory()
    let path = try directory.write("f", noise(10_000))
    let layout = try layout([.text("a", "1"), .file("f", path), .bytes("b", noise(2000))])
    let stream = FormInputStream(layout)
    #expect(try drain(stream, chunk: chunk) == layout.bytes(limit: 20_000))
    #expect(stream.contentLength == stream.position)
    #expect(stream.contentType == "multipart/form-data; boundary=B")
  }

  @Test func `hasBytesAvailable is true until the last byte was read`() throws {
    let stream = FormInputStream(try small())
    stream.open()
    let length = try #require(stream.contentLength)
    for _ in 0..<length {
      #expect(stream.hasBytesAvailable)
      #expect(stream.streamStatus == .open)
      #expect(read(stream, 1) == 1)
    }
    #expect(!stream.hasBytesAvailable)
    #expect(stream.streamStatus == .atEnd)
  }

  @Test func `a failure is -1 with a streamError, and is not the end`() throws {
    let stream = FormInputStream(try failing())
    #expect(failure { try drain(stream, chunk: 64) }?.code == .streamFailed)
    #expect(stream.streamStatus == .error)
    #expect(stream.hasBytesAvailable)
    for _ in 1...3 { #expect(read(stream, 64) == -1) }
    let error = try #require(stream.streamError as? MultipartError)
    #expect(error.underlying as? TestError == TestError(2))
  }

  @Test func `a read before opening fails, and the stream can still be opened`() throws {
    let stream = FormInputStream(try small())
    #expect(read(stream, 10) == -1)
    #expect(stream.streamStatus == .notOpen)
    #expect(try drain(stream, chunk: 10).count == stream.contentLength.map(Int.init))
  }

  @Test func `a read after an early close fails, and is not the end`() throws {
    let stream = FormInputStream(try small())
    stream.open()
    #expect(read(stream, 10) == 10)
    stream.close()
    #expect(stream.streamStatus == .closed)
    #expect(read(stream, 10) == -1)
    #expect(stream.hasBytesAvailable)
    stream.open()
    #expect(stream.streamStatus == .closed)
    #expect(read(stream, 10) == -1)
  }

  @Test func `a closed stream stays closed`() throws {
    let stream = FormInputStream(try small())
    stream.open()
    stream.close()
    #expect(failure { try stream.seek(to: 3) }?.code == .notOpen)
    #expect(stream.streamStatus == .closed)
  }

  @Test func `opening it again does not move it`() throws {
    let stream = FormInputStream(try small())
    stream.open()
    #expect(read(stream, 10) == 10)
    stream.open()
    #expect(stream.position == 10)
    #expect(stream.streamStatus == .open)
  }

  @Test func `a read of 0 bytes returns 0, and reading continues`() throws {
    let stream = FormInputStream(try small())
    stream.open()
    #expect(read(stream, 0) == 0)
    #expect(stream.streamStatus == .open)
    #expect(read(stream, 10) == 10)
  }

  @Test func `it has no buffer`() throws {
    let stream = FormInputStream(try small())
    stream.open()
    var start: UnsafeMutablePointer<UInt8>?
    var count = 0
    #expect(!stream.getBuffer(&start, length: &count))
  }

  @Test func `a copy is unopened, at the start`() throws {
    let stream = FormInputStream(try small())
    stream.open()
    _ = read(stream, 10)
    let copy = try #require(stream.copy() as? FormInputStream)
    #expect(copy.streamStatus == .notOpen)
    #expect(copy.position == 0)
    #expect(try drain(copy, chunk: 3) == small().bytes(limit: 1000))
    #expect(stream.position == 10)
    stream.close()
    let late = try #require(stream.copy() as? FormInputStream)
    #expect(try drain(late, chunk: 3) == small().bytes(limit: 1000))
  }

  @Test func `the offset is a property that can be read and set`() throws {
    let stream = FormInputStream(try small())
    stream.open()
    _ = read(stream, 10)
    let offset = stream.property(forKey: .fileCurrentOffsetKey) as? NSNumber
    #expect(offset?.int64Value == 10)
    #expect(stream.property(forKey: .dataWrittenToMemoryStreamKey) == nil)
    #expect(stream.setProperty(NSNumber(value: 4), forKey: .fileCurrentOffsetKey))
    #expect(stream.position == 4)
    #expect(!stream.setProperty(NSNumber(value: -1), forKey: .fileCurrentOffsetKey))
    #expect(!stream.setProperty(NSString(string: "4"), forKey: .fileCurrentOffsetKey))
    #expect(!stream.setProperty(NSNumber(value: 4), forKey: .dataWrittenToMemoryStreamKey))
    #expect(stream.streamStatus == .open)
    #expect(try drain(stream, chunk: 9) == Array(small().bytes(limit: 1000)[4...]))
  }

  @Test func `after a seek back from the end hasBytesAvailable is true`() throws {
    let stream = FormInputStream(try small())
    let body = try drain(stream, chunk: 64)
    try stream.seek(to: 5)
    #expect(stream.streamStatus == .open)
    #expect(stream.hasBytesAvailable)
    #expect(try drain(stream, chunk: 64) == Array(body[5...]))
    try stream.seek(to: Int64(body.count))
    #expect(!stream.hasBytesAvailable)
  }

  @Test func `a failed seek does not move it`() throws {
    let known = FormInputStream(try small())
    let unknown = FormInputStream(try layout([.stream("s") { OneByteSource([1, 2, 3]) }]))
    let once = FormInputStream(
      try layout([.stream("s", length: 3, replay: .once) { OneByteSource([1, 2, 3]) }]))
    for (stream, goal, code) in [
      (known, 10_000, MultipartError.Code.offsetOutsideBody), (unknown, 10_000, .offsetOutsideBody),
      (once, 60, .notReplayable),
    ] as [(FormInputStream, Int64, MultipartError.Code)] {
      stream.open()
      #expect(read(stream, 10) == 10)
      #expect(failure { try stream.seek(to: goal) }?.code == code)
      #expect(stream.streamStatus == .open)
      #expect(stream.streamError == nil)
      #expect(try drain(stream, chunk: 64).count == stream.layout.bodyCount - 10)
    }
  }

  @Test func `a seek over a failing source is a failure of the stream`() throws {
    let stream = FormInputStream(try failing())
    stream.open()
    #expect(failure { try stream.seek(to: 100) }?.code == .streamFailed)
    #expect(stream.streamStatus == .error)
    #expect(read(stream, 1) == -1)
  }

  /// The states once contradicted each other.
  @Test func `misuse is reported, and changes nothing`() throws {
    let stream = FormInputStream(try layout([.text("a", "1")]))
    #expect(read(stream, 1) == -1)
    #expect((stream.streamError as? MultipartError)?.code == .notOpen)
    #expect(stream.streamStatus == .notOpen)
    stream.open()
    #expect(read(stream, -5) == -1)
    #expect(stream.streamStatus == .open)
    let body = try drain(stream, chunk: 16)
    #expect(body.count == stream.contentLength.map(Int.init))
    try stream.seek(to: Int64(body.count))
    #expect(stream.streamStatus == .atEnd)
    stream.close()
    #expect(!stream.hasBytesAvailable, "it was read to its end before it was closed")
    #expect(read(stream, 1) == -1)
    #expect(stream.streamStatus == .closed)
  }

  @Test func `releasing it closes what is open`() throws {
    let record = SourceRecord()
    var stream: FormInputStream? = FormInputStream(
      try layout([.stream("s") { ScriptedSource(noise(500), record: record) }]))
    if let stream {
      stream.open()
      while stream.position < 100 { _ = read(stream, 60) }
    }
    #expect((record.opens, record.closes) == (1, 0))
    stream = nil
    #expect((record.opens, record.closes) == (1, 1))
  }
}

extension BodyLayout {
  /// The number of bytes in a small body, known beforehand or not: 58 around a part of 3.
  fileprivate var bodyCount: Int { contentLength.map(Int.init) ?? 61 }
}
