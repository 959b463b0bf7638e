import FormStream
import Foundation
import FormStreamTestSupport
import Synchronization
import Testing

/// Bodies that are written by a function.
@Suite struct WritingTests {
  private func layout(_ body: PartBody) throws -> BodyLayout {
    try Form(boundary: Boundary("B")) { Part(name: "a", body: body) }.layout()
  }

  private func content(_ body: PartBody) throws -> [UInt8] {
    Array(try layout(body).bytes(limit: 1 << 24)[49...].dropLast(9))
  }

  @Test(arguments: [nil, 1_000_014] as [Int64?])
  func `what is written arrives in order, and again`(_ length: Int64?) throws {
    let bytes = noise(1_000_000)
    let body = PartBody.writing(length: length) { writer in
      try await writer.write([])
      try await writer.write(bytes[..<1])
      for start in stride(from: 1, to: 1000, by: 37) {
        try await writer.write(bytes[start..<min(start + 37, 1000)])
      }
      try await writer.write(Data(bytes[1000...]))
      try await writer.write("the end: é…")
    }
    let expected = bytes + Array("the end: é…".utf8)
    #expect(try content(body) == expected)
    #expect(try content(body) == expected)
  }

  @Test func `nothing written is an empty body`() throws {
    #expect(try content(.writing { _ in }) == [])
    #expect(try content(.writing(length: 0) { _ in }) == [])
  }

  @Test func `fewer or more bytes than announced are an error`() throws {
    let body = [UInt8](repeating: 1, count: 10)
    let few = PartBody.writing(length: 11) { try await $0.write(body) }
    #expect(failure { try content(few) }?.code == .streamTooShort)
    let many = PartBody.writing(length: 9) { try await $0.write(body) }
    #expect(failure { try content(many) }?.code == .streamTooLong)
    let endless = PartBody.writing(length: 9) { writer in
      while true { try await writer.write(body) }
    }
    #expect(failure { try content(endless) }?.code == .streamTooLong)
  }

  @Test func `an error is thrown after the bytes before it`() throws {
    let body = PartBody.writing { writer in
      try await writer.write([1, 2, 3])
      throw TestError(9)
    }
    let reader = try layout(body).makeReader()
    let error = failure { try drain(reader, chunk: 1) }
    #expect(error?.code == .streamFailed)
    #expect(error?.underlying as? TestError == TestError(9))
    #expect(reader.position == 49 + 3)
  }

  @Test func `the writer is no further ahead than its buffer`() throws {
    let count = Counted()
    let body = PartBody.writing { writer in
      for _ in 0..<1000 {
        try await writer.write([UInt8](repeating: 0, count: 10_000))
        count.add(10_000)
      }
    }
    let reader = try layout(body).makeReader()
    var read = 0
    while true {
      let chunk = try reader.read(upTo: 5000)
      if chunk.isEmpty { break }
      read += chunk.count
      // One buffer was taken by the reader, one is being filled.
      #expect(count.value - read < 200_000)
    }
    #expect(count.value == 10_000_000)
  }

  @Test func `if the reader goes away, writing throws and the task is cancelled`() async throws {
    let ended = AsyncStream<Bool>.makeStream()
    let body = PartBody.writing { writer in
      do {
        while true { try await writer.write([UInt8](repeating: 0, count: 1000)) }
      } catch {
        ended.continuation.yield(error is CancellationError && Task.isCancelled)
        throw error
      }
    }
    var reader: BodyReader? = try layout(body).makeReader()
    _ = try reader?.read(upTo: 49)
    _ = try reader?.read(upTo: 10)
    reader = nil
    // If it does not end, this waits forever.
    for await isCancelled in ended.stream {
      #expect(isCancelled)
      break
    }
  }
}

private final class Counted: Sendable {
  private let count = Atomic(0)
  var value: Int { count.load(ordering: .acquiring) }
  func add(_ more: Int) { count.add(more, ordering: .acquiringAndReleasing) }
}
