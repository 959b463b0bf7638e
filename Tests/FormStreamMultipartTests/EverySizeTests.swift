import FormStreamMultipart
import FormStreamTestSupport
import Testing

/// Every small body with every small read, and sizes around those of the buffers.
///
/// In a release build (`make test-release`) each grid is complete: sizes 0…5,000 by reads of 1…70.
/// A debug build tests all pairs up to 200 (for memory also around 1,024, above which it is not
/// copied). Of the other pairs it tests every fourteenth for memory, so that every size and every
/// read occurs; for streams and files, which need a call for each read, every size with a few reads
/// (one-byte streams: every eleventh size).
@Suite struct EverySizeTests {
  private static let content = noise(262_147)
  private static let edges = [4096, 65_536, 262_144].flatMap { ($0 - 3)...($0 + 3) }
  private static let suffix = Array("\r\n--B--\r\n".utf8)
  private static let plain = "--B\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n"
  private static let named =
    "--B\r\nContent-Disposition: form-data; name=\"a\"; filename=\"f\"\r\nContent-Type: a/b\r\n\r\n"

  private let check = BodyCheck(limit: 700_000)

  private func expect(
    _ part: Part, _ size: Int, reads: some Sequence<Int>, prefix: String = plain,
    knowsLength: Bool = true
  ) throws {
    let expected = Array(prefix.utf8) + Self.content[..<size] + Self.suffix
    let layout = try Form(boundary: Boundary("B"), parts: [part]).layout()
    if layout.contentLength != (knowsLength ? Int64(expected.count) : nil) {
      Issue.record("\(size) bytes: length \(String(describing: layout.contentLength))")
    }
    for chunk in reads
    where try !check.matches(expected[...], layout.makeReader(), chunk: chunk) {
      Issue.record("\(size) bytes read by \(chunk)")
    }
  }

  private func memoryReads(for size: Int) -> [Int] {
    let isDense = (1018...1030).contains(size)
    return sourceReads(for: size, few: (1...70).filter { isDense || ($0 + size) % 14 == 0 })
  }

  /// All reads if the grid is complete or the size is small; otherwise a few.
  private func sourceReads(for size: Int, few: [Int]) -> [Int] {
    #if DEBUG
      if size > 200 { return few }
    #endif
    return Array(1...70)
  }

  /// All sizes if the grid is complete or they are small; otherwise every eleventh.
  private var slowSizes: [Int] {
    #if DEBUG
      return Array(0...200) + stride(from: 201, through: 5000, by: 11)
    #else
      return Array(0...5000)
    #endif
  }

  @Test func `parts from bytes have the right body at every size`() throws {
    for size in 0...5000 {
      try expect(.bytes("a", Self.content[..<size]), size, reads: memoryReads(for: size))
    }
  }

  @Test func `text fields have the right body at every size`() throws {
    for size in 0...5000 {
      let text = String(decoding: Self.content[..<size], as: UTF8.self)
      try expect(.text("a", text), size, reads: memoryReads(for: size))
    }
  }

  @Test func `streams that return one byte at a time have the right body at every size`() throws {
    for size in slowSizes {
      let content = Array(Self.content[..<size])
      for length in [nil, Int64(size)] {
        let part = Part.stream("a", length: length) { OneByteSource(content) }
        try expect(
          part, size, reads: sourceReads(for: size, few: [70]), knowsLength: length != nil)
      }
    }
  }

  @Test func `streams that return pieces of many sizes have the right body at every size`() throws {
    for size in 0...5000 {
      let content = Array(Self.content[..<size])
      for length in [nil, Int64(size)] {
        let part = Part.stream("a", length: length) { StaccatoSource(content, seed: UInt64(size)) }
        try expect(
          part, size, reads: sourceReads(for: size, few: [61, 4096]), knowsLength: length != nil)
      }
    }
  }

  @Test func `files have the right body at every size`() throws {
    let directory = try TemporaryDirectory()
    // All are written before the first is laid out, because a layout waits for files that were just
    // written.
    for size in 0...5000 { try directory.write("\(size)", Self.content[..<size]) }
    for size in 0...5000 {
      try expect(
        .file("a", directory.local("\(size)"), filename: "f", type: MediaType("a/b")), size,
        reads: sourceReads(for: size, few: [64, 4096]), prefix: Self.named)
    }
  }

  @Test func `ranges of a file have the right body at every size`() throws {
    let directory = try TemporaryDirectory()
    let path = try directory.write("f", [0x21, 0x21, 0x21] + Self.content[..<5000])
    for size in 0...5000 {
      try expect(
        .file(
          "a", path, type: MediaType("a/b"), range: FileRange(offset: 3, length: Int64(size))),
        size, reads: sourceReads(for: size, few: [64, 4096]), prefix: Self.named)
    }
  }

  @Test func `bodies and reads of about the size of a buffer are right`() throws {
    let directory = try TemporaryDirectory()
    for size in Self.edges { try directory.write("\(size)", Self.content[..<size]) }
    for size in Self.edges {
      let content = Array(Self.content[..<size])
      let reads = Self.edges + [size + 49, size + 58, size + 59]
      try expect(.bytes("a", content), size, reads: reads)
      try expect(.text("a", String(decoding: content, as: UTF8.self)), size, reads: reads)
      try expect(
        .file("a", directory.local("\(size)"), filename: "f", type: MediaType("a/b")), size,
        reads: reads, prefix: Self.named)
      try expect(
        .stream("a", length: Int64(size)) { ScriptedSource(content) }, size, reads: reads)
      try expect(
        .stream("a") { StaccatoSource(content, seed: 7) }, size, reads: [4096, 65_537],
        knowsLength: false)
    }
  }

  @Test func `a large read returns a small body in one piece if nothing can block`() throws {
    let directory = try TemporaryDirectory()
    let path = try directory.write("f", "123")
    let layout = try Form {
      Part.text("a", "1")
      Part.bytes("b", noise(2000))
      Part.file("c", path)
      Part.text("d", "2")
    }.layout()
    #expect(try layout.makeReader().read(upTo: 8192).count == layout.contentLength.map(Int.init))
  }
}
