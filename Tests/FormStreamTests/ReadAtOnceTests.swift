import FormStream
import FormStreamTestSupport
import Testing

/// What a reader returns without waiting.
@Suite struct ReadAtOnceTests {
  private let place: TemporaryDirectory
  private let bytes = noise(300_000)

  init() throws {
    place = try TemporaryDirectory()
  }

  /// Reads at once until nothing more is there.
  private func readAtOnce(_ reader: BodyReader) throws -> [UInt8] {
    var all: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 64 * 1024)
    while let count = try buffer.withUnsafeMutableBytes({ try reader.readAtOnce(into: $0) }),
      count > 0
    {
      all += buffer[..<count]
    }
    return all
  }

  @Test func `bytes in memory and in the system's cache are there at once`() throws {
    let file = try place.write("file", bytes)
    let form = Form {
      Part.text("note", "hello")
      Part.file("file", file)
      Part(name: "bytes", body: .bytes(bytes))
    }
    let layout = try form.layout()
    let reader = layout.makeReader()
    #expect(!reader.waitsForNext)
    let read = try readAtOnce(reader)
    #expect(reader.isAtEnd)
    #expect(try read == layout.bytes(limit: 1 << 20))
  }

  @Test func `bytes on a disk are read by waiting, and nothing is lost or doubled`() throws {
    guard try hasDisk(place) else { return }
    let layout = try PartBody.file(writeUncached("file", bytes, in: place)).layout()
    let reader = layout.makeReader()
    var buffer = [UInt8](repeating: 0, count: 10_000)
    #expect(try buffer.withUnsafeMutableBytes { try reader.readAtOnce(into: $0) } == nil)
    #expect(reader.position == 0)
    var all: [UInt8] = []
    while !reader.isAtEnd {
      all += try readAtOnce(reader)
      let count = try buffer.withUnsafeMutableBytes { try reader.read(into: $0) }
      all += buffer[..<count]
    }
    #expect(all == bytes)
  }

  @Test func `what comes before a stream is there at once, and the stream is waited for`() throws {
    let form = Form(boundary: try Boundary("B")) {
      Part.text("note", "hello")
      Part(name: "stream", body: .stream { FixedSource([1, 2, 3]) })
    }
    let reader = try form.layout().makeReader()
    let before = try readAtOnce(reader)
    #expect(before.count > 0)
    #expect(reader.waitsForNext)
    #expect(try reader.read(upTo: 10) == [1, 2, 3])
  }

  @Test func `a file of another program is not even opened at once`() throws {
    // /proc is neither a disk nor memory.
    let layout = try PartBody.file("/proc/self/cmdline", range: FileRange(0..<0)).layout()
    let reader = layout.makeReader()
    #expect(reader.waitsForNext)
    var byte = [UInt8](repeating: 0, count: 1)
    #expect(try byte.withUnsafeMutableBytes { try reader.readAtOnce(into: $0) } == nil)
  }
}

private final class FixedSource: ByteSource {
  private var bytes: [UInt8]

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
    defer { bytes = [] }
    buffer.copyBytes(from: bytes)
    return bytes.count
  }

  func close() {}
}
