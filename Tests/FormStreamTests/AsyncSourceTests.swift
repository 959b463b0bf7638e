import FormStream
import Foundation
import Synchronization
import FormStreamTestSupport
import Testing

@Suite struct AsyncSourceTests {
  private func layout(_ body: PartBody) throws -> BodyLayout {
    try Form(boundary: Boundary("B")) { Part(name: "a", body: body) }.layout()
  }

  private func content(_ body: PartBody) throws -> [UInt8] {
    let bytes = try layout(body).bytes(limit: 1 << 20)
    return Array(bytes[49...].dropLast(9))
  }

  @Test func `chunks of any size and kind arrive in order, empty ones too`() throws {
    let bytes = noise(20_000)
    let pieces = [0..<0, 0..<1, 1..<1, 1..<9000, 9000..<9001, 9001..<20_000, 20_000..<20_000]
    for length in [nil, 20_000] as [Int64?] {
      let arrays = PartBody.asyncChunks(length: length) {
        stream(of: pieces.map { Array(bytes[$0]) })
      }
      #expect(try content(arrays) == bytes)
      let data = PartBody.asyncChunks(length: length) { stream(of: pieces.map { Data(bytes[$0]) }) }
      #expect(try content(data) == bytes)
      #expect(try content(data) == bytes)
    }
  }

  @Test func `single bytes arrive in order`() throws {
    for count in [0, 1, 16_383, 16_384, 16_385, 40_000] {
      let bytes = noise(count)
      #expect(try content(.asyncChunks { stream(of: bytes) }) == bytes)
      #expect(try content(.asyncChunks(length: Int64(count)) { stream(of: bytes) }) == bytes)
    }
  }

  @Test func `a sequence that throws keeps its error, after its chunks`() throws {
    let layout = try layout(
      .asyncChunks {
        AsyncThrowingStream<[UInt8], any Error> { continuation in
          continuation.yield([1, 2, 3])
          continuation.finish(throwing: TestError(9))
        }
      })
    let reader = layout.makeReader()
    let error = failure { try drain(reader, chunk: 1) }
    #expect(error?.code == .streamFailed)
    #expect(error?.underlying as? TestError == TestError(9))
    #expect(reader.position == 49 + 3)
  }

  @Test func `a sequence must have its announced length`() throws {
    let three = PartBody.asyncChunks(length: 4) { stream(of: [1, 2, 3] as [UInt8]) }
    #expect(failure { try content(three) }?.code == .streamTooShort)
    let more = PartBody.asyncChunks(length: 2) { stream(of: [[1, 2, 3] as [UInt8]]) }
    #expect(failure { try content(more) }?.code == .streamTooLong)
  }

  @Test func `a sequence is begun at its first byte`() throws {
    do {
      let counter = Counter()
      let layout = try layout(
        .asyncChunks {
          counter.increment()
          return stream(of: [[1]] as [[UInt8]])
        })
      let reader = layout.makeReader()
      _ = try reader.read(upTo: 10)
      #expect(counter.value == 0)
      _ = try drain(reader, chunk: 100)
      #expect(counter.value == 1)
    }
  }

  @Test func `a body that is released early ends the task of the sequence`()
    async throws
  {
    for isEndless in [true, false] {
      let ended = AsyncStream<Void>.makeStream()
      let layout = try layout(
        .asyncChunks {
          Watched(isEndless: isEndless, whenGone: { ended.continuation.finish() })
        })
      var reader: BodyReader? = layout.makeReader()
      while let reader, reader.position < 55 { _ = try reader.read(upTo: 1) }
      reader = nil
      // The iterator is released when its task ends. If the task does not end, this waits forever.
      for await _ in ended.stream {}
    }
  }

