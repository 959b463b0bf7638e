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
    let body = PartBody.writing(length: length, replay: .repeatable) { writer in
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

  @Test func `what is written can be read once, unless it is said to be the same each time`() throws {
    // A sequence that can be iterated once, as most can: a second time it is empty.
    let rows = AsyncStream<[UInt8]> { continuation in
      continuation.yield([1, 2, 3])
      continuation.finish()
    }
    let body = PartBody.writing { writer in
      for await row in rows { try await writer.write(row) }
    }
    #expect(try content(body) == [1, 2, 3])
    #expect(failure { try content(body) }?.code == .notReplayable)
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

/// Writers that write nothing for ever.
@Suite struct QuietWriterTests {
  /// A body whose function writes some bytes, and then waits for what never comes.
  private func quiet(after bytes: [UInt8] = [], holding token: Token = Token()) throws -> (
    BodyLayout, waits: Gate, end: AsyncStream<Bool>
  ) {
    let waits = try Gate()
    let (end, ended) = AsyncStream<Bool>.makeStream()
    let layout = try PartBody.writing { writer in
      _ = token
      let (nothing, never) = AsyncStream<Void>.makeStream()
      try await writer.write(bytes)
      waits.open()
      for await _ in nothing {}
      ended.yield(Task.isCancelled)
      never.finish()
    }.layout()
    return (layout, waits, end)
  }

  @Test func `it is cancelled if the task that reads is`() async throws {
    weak var held: Token?
    do {
      let token = Token()
      held = token
      let (layout, waits, end) = try quiet(holding: token)
      let task = Task { for try await _ in layout.chunks {} }
      // The function runs because its first bytes are being read.
      #expect(await onNewThread { waits.wait() })
      task.cancel()
      await #expect(throws: CancellationError.self) { try await task.value }
      // If it is not cancelled, this waits forever.
      for await isCancelled in end {
        #expect(isCancelled)
        break
      }
    }
    #expect(await eventually { held == nil })
  }

  @Test func `it is cancelled if its reader is released between two reads`() async throws {
    let (layout, waits, end) = try quiet(after: [1, 2])
    var reader: BodyReader? = layout.makeReader()
    #expect(try reader?.read(upTo: 10) == [1, 2])
    #expect(await onNewThread { waits.wait() })
    reader = nil
    for await isCancelled in end {
      #expect(isCancelled)
      break
    }
  }

  private final class Token: Sendable {}
}

/// Writers that outlive the function that got them.
@Suite struct EscapedWriterTests {
  @Test func `writing after the function has returned is an error`() async throws {
    let escaped = Mutex<BodyWriter?>(nil)
    let body = PartBody.writing { writer in
      escaped.withLock { $0 = writer }
      try await writer.write("a")
    }
    #expect(try await onNewThread { try body.layout().bytes(limit: 10) } == Array("a".utf8))
    let last = escaped.withLock(\.self)
    let writer = try #require(last)
    for write: () async throws -> Void in [
      { try await writer.write("b") }, { try await writer.write(Data([1])) },
      { try await writer.write([] as [UInt8]) },
    ] {
      let error = await #expect(throws: MultipartError.self) { try await write() }
      #expect(error?.code == .notOpen)
      #expect(error?.description.contains("has returned") == true)
    }
  }

  @Test func `what is being written when the function returns is in the body`() async throws {
    let begun = try Gate()
    let bytes = AnnouncedBytes(begun: begun)
    let body = PartBody.writing { writer in
      Task { try await writer.write(bytes) }
      _ = await onNewThread { begun.wait() }
    }
    let content = try await onNewThread { try body.layout().bytes(limit: 1 << 24) }
    #expect(content.count == bytes.count)
    #expect(content.elementsEqual(bytes))
  }
}

/// A million bytes, which open a gate when the first is asked for.
private struct AnnouncedBytes: RandomAccessCollection, Sendable {
  let begun: Gate
  var startIndex: Int { 0 }
  var endIndex: Int { 1_000_000 }
  subscript(index: Int) -> UInt8 {
    if index == 0 { begun.open() }
    return UInt8(truncatingIfNeeded: index)
  }
}

private final class Counted: Sendable {
  private let count = Atomic(0)
  var value: Int { count.load(ordering: .acquiring) }
  func add(_ more: Int) { count.add(more, ordering: .acquiringAndReleasing) }
}
