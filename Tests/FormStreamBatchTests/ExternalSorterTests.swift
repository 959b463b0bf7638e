import FormStreamMultipart
import FormStreamTestSupport
import Testing

@testable import FormStreamBatch

@Suite struct ExternalSorterTests {
  private let place: TemporaryDirectory

  init() throws { place = try TemporaryDirectory(inMemory: true) }

  private func sorted(_ keys: [[UInt8]], memory: Int) throws -> [[UInt8]] {
    let sorter = ExternalSorter(in: LocalPath(place.path), memory: memory)
    for (index, key) in keys.enumerated() {
      try sorter.add(Array("\(index)".utf8), key: key)
    }
    var lines: [[UInt8]] = []
    let failure = sorter.finish { lines.append($0) }
    #expect(failure == nil)
    return lines
  }

  /// The places of the keys in their order; equal keys stay in theirs.
  private func expected(_ keys: [[UInt8]]) -> [[UInt8]] {
    keys.enumerated()
      .sorted { one, other in
        one.element == other.element
          ? one.offset < other.offset : one.element.lexicographicallyPrecedes(other.element)
      }
      .map { Array("\($0.offset)".utf8) }
  }

  @Test(arguments: [1, 200, 2000, 1 << 20])
  func `lines are sorted by their bytes, whatever fits into memory`(memory: Int) throws {
    var random = SeededSequence(seed: 3)
    // With the least memory, each line is a run of its own, and they are merged three times.
    let keys = (0..<(memory == 1 ? 300 : 4000)).map { _ in
      noise(Int(random.next() % 4), seed: random.next())
    }
    #expect(try sorted(keys, memory: memory) == expected(keys))
    #expect(try contentsOfDirectory() == 0)
  }

  @Test func `lines that are longer than the pieces of a file are sorted`() throws {
    let keys = (0..<12).map { noise(100_000 - $0, seed: UInt64($0)) }
    #expect(try sorted(keys, memory: 250_000) == expected(keys))
  }

  @Test(arguments: [0, 1, 2]) func `few lines are sorted`(count: Int) throws {
    let keys = [[UInt8(2)], [1]].prefix(count)
    #expect(try sorted(Array(keys), memory: 1) == expected(Array(keys)))
  }

  @Test func `a directory that can't be written to is an error`() throws {
    let sorter = ExternalSorter(in: place.local("missing"), memory: 1)
    let error = #expect(throws: BatchError.self) { try sorter.add([1], key: [1]) }
    #expect(error?.code == .writeFailed)
    #expect(error?.description.contains("TMPDIR") == true)
  }

  private func contentsOfDirectory() throws -> Int {
    try listed([.path(LocalPath(place.path))]).count
  }
}
