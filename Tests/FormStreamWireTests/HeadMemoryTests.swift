@testable import FormStreamWire
import Testing

/// Which memory a reader of heads and its heads keep.
@Suite struct HeadMemoryTests {
  private func head(_ size: Int) -> [UInt8] {
    Array("HTTP/1.1 200 OK\r\nA: ".utf8) + Array(repeating: 0x78, count: size) + Array("\r\n\r\n".utf8)
  }

  private func read(_ head: [UInt8], cut: Int = 0, _ reader: inout HeadReader) throws {
    reader.reset()
    for piece in [head[..<cut], head[cut...]] {
      _ = try piece.withUnsafeBytes { bytes throws(WireError) in
        var input = bytes
        return try reader.read(&input)
      }
    }
  }

  @Test func `the memory of a head serves the next one`() throws {
    var reader = HeadReader(.response, HeadLimits())
    try read(head(3000), &reader)
    let memory = reader.bytes.withUnsafeBytes { $0.baseAddress }
    for size in [10, 2000, 3000] {
      try read(head(size), &reader)
      #expect(reader.bytes.withUnsafeBytes { $0.baseAddress } == memory)
    }
  }

  @Test(arguments: [0, 5]) func `a head that is kept has memory of about its size`(cut: Int) throws {
    var reader = HeadReader(.response, HeadLimits())
    for size in [12_000, 10, 3000, 100_000, 10] {
      try read(head(size), cut: cut, &reader)
      let kept = try #require(reader.head)
      #expect(kept.bytes == head(size))
      #expect(kept.bytes.capacity <= 2 * kept.bytes.count + 512)
    }
  }

  /// A reader copied all of the second piece, and gave its memory back afterwards.
  @Test func `what follows a divided head isn't copied`() throws {
    let head = head(100)
    var reader = HeadReader(.response, HeadLimits())
    try read(head + [UInt8](repeating: 0x78, count: 200_000), cut: 5, &reader)
    #expect(reader.head?.bytes == head)
    #expect(reader.bytes.capacity < 4096)
  }

  @Test func `the memory of an unusually large head is given back`() throws {
    var reader = HeadReader(.response, HeadLimits())
    try read(head(100_000), &reader)
    reader.releaseMemory()
    #expect(reader.bytes.capacity == 0)
    try read(head(100_000), &reader)
    reader.reset()
    #expect(reader.bytes.capacity == 0)
    try read(head(100), &reader)
    reader.releaseMemory()
    #expect(reader.bytes.capacity > 0)
  }
}
