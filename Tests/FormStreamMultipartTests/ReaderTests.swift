import FormStreamMultipart
import Synchronization
import FormStreamTestSupport
import Testing

@Suite struct ReaderTests {
  private let layout: BodyLayout
  init() throws {
    layout = try Form(boundary: Boundary("B")) { Part.bytes("a", noise(3000)) }.layout()
  }

  @Test func `a reader throws its first error again`() throws {
    let layout = try Form { Part.stream("s") { FailingSource(onCall: 1, with: TestError(1)) } }
      .layout()
    let reader = layout.makeReader()
    for _ in 1...3 {
      let error = failure { try drain(reader, chunk: 4096) }
      #expect(error?.code == .streamFailed)
      #expect(error?.underlying as? TestError == TestError(1))
      #expect(failure { try reader.seek(to: 0) }?.code == .streamFailed)
      #expect(!reader.isAtEnd)
    }
    reader.close()
    #expect(failure { try reader.read(upTo: 1) }?.code == .streamFailed)
  }

  @Test func `a closed reader reads nothing`() throws {
    let reader = layout.makeReader()
    _ = try reader.read(upTo: 10)
    reader.close()
    #expect(failure { try reader.read(upTo: 10) }?.code == .notOpen)
    #expect(failure { try reader.seek(to: 0) }?.code == .notOpen)
    #expect(!reader.isAtEnd)
    #expect(reader.position == 10)
  }

  @Test func `a read into an empty buffer returns 0, and is not the end`() throws {
    let reader = layout.makeReader()
    let empty = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    #expect(try reader.read(into: empty) == 0)
    #expect(try reader.read(upTo: 0) == [])
    #expect(try reader.read(upTo: -1) == [])
    #expect(try reader.read(upTo: .min) == [])
    #expect(reader.position == 0)
    #expect(!reader.isAtEnd)
    #expect(try drain(reader, chunk: 7).count == layout.contentLength.map(Int.init))
  }

  @Test func `at the end each read returns 0`() throws {
    let reader = layout.makeReader()
    let body = try drain(reader, chunk: 4096)
    #expect(reader.isAtEnd)
    for _ in 1...3 { #expect(try reader.read(upTo: 10) == []) }
    try reader.seek(to: 0)
    #expect(!reader.isAtEnd)
    #expect(try drain(reader, chunk: 99) == body)
  }

  @Test func `a body within the limit is read into memory, and one over it is not`() throws {
    let length = Int(try #require(layout.contentLength))
    #expect(try layout.bytes(limit: length).count == length)
    #expect(failure { try layout.bytes(limit: length - 1) }?.code == .limitExceeded)
    #expect(failure { try layout.bytes(limit: 0) }?.code == .limitExceeded)
    let endless = try Form { Part.stream("s") { EndlessSource() } }.layout()
    #expect(failure { try endless.bytes(limit: 1_000_000) }?.code == .limitExceeded)
  }

  /// `read(upTo: .max)` once trapped.
  @Test func `a read of everything returns a piece`() throws {
    #expect(try layout.makeReader().read(upTo: .max).isEmpty == false)
    let large = try Form { Part.bytes("b", [UInt8](repeating: 0, count: 3_000_000)) }.layout()
    #expect(try large.makeReader().read(upTo: .max).count == 1_048_576)
  }

  @Test func `a body that is known to be over the limit does not use a one-shot stream`() throws {
    let once = try Form {
      Part.stream("s", length: 100, replay: .once) { ScriptedSource(noise(100)) }
    }.layout()
    #expect(failure { try once.bytes(limit: 50) }?.code == .limitExceeded)
    #expect(failure { try once.bytes(limit: 500) } == nil)
  }

  /// A collection may refer to shared storage; one that shrank once made the reader loop forever.
  @Test(arguments: [0, 1, 1999, 2001, 5000])
  func `bytes in memory whose count changes are never sent as more or fewer`(_ later: Int)
    throws
  {
    let bytes = ShiftingBytes(2000)
    let form = try Form(boundary: Boundary("B")) { Part.bytes("b", bytes) }.layout()
    bytes.resize(to: later)
    let error = failure { try form.bytes(limit: 10_000) }
    #expect(error?.code == (later < 2000 ? .sourceChanged : nil))
    if error == nil {
      #expect(try form.bytes(limit: 10_000).count == form.contentLength.map(Int.init))
    }
  }

  @Test func `readers of one layout are independent`() throws {
    let one = layout.makeReader()
    let other = layout.makeReader()
    var bodies: ([UInt8], [UInt8]) = ([], [])
    while !one.isAtEnd || !other.isAtEnd {
      bodies.0 += try one.read(upTo: 13)
      bodies.1 += try other.read(upTo: 7)
    }
    let body = try layout.bytes(limit: 10_000)
    #expect(bodies.0 == body)
    #expect(bodies.1 == body)
  }

  @Test func `errors say what failed, on what, and what to do`() throws {
    let error = try #require(failure { try Form { Part.file("photo", "/none") }.layout() })
    #expect(
      error.description == "The file \"/none\" of part \"photo\" does not exist: check the path.")
    #expect("\(error)" == error.description)
    #expect(error.code.rawValue == "input-missing")
  }
}

/// A collection whose count changes while it is used.
private final class ShiftingBytes: Collection, Sendable {
  private let bytes: Mutex<[UInt8]>

  init(_ count: Int) { bytes = Mutex([UInt8](repeating: 1, count: count)) }

  func resize(to count: Int) { bytes.withLock { $0 = [UInt8](repeating: 2, count: count) } }

  var startIndex: Int { 0 }
  var endIndex: Int { bytes.withLock(\.count) }
  func index(after index: Int) -> Int { index + 1 }
  subscript(position: Int) -> UInt8 { bytes.withLock { $0[position] } }

  func withContiguousStorageIfAvailable<Result>(
    _ body: (UnsafeBufferPointer<UInt8>) throws -> Result
  ) rethrows -> Result? {
    let now = bytes.withLock(\.self)
    return try now.withUnsafeBufferPointer(body)
  }
}
