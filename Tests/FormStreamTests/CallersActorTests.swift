import FormStream
import FormStreamTestSupport
import Testing

/// Sequences are iterated on the caller's actor. Each step once left it and came back, which on the main actor took 25 times
/// as long as the step.
@Suite struct CallersActorTests {
  /// Chunks that are there at once.
  private struct Chunks: AsyncSequence {
    let chunks: [ArraySlice<UInt8>]

    init(of body: [UInt8], size: Int) {
      chunks = stride(from: 0, to: body.count, by: size).map {
        body[$0..<Swift.min($0 + size, body.count)]
      }
    }

    struct AsyncIterator: AsyncIteratorProtocol {
      var rest: ArraySlice<ArraySlice<UInt8>>

      mutating func next(
        isolation actor: isolated (any Actor)? = #isolation
      ) async -> ArraySlice<UInt8>? {
        rest.popFirst()
      }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(rest: chunks[...]) }
  }

  private func body(_ parts: [Part]) throws -> (bytes: [UInt8], type: String) {
    let form = Form(parts: parts)
    return (try form.layout().bytes(limit: 1 << 20), form.contentType)
  }

  @Test func `the events of a form don't leave the caller's actor`() async throws {
    let (bytes, type) = try body((0..<100).map { .text("t\($0)", "value") })
    let returns = try await CountingActor().returns { actor in
      let parser = try FormParser(contentType: type)
      var parts = 0
      for try await event in FormEvents(of: Chunks(of: bytes, size: 1000), parser: parser) {
        actor.assertIsolated()
        if case .partBegan = event { parts += 1 }
      }
      #expect(parts == 100)
      // The call by hand, too.
      var iterator = FormEvents(
        of: Chunks(of: bytes, size: 1000), parser: try FormParser(contentType: type)
      ).makeAsyncIterator()
      while try await iterator.next() != nil { parts -= 1 }
      #expect(parts < 0)
    }
    #expect(returns == 0)
  }

  @Test func `a large chunk of a form is not parsed on the caller's actor`() async throws {
    let (bytes, type) = try body([.bytes("a", noise(300_000)), .text("b", "c")])
    let returns = try await CountingActor().returns { actor in
      let parser = try FormParser(contentType: type)
      var count = 0
      for try await event in FormEvents(of: Chunks(of: bytes, size: 100_000), parser: parser) {
        actor.assertIsolated()
        if case .partBytes(let bytes) = event { count += bytes.count }
      }
      #expect(count == 300_001)
    }
    // The fourth chunk is small.
    #expect(returns == 3)
  }

  @Test func `the chunks of a body in memory don't leave the caller's actor`() async throws {
    let layout = try Form(parts: [.bytes("a", noise(300_000)), .text("b", "c")]).layout()
    let returns = try await CountingActor().returns { actor in
      var count: Int64 = 0
      for try await chunk in layout.chunks {
        actor.assertIsolated()
        count += Int64(chunk.count)
      }
      #expect(count == layout.contentLength)
    }
    #expect(returns == 0)
  }

  @Test func `waiting for a stream returns to the caller's actor once a chunk`() async throws {
    let layout = try Form(parts: [.stream("a") { OneByteSource(noise(100)) }]).layout()
    let chunks = Int64(
      try await CountingActor().returns { actor in
        for try await _ in layout.chunks { actor.assertIsolated() }
      })
    // The text around the stream is at hand. One chunk comes for each byte of the stream, and one at its end.
    #expect(chunks <= 101)
  }
}
