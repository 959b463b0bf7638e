import FormStreamMultipart
import Testing

@testable import FormStreamBatch

/// Which files go into which request.
@Suite struct PackingTests {
  private func packs(_ sizes: [Int64], _ packing: Packing) throws -> [[Int64]] {
    var packer = FilePacker(packing)
    var packs: [[Int64]] = []
    for (index, size) in sizes.enumerated() {
      let file = BatchFile(path: "a", size: size, index: index)
      if let pack = try packer.add(file) { packs.append(pack.map(\.size)) }
    }
    let rest = packer.takePack()
    #expect(packer.takePack().isEmpty)
    return rest.isEmpty ? packs : packs + [rest.map(\.size)]
  }

  @Test(arguments: [
    (Packing.single, [[1], [2], [3]]), (.together, [[1, 2, 3]]),
    (.upTo(files: 1, bytes: .max), [[1], [2], [3]]),
    (.upTo(files: 2, bytes: .max), [[1, 2], [3]]),
    (.upTo(files: 3, bytes: .max), [[1, 2, 3]]), (.upTo(files: 4, bytes: .max), [[1, 2, 3]]),
    (.upTo(files: 9, bytes: 1), [[1], [2], [3]]), (.upTo(files: 9, bytes: 2), [[1], [2], [3]]),
    (.upTo(files: 9, bytes: 3), [[1, 2], [3]]), (.upTo(files: 9, bytes: 5), [[1, 2], [3]]),
    (.upTo(files: 9, bytes: 6), [[1, 2, 3]]), (.upTo(files: 2, bytes: 6), [[1, 2], [3]]),
  ])
  func `files that follow each other are packed up to both limits`(
    _ packing: Packing, _ expected: [[Int64]]
  ) throws {
    #expect(try packs([1, 2, 3], packing) == expected)
  }

  @Test func `a file that is larger than the limit is alone, and sizes that don't fit don't trap`()
    throws
  {
    #expect(
      try packs([0, .max, 0, .max, .max, 0], .upTo(files: 9, bytes: .max))
        == [[0, .max, 0], [.max], [.max, 0]])
    #expect(
      try packs([0, .max, 0, 5, 5], .upTo(files: 9, bytes: 5)) == [[0], [.max], [0, 5], [5]])
    #expect(try packs([.max, .max], .together) == [[.max, .max]])
  }

  @Test func `one request has a limit of files`() throws {
    var packer = FilePacker(.together, maximumFiles: 3)
    let file = BatchFile(path: "a")
    for _ in 0..<3 { #expect(try packer.add(file) == nil) }
    #expect { try packer.add(file) } throws: { ($0 as? BatchError)?.code == .notPackable }
  }

  @Test func `a file for which the manifest has fields can't share a request`() throws {
    let file = BatchFile(path: "a", fields: [BatchFile.Field(name: "a", value: "b")])
    var shared = FilePacker(.upTo(files: 2, bytes: .max))
    #expect { try shared.add(file) } throws: { ($0 as? BatchError)?.code == .notPackable }
    var single = FilePacker(.single)
    #expect(try single.add(file) == [file])
  }

  // MARK: Slices

  @Test func `slices cover each size exactly once`() throws {
    for total in Int64(0)...20 {
      for size in Int64(1)...22 {
        var slice = FileSlice(at: 0, of: size, in: total)
        var (end, count) = (Int64(0), Int64(0))
        let expected = try #require(slice).count
        while let current = slice {
          #expect(current.offset == end)
          #expect(current.index == count)
          #expect(current.length == size || current.next == nil)
          #expect(current.length > 0 || total == 0)
          end += current.length
          count += 1
          slice = current.next
          try #require(count <= 20)
        }
        #expect(end == total)
        #expect(count == expected)
      }
    }
  }

  @Test(arguments: [(-4, 4, 10), (3, 4, 10), (12, 4, 10), (10, 5, 10), (0, 0, 10), (0, -1, 10)])
  func `no slice begins between two, or outside of the file`(
    _ offset: Int64, _ size: Int64, _ total: Int64
  ) {
    #expect(FileSlice(at: offset, of: size, in: total) == nil)
  }

  @Test func `sizes at the end of the range don't trap`() throws {
    let large = try #require(FileSlice(at: 0, of: .max, in: .max))
    #expect(large.length == .max)
    #expect(large.next == nil)
    let first = try #require(FileSlice(at: 0, of: .max - 1, in: .max))
    #expect(first.count == 2)
    #expect(first.next?.length == 1)
    #expect(first.next?.next == nil)
  }
}
