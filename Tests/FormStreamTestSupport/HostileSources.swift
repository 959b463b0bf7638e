public import FormStreamMultipart
import FormStreamPlatform

/// The calls of a source, which outlive the source.
public final class SourceRecord: Sendable {
  private let state = Guarded((opens: 0, reads: 0, largest: 0, closes: 0, readsAfterClose: 0))

  /// Creates an empty record.
  public init() {}

  /// How many sources were created with this record.
  public var opens: Int { state.withLock(\.opens) }
  /// How many reads there were.
  public var reads: Int { state.withLock(\.reads) }
  /// The size of the largest buffer.
  public var largestRead: Int { state.withLock(\.largest) }
  /// How many times `close()` was called; it should be once for each source.
  public var closes: Int { state.withLock(\.closes) }
  /// How many reads came after `close()`; there should be none.
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

/// A source that returns the given bytes, and the base class of others.
public class ScriptedSource: ByteSource {
  private let bytes: [UInt8]
  private var position = 0
  private var isClosed = false
  private let record: SourceRecord

  /// Returns `bytes`, as many per read as the buffer holds.
  public init(_ bytes: [UInt8], record: SourceRecord = SourceRecord()) {
    self.bytes = bytes
    self.record = record
    record.noteOpen()
  }

  /// Returns the next bytes.
  public func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
    record.noteRead(of: buffer.count, isClosed: isClosed)
    precondition(!buffer.isEmpty, "the buffer is never empty")
    let count = min(nextSize(), buffer.count, bytes.count - position)
    bytes[position..<position + count].withUnsafeBytes { buffer.copyMemory(from: $0) }
    position += count
    return count
  }

  /// Records that it was closed.
  public func close() {
    isClosed = true
    record.noteClose()
  }

  /// The limit of the next read, at least 1.
  fileprivate func nextSize() -> Int { .max }
}

/// A source that returns one byte per read.
public final class OneByteSource: ScriptedSource {
  fileprivate override func nextSize() -> Int { 1 }
}

/// A source that returns 1 to 97 bytes per read, depending on a seed.
public final class StaccatoSource: ScriptedSource {
  private var sequence: SeededSequence

  /// Returns `bytes` in pieces whose sizes depend on `seed`.
  public init(_ bytes: [UInt8], seed: UInt64, record: SourceRecord = SourceRecord()) {
    sequence = SeededSequence(seed: seed)
    super.init(bytes, record: record)
  }

  fileprivate override func nextSize() -> Int { Int.random(in: 1...97, using: &sequence) }
}

/// A source that returns the byte `x` for ever and fills each buffer.
public final class EndlessSource: ByteSource {
  private let record: SourceRecord

  /// Creates a source that never ends.
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

  /// Records that it was closed.
  public func close() { record.noteClose() }
}

/// A source that returns ten bytes per read, and throws an error on the read with the given number, from 1.
public final class FailingSource: ByteSource {
  private let call: Int
  private let error: any Error
  private let record: SourceRecord
  private var calls = 0

  /// Throws `error` on read number `call`.
  public init(onCall call: Int, with error: any Error, record: SourceRecord = SourceRecord()) {
    self.call = call
    self.error = error
    self.record = record
    record.noteOpen()
  }

  /// Returns up to ten bytes, or throws.
  public func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
    record.noteRead(of: buffer.count, isClosed: false)
    calls += 1
    if calls == call { throw error }
    let room = UnsafeMutableRawBufferPointer(rebasing: buffer[..<min(10, buffer.count)])
    room.initializeMemory(as: UInt8.self, repeating: UInt8(ascii: "f"))
    return room.count
  }

  /// Records that it was closed.
  public func close() { record.noteClose() }
}

/// A source that returns a wrong count: more than the buffer holds, or less than 0.
public final class LyingSource: ByteSource {
  private let claim: @Sendable (Int) -> Int
  private let record: SourceRecord

  /// Returns `claim(n)` for a buffer of n bytes, and writes nothing.
  public init(record: SourceRecord = SourceRecord(), claim: @escaping @Sendable (Int) -> Int) {
    self.claim = claim
    self.record = record
    record.noteOpen()
  }

  /// Returns a wrong count.
  public func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
    record.noteRead(of: buffer.count, isClosed: false)
    return claim(buffer.count)
  }

  /// Records that it was closed.
  public func close() { record.noteClose() }
}
