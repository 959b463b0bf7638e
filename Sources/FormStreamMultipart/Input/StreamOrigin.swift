import FormStreamPlatform

/// Where the bytes of a stream part come from: the factory, the length if it is known, and whether
/// a one-shot stream was used.
struct StreamOrigin: Sendable {
  let length: Int64?
  private let singleUse: SingleUse?
  private let make: @Sendable () throws -> any ByteSource

  init(
    length: Int64?, singleUse: SingleUse?, make: @escaping @Sendable () throws -> any ByteSource
  ) {
    self.length = length
    self.singleUse = singleUse
    self.make = make
  }

  var isOneShot: Bool { singleUse != nil }

  func open(for part: String) throws(MultipartError) -> any ByteSource {
    if let singleUse, !singleUse.claim() { throw Self.notReplayable(part) }
    do {
      return try make()
    } catch {
      throw MultipartError(
        .streamFailed, on: part, "The stream of part \(part.quoted) could not be opened: \(error).",
        underlying: error)
    }
  }

  /// The same stream, after its first bytes were read ahead.
  func resuming(_ source: PeekedSource) -> StreamOrigin {
    StreamOrigin(length: length, singleUse: SingleUse()) { source }
  }

  static func notReplayable(_ part: String) -> MultipartError {
    MultipartError(
      .notReplayable, on: part,
      "Part \(part.quoted) is a stream that can be read only once, and it was read or would have to be "
        + "skipped: use a file, or a factory that can open the stream again.")
  }
}

/// The right to read a one-shot stream. All copies and layouts of a form share it, so only one of
/// them reads the stream.
final class SingleUse: Sendable {
  private let isClaimed = Guarded(false)

  /// Returns true at the first call, and false afterwards.
  func claim() -> Bool {
    isClaimed.withLock { isClaimed in
      defer { isClaimed = true }
      return !isClaimed
    }
  }
}
