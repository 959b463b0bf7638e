import FormStreamPlatform

/// The heads of the responses to one request, as they arrived.
final class ReceivedHeads: Sendable {
  /// The limit for the heads of all attempts: each may have 256 KiB.
  private static let maximumSize = 4 * 1024 * 1024

  private struct State {
    var bytes: [UInt8] = []
    /// How many of them were written before a body.
    var writtenCount = 0
    var isOverLimit = false
  }

  private let state = Guarded(State())

  /// Adds a complete head. After the limit, those of earlier attempts are left out.
  func add(_ head: [UInt8]) {
    state.withLock { state in
      state.isOverLimit = state.isOverLimit || state.bytes.count + head.count > Self.maximumSize
      if !state.isOverLimit { state.bytes += head }
    }
  }

  /// All heads.
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

  /// The heads that were not written yet, which counts as writing them.
  func takeUnwritten() -> [UInt8] {
    state.withLock { state in
      defer { state.writtenCount = state.bytes.count }
      return Array(state.bytes[state.writtenCount...])
    }
  }
}
