import FormStreamPlatform

/// A largest rate that several requests share: a token bucket.
///
/// A request takes a grant before it reads bytes of its body, and waits until the grant begins. A request that is alone gets the
/// complete rate. The more requests wait, the smaller are the grants, so that each of them has its turn soon. Grants are
/// large enough that a request asks about eight times a second, or less often: asking costs nothing noticeable.
package final class SharedRate: Sendable {
  /// Bytes that a request may send, from a moment on.
  package struct Grant: Equatable {
    package let count: Int64
    package let begin: ContinuousClock.Instant
  }

  /// The most bytes of a grant if there is no limit at the moment. The request then asks again.
  private static let unlimitedGrant: Int64 = 8 << 20
  /// The fewest bytes of a grant, unless the rate is lower than eight times as many.
  private static let smallestGrant: Int64 = 1024

  /// When the next grant begins, if that is not in the past.
  private let next = Guarded(ContinuousClock.now)
  private let rate: @Sendable () -> Int64?

  /// - Parameter rate: the rate at this moment, in bytes a second; nil for no limit. It is asked for each grant, on any thread.
  package init(_ rate: @escaping @Sendable () -> Int64?) {
    self.rate = rate
  }

  /// Takes the next grant.
  ///
  /// - Parameter wanted: how many bytes the request can use.
  package func take(upTo wanted: Int64, at now: ContinuousClock.Instant = .now) -> Grant {
    guard let limit = rate() else {
      next.withLock { $0 = now }
      return Grant(count: min(wanted, Self.unlimitedGrant), begin: now)
    }
    let rate = Double(max(limit, 1))
    return next.withLock { next in
      let begin = max(next, now)
      let wait = now.duration(to: begin) / .seconds(1)
      let share = Int64(rate / 8 / (1 + 8 * wait))
      let count = min(wanted, max(share, min(Self.smallestGrant, Int64(rate / 8)), 1))
      next = begin + .seconds(Double(count) / rate)
      return Grant(count: count, begin: begin)
    }
  }

  /// Gives back bytes of a grant that were not sent.
  package func giveBack(_ count: Int64) {
    guard count > 0, let limit = rate() else { return }
    // No more than one grant: the bytes may have been taken when there was another limit, or none.
    let seconds = min(Double(count) / Double(max(limit, 1)), 1)
    next.withLock { $0 -= .seconds(seconds) }
  }
}
