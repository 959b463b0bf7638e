import Synchronization

/// Where a stream part's bytes come from: the factory, the promise of a length, and the memory of
/// whether a stream that can be read once has been.
struct StreamOrigin: Sendable {
  let length: Int64?
  private let ticket: Ticket?
  private let make: @Sendable () throws -> any ByteSource

  init(
    length: Int64?, ticket: Ticket?, make: @escaping @Sendable () throws -> any ByteSource
  ) {
    self.length = length
    self.ticket = ticket
    self.make = make
  }

  var isOneShot: Bool { ticket != nil }

  func open(for part: String) throws(MultipartError) -> any ByteSource {
    if let ticket, !ticket.redeem() { throw Self.notReplayable(part) }
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
    StreamOrigin(length: length, ticket: Ticket()) { source }
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
final class Ticket: Sendable {
  private let isRedeemed = Atomic(false)

  func redeem() -> Bool {
    isRedeemed.compareExchange(expected: false, desired: true, ordering: .acquiringAndReleasing)
      .exchanged
  }
}
