import Synchronization

/// Where a stream part's bytes come from: the factory, the promise of a length, and the memory of
/// whether a stream that can be read once has been.
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

  /// The same stream, of which the first bytes were looked at.
  func resuming(_ source: PeekedSource) -> StreamOrigin {
    StreamOrigin(length: length, singleUse: SingleUse()) { source }
  }

  static func notReplayable(_ part: String) -> MultipartError {
    MultipartError(
      .notReplayable, on: part,
      "Part \(part.quoted) is a stream that can be read once, and it has been or would have to be "
        + "passed over: give a file, or a factory that can open the stream again.")
  }
}

/// The right to read, once, what can be read once. It is made with the part, and all copies and layouts
/// of the form share it, so that none reads what another has used up.
final class SingleUse: Sendable {
  private let isRedeemed = Atomic(false)

  func claim() -> Bool {
    isRedeemed.compareExchange(expected: false, desired: true, ordering: .acquiringAndReleasing)
      .exchanged
  }
}
