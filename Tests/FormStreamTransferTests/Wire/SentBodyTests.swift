import FormStream
import Testing

@testable import FormStreamHTTP

/// What an upload guarantees whatever its source does. The encoder's readers keep to their length already, so these
/// sources do what no reader does.
struct SentBodyTests {
  @Test func `a source that ends early fails`() {
    var upload = SentBody(total: 10)
    upload.start(FixedSource(4))
    #expect(read(&upload, 100) == .bytes(4))
    #expect(read(&upload, 100) == .failed(.streamTooShort))
    let stage = upload.stage
    // Nothing was handed over.
    #expect(stage == .notSent)
  }

  @Test func `a source that has more is read up to the announced length`() {
    var upload = SentBody(total: 10)
    upload.start(FixedSource(100))
    #expect(read(&upload, 7) == .bytes(7))
    #expect(read(&upload, 7) == .bytes(3))
    #expect(read(&upload, 7) == .end)
    let count = upload.read
    #expect(count == 10)
  }

  @Test func `a source of unknown length is read to its end`() {
    var upload = SentBody(total: nil)
    upload.start(FixedSource(4))
    #expect(read(&upload, 3) == .bytes(3))
    #expect(read(&upload, 3) == .bytes(1))
    let hasReadEndEarly = upload.hasReadEnd
    #expect(!hasReadEndEarly)
    #expect(read(&upload, 3) == .end)
    let hasReadEnd = upload.hasReadEnd
    #expect(hasReadEnd)
  }

  /// What was read before was counted as sent, and with it a chunk that libcurl still had: libcurl's own count includes
  /// the framing, which was as large as the data.
  @Test func `of a body in chunks, only what left is counted`() {
    var upload = SentBody(total: nil)
    upload.start(FixedSource(120_000))
    // Each is sent as "1 CRLF, the byte, CRLF".
    for _ in 0..<20_000 { #expect(read(&upload, 1) == .bytes(1)) }
    // "186a0 CRLF, 100,000 bytes, CRLF", of which libcurl has sent nothing.
    #expect(read(&upload, 100_000) == .bytes(100_000))
    for (sent, expected) in [
      (120_000, 20_000), (120_007, 20_000), (120_008, 20_001), (220_006, 119_999),
      (220_007, 120_000), (220_009, 120_000),
    ] as [(Int64, Int64)] {
      upload.count(uploaded: sent, isHTTP2: false)
      let count = upload.handedOver
      #expect(count == expected)
    }
  }

  private func read(_ upload: inout SentBody, _ count: Int) -> Read {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 1)
    defer { buffer.deallocate() }
    return switch upload.read(into: buffer) {
    case .bytes(let count): .bytes(count)
    case .end: .end
    case .later: .later
    case .failed(let error): .failed(error.code)
    }
  }

  private enum Read: Equatable {
    case bytes(Int)
    case end
    case later
    case failed(TransferError.Code)
  }
}

/// A source with a fixed number of zeros, whatever was announced.
private final class FixedSource: UploadSource {
  private var rest: Int

  init(_ count: Int) {
    rest = count
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) -> UploadRead {
    let count = min(rest, buffer.count)
    guard count > 0 else { return .end }
    rest -= count
    buffer[..<count].initializeMemory(as: UInt8.self, repeating: 0)
    return .bytes(count)
  }

  func close() {}
}