  @Test(.timeLimit(.minutes(2)))
  func `many bodies read at once by tasks do not starve their sequences`() async throws {
    let bytes = noise(5000)
    let results = try await withThrowingTaskGroup(of: [UInt8].self) { group in
      for _ in 0..<64 {
        group.addTask { try content(.asyncChunks { Relayed(bytes: bytes) }) }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(results.count == 64)
    #expect(results.allSatisfy { $0 == bytes })
  }

  /// A caller that is generic itself, with the constraints of the documentation.
  private func part<Chunks: AsyncSequence & Sendable>(_ chunks: Chunks) -> Part
  where Chunks.Element: Collection<UInt8> {
    Part(name: "a", body: .asyncChunks(chunks))
  }

  private func part<Bytes: AsyncSequence & Sendable>(ofBytes bytes: Bytes) -> Part
  where Bytes.Element == UInt8 {
    Part(name: "a", body: .asyncChunks(bytes))
  }

  @Test func `generic callers pass sequences on`() throws {
    let bytes = noise(50_000)
    for part in [
      part(stream(of: [bytes])), part(stream(of: [Data(bytes)])), part(ofBytes: stream(of: bytes)),
      part(Sliced(bytes: bytes)),
    ] {
      #expect(try content(part.body) == bytes)
    }
  }

  @Test func `a sequence that is given as a value is read once`() throws {
    let body = try layout(.asyncChunks(stream(of: [[1, 2, 3] as [UInt8]]), length: 3))
    #expect(!body.isReplayable)
    #expect(try body.bytes(limit: 1000).count == 49 + 3 + 9)
    #expect(failure { try body.bytes(limit: 1000) }?.code == .notReplayable)
  }
}

/// A sequence of slices, which are not `Sendable` by themselves, and whose iterator isn't either.
private struct Sliced: AsyncSequence, Sendable {
  let bytes: [UInt8]

  final class AsyncIterator: AsyncIteratorProtocol {
    var rest: ArraySlice<UInt8>
    init(_ bytes: [UInt8]) { rest = bytes[...] }

    func next() async -> Slice<[UInt8]>? {
      guard !rest.isEmpty else { return nil }
      let piece = Array(rest.prefix(777))
      rest = rest.dropFirst(777)
      return Slice(base: piece, bounds: piece.indices)
    }
  }

  func makeAsyncIterator() -> AsyncIterator { AsyncIterator(bytes) }
}

private final class Counter: Sendable {
  private let count = Atomic(0)
  var value: Int { count.load(ordering: .acquiring) }
  func increment() { count.add(1, ordering: .acquiringAndReleasing) }
}

private func stream<Element: Sendable>(of elements: [Element]) -> AsyncStream<Element> {
  AsyncStream { continuation in
    for element in elements { continuation.yield(element) }
    continuation.finish()
  }
}

/// Returns ten bytes, then more or nothing forever. Reports when its iterator is released.
private struct Watched: AsyncSequence {
  let isEndless: Bool
  let whenGone: @Sendable () -> Void

  final class AsyncIterator: AsyncIteratorProtocol {
    private let isEndless: Bool
    private let whenGone: @Sendable () -> Void
    private var hasGiven = false
    init(_ isEndless: Bool, _ whenGone: @escaping @Sendable () -> Void) {
      (self.isEndless, self.whenGone) = (isEndless, whenGone)
    }
    deinit { whenGone() }

    func next() async throws -> [UInt8]? {
      if hasGiven, !isEndless { try await Task.sleep(for: .seconds(3600)) }
      hasGiven = true
      return noise(10)
    }
  }

  func makeAsyncIterator() -> AsyncIterator { AsyncIterator(isEndless, whenGone) }
}

/// Returns bytes, and yields the thread before each.
private struct Relayed: AsyncSequence {
  let bytes: [UInt8]

  struct AsyncIterator: AsyncIteratorProtocol {
    var rest: ArraySlice<UInt8>
    mutating func next() async -> UInt8? {
      if rest.count % 100 == 0 { await Task.yield() }
      return rest.popFirst()
    }
  }

  func makeAsyncIterator() -> AsyncIterator { AsyncIterator(rest: bytes[...]) }
}
