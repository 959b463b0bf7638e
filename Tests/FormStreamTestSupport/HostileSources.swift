public import FormStreamMultipart
import Synchronization

/// What was asked of a source, kept beyond the source's own life.
public final class SourceRecord: Sendable {
  private let state = Mutex((opens: 0, reads: 0, largest: 0, closes: 0, readsAfterClose: 0))

  /// Makes an empty record.
  public init() {}

  /// How many sources were made with this record.
  public var opens: Int { state.withLock(\.opens) }
  /// How many reads there were.
  public var reads: Int { state.withLock(\.reads) }
  /// The largest read that was asked for.
  public var largestRead: Int { state.withLock(\.largest) }
  /// How many times `close()` was called: once for each source, if all is well.
  public var closes: Int { state.withLock(\.closes) }
  /// How many reads came after `close()`: none, if all is well.
  public var readsAfterClose: Int { state.withLock(\.readsAfterClose) }

  fileprivate func noteOpen() { state.withLock { $0.opens += 1 } }
  fileprivate func noteRead(of count: Int, isClosed: Bool) {
    state.withLock {
      $0.reads += 1
      $0.largest = max($0.largest, count)
      if isClosed { $0.readsAfterClose += 1 }
    }
  }
  fileprivate func noteClose() { state.withLock { $0.closes += 1 } }
}

/// A source that gives bytes as a script says; the base of all hostile ones.
public class ScriptedSource: ByteSource {
  private let bytes: [UInt8]
  private var position = 0
  private var isClosed = false
  private let record: SourceRecord

  /// Gives `bytes`, as much at a time as is asked for.
  public init(_ bytes: [UInt8], record: SourceRecord = SourceRecord()) {
    self.bytes = bytes
    self.record = record
    record.noteOpen()
  }

  /// Gives the next bytes.
  public func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
    record.noteRead(of: buffer.count, isClosed: isClosed)
    precondition(!buffer.isEmpty, "a source is never asked for nothing")
    let count = min(nextSize(), buffer.count, bytes.count - position)
    bytes[position..<position + count].withUnsafeBytes { buffer.copyMemory(from: $0) }
    position += count
    return count
  }

  /// Notes that it was closed.
  public func close() {
    isClosed = true
    record.noteClose()
  }

  /// The most that the next read gives, at least 1.
  fileprivate func nextSize() -> Int { .max }
}

/// Gives one byte at a time.
public final class OneByteSource: ScriptedSource {
  fileprivate override func nextSize() -> Int { 1 }
}

/// Gives 1 to 97 bytes at a time, in an order that the seed decides.
public final class StaccatoSource: ScriptedSource {
  private var sequence: SeededSequence

  /// Gives `bytes` in pieces whose sizes come from `seed`.
  public init(_ bytes: [UInt8], seed: UInt64, record: SourceRecord = SourceRecord()) {
    sequence = SeededSequence(seed: seed)
    super.init(bytes, record: record)
  }

  fileprivate override func nextSize() -> Int { Int.random(in: 1...97, using: &sequence) }
}

/// Gives the byte `x` for ever, whole buffers of it.
public final class EndlessSource: ByteSource {
  private let record: SourceRecord

  /// Never ends.
  public init(record: SourceRecord = SourceRecord()) {
    self.record = record
    record.noteOpen()
  }

  /// Fills the buffer.
  public func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
    record.noteRead(of: buffer.count, isClosed: false)
    buffer.initializeMemory(as: UInt8.self, repeating: UInt8(ascii: "x"))
    return buffer.count
  }

  /// Notes that it was closed.
  public func close() { record.noteClose() }
}

/// Gives ten bytes a read, and throws `error` on the read of the given number, counted from 1.
public final class FailingSource: ByteSource {
  private let call: Int
  private let error: any Error
  private let record: SourceRecord
  private var calls = 0

  /// Fails on call `call`.
  public init(onCall call: Int, with error: any Error, record: SourceRecord = SourceRecord()) {
    self.call = call
    self.error = error
    self.record = record
    record.noteOpen()
  }

  /// Gives up to ten bytes, or throws.
  public func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
    record.noteRead(of: buffer.count, isClosed: false)
    calls += 1
    if calls == call { throw error }
    let room = UnsafeMutableRawBufferPointer(rebasing: buffer[..<min(10, buffer.count)])
    room.initializeMemory(as: UInt8.self, repeating: UInt8(ascii: "f"))
    return room.count
  }

  /// Notes that it was closed.
  public func close() { record.noteClose() }
}

/// Says that it gave what it did not: more than the buffer holds, or less than nothing.
public final class LyingSource: ByteSource {
  private let claim: @Sendable (Int) -> Int
  private let record: SourceRecord

  /// Answers a read of n bytes with `claim(n)`, and writes nothing.
  public init(record: SourceRecord = SourceRecord(), claim: @escaping @Sendable (Int) -> Int) {
    self.claim = claim
    self.record = record
    record.noteOpen()
  }

  /// Lies.
  public func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
    record.noteRead(of: buffer.count, isClosed: false)
    return claim(buffer.count)
  }

  /// Notes that it was closed.
  public func close() { record.noteClose() }
}
