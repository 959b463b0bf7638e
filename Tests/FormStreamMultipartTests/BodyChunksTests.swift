import Foundation
import FormStreamMultipart
import FormStreamTestSupport
import Synchronization
import Testing

/// A body as an asynchronous sequence.
@Suite struct BodyChunksTests {
  private func form(_ parts: [Part]) throws -> BodyLayout {
    try Form(boundary: Boundary("B"), parts: parts).layout()
  }

  private func collect(_ layout: BodyLayout) async throws -> [[UInt8]] {
    var chunks: [[UInt8]] = []
    for try await chunk in layout.chunks { chunks.append(chunk) }
    return chunks
  }

  @Test(arguments: [0, 1, 65_535, 65_536, 65_537, 300_000])
  func `the chunks are the body, and can be iterated again`(_ size: Int) async throws {
    let directory = try TemporaryDirectory()
    let path = try directory.write("a.png", noise(size, seed: 2))
    let layout = try form([.bytes("a", noise(size)), .file("f", path), .text("t", "end")])
    let body = try layout.bytes(limit: 1 << 20)
    for _ in 0..<2 {
      let chunks = try await collect(layout)
      #expect(Array(chunks.joined()) == body)
      #expect(chunks.allSatisfy { !$0.isEmpty && $0.count <= 65_536 })
    }
  }

  @Test func `memory and files are read without a thread, and streams on another`() async throws {
    let threads = ThreadNames()
    let path = try TemporaryDirectory()
    let file = try path.write("f", noise(100_000))
    let layout = try form([
      .bytes("a", noise(100_000)), .file("b", file),
      .stream("c") {
        threads.noteThisThread()
        return ScriptedSource(noise(200_000))
      },
      .text("d", "e"),
    ])
    let body = try form([
      .bytes("a", noise(100_000)), .file("b", file), .bytes("c", noise(200_000)), .text("d", "e"),
    ]).bytes(limit: 1 << 20)
    #expect(Array(try await collect(layout).joined()) == body)
    #expect(threads.names == ["formstream-read"])
  }

  @Test func `a file that changes is an error, now and at every further call`() async throws {
    let directory = try TemporaryDirectory()
    let path = try directory.write("f", noise(200_000))
    let layout = try form([.file("f", path)])
    var iterator = layout.chunks.makeAsyncIterator()
    _ = try await iterator.next()
    try directory.write("f", noise(10))
    for _ in 0..<2 {
      let error = await #expect(throws: MultipartError.self) { try await iterator.next() }
      #expect(error?.code == .sourceChanged)
    }
  }

  @Test func `an error of a stream is thrown after its bytes`() async throws {
    let record = SourceRecord()
    let layout = try form([
      .stream("s") { FailingSource(onCall: 3, with: TestError(7), record: record) }
    ])
    var bytes: [UInt8] = []
    let error = await #expect(throws: MultipartError.self) {
      for try await chunk in layout.chunks { bytes += chunk }
    }
    #expect(error?.underlying as? TestError == TestError(7))
    #expect(String(decoding: bytes, as: UTF8.self).hasSuffix(String(repeating: "f", count: 20)))
    #expect(await eventually { record.closes == 1 })
  }

  @Test func `cancelling ends the wait for a stream that blocks`() async throws {
    let (reached, goOn) = (try Gate(), try Gate())
    let record = SourceRecord()
    let layout = try form([
      .stream("s") { BlockedSource(reached: reached, goOn: goOn, record: record) }
    ])
    let task = Task {
      var iterator = layout.chunks.makeAsyncIterator()
      await #expect(throws: CancellationError.self) { while try await iterator.next() != nil {} }
      // What is left of the body can't be read.
      await #expect(throws: CancellationError.self) { try await iterator.next() }
    }
    #expect(await onNewThread { reached.wait() })
    task.cancel()
    await task.value
    #expect(!goOn.isOpen)
    goOn.open()
    #expect(await eventually { record.closes == 1 })
  }

  @Test func `cancelling interrupts a source that can be interrupted, and closes it`() async throws {
    let (reached, interrupted) = (try Gate(), try Gate())
    let record = SourceRecord()
    let layout = try form([
      .stream("s") { InterruptibleSource(reached: reached, interrupted: interrupted, record) }
    ])
    let task = Task { for try await _ in layout.chunks {} }
    #expect(await onNewThread { reached.wait() })
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(await eventually { record.closes == 1 })
    #expect(interrupted.isOpen)
    #expect(record.readsAfterClose == 0)
  }

  @Test func `a source that was not open yet when its reader was interrupted is interrupted`()
    throws
  {
    let (reached, interrupted) = (try Gate(), try Gate())
    let layout = try form([
      .stream("s") {
        InterruptibleSource(reached: reached, interrupted: interrupted, SourceRecord())
      }
    ])
    let reader = layout.makeReader()
    reader.interrupt()
    #expect(!interrupted.isOpen)
    // If it is not, this waits for a minute.
    #expect(failure { while try !reader.read(upTo: 1).isEmpty {} }?.code == .streamFailed)
    #expect(interrupted.isOpen)
  }

  @Test func `a source is not interrupted after it was closed`() throws {
    let (reached, interrupted) = (try Gate(), try Gate())
    let layout = try form([
      .stream("s") {
        InterruptibleSource(reached: reached, interrupted: interrupted, SourceRecord())
      }
    ])
    let reader = layout.makeReader()
    while reader.position < 50 { _ = try reader.read(upTo: 1) }
    reader.close()
    reader.interrupt()
    #expect(!interrupted.isOpen)
  }

  @Test func `a sequence that is not read to its end closes its stream, and reads no further`()
    async throws
  {
    let record = SourceRecord()
    let layout = try form([.stream("s") { EndlessSource(record: record) }])
    for try await chunk in layout.chunks where chunk.count > 1000 { break }
    #expect(await eventually { record.closes == 1 })
    #expect(record.reads < 4)
  }
}

/// The names of threads.
private final class ThreadNames: Sendable {
  private let all = Mutex<[String]>([])
  var names: [String] { all.withLock(\.self) }

  func noteThisThread() {
    let name = try? String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8)
    all.withLock { $0.append(name?.trimmingCharacters(in: .newlines) ?? "") }
  }
}

/// Blocks at its first read.
private final class BlockedSource: ByteSource {
  private let (reached, goOn): (Gate, Gate)
  private let record: SourceRecord
  private let inner: ScriptedSource

  init(reached: Gate, goOn: Gate, record: SourceRecord) {
    (self.reached, self.goOn, self.record) = (reached, goOn, record)
    inner = ScriptedSource([], record: record)
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
    reached.open()
    _ = goOn.wait()
    return try inner.read(into: buffer)
  }

  func close() { inner.close() }
}

/// Returns one byte, and then waits until it is interrupted.
private final class InterruptibleSource: ByteSource {
  private let (reached, interrupted): (Gate, Gate)
  private let inner: ScriptedSource

  init(reached: Gate, interrupted: Gate, _ record: SourceRecord) {
    (self.reached, self.interrupted) = (reached, interrupted)
    inner = ScriptedSource([7], record: record)
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
    let count = try inner.read(into: buffer)
    if count > 0 { return count }
    reached.open()
    _ = interrupted.wait()
    throw TestError(1)
  }

  func interrupt() { interrupted.open() }
  func close() { inner.close() }
}
