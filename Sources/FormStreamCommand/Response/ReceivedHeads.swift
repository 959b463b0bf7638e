import FormStreamPlatform

/// The heads of the responses to one request, and their trailers, as they arrived.
final class ReceivedHeads: Sendable {
  /// The limit for the heads and trailers of all attempts together. A single head may have 256 KiB.
  fileprivate static let maximumSize = 4 * 1024 * 1024

  private struct State {
    var bytes: [UInt8] = []
    /// The heads that have not been written yet. They are written before the next body.
    var unwritten: [UInt8] = []
    /// The lines that came after bodies.
    var trailers: [UInt8] = []
    var isOverLimit = false

    mutating func add(_ lines: [UInt8]) {
      isOverLimit = isOverLimit || bytes.count + lines.count > ReceivedHeads.maximumSize
      if !isOverLimit { bytes += lines }
    }
  }

  private let state = Guarded(State())

  /// Adds a complete head. Heads beyond the limit are left out.
  func add(_ head: [UInt8]) {
    state.withLock { state in
      state.add(head)
      if !state.isOverLimit { state.unwritten += head }
    }
  }

  /// Adds a line after a body. Such a line is never written before a body.
  func addTrailer(_ line: [UInt8]) {
    state.withLock { state in
      state.add(line)
      if !state.isOverLimit { state.trailers += line }
    }
  }

  /// All trailers.
  func trailers() throws(Failure) -> [UInt8] {
    _ = try all()
    return state.withLock(\.trailers)
  }

  /// All heads and trailers.
  func all() throws(Failure) -> [UInt8] {
    let (bytes, isOverLimit) = state.withLock { ($0.bytes, $0.isOverLimit) }
    guard !isOverLimit else {
      throw Failure(
        .inputOutput,
        "The heads of the responses have more than \(Self.maximumSize) bytes in all: check the server."
      )
    }
    return bytes
  }

  /// The heads that have not been written yet. From now on, these heads count as written.
  func takeUnwritten() -> [UInt8] {
    state.withLock { state in
      defer { state.unwritten = [] }
      return state.unwritten
    }
  }
}
