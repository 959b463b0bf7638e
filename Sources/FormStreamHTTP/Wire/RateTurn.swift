/// The grants of one request: how many bytes of its body it may read now.
struct RateTurn: ~Copyable {
  private let rate: SharedRate?
  /// The grant that has begun, as far as it was not used.
  private var granted: Int64 = 0
  /// The grant that the request waits for.
  private var next: SharedRate.Grant?

  init(_ rate: SharedRate?) {
    self.rate = rate
  }

  /// When the request may read again; nil if it does not wait.
  var begin: ContinuousClock.Instant? { next?.begin }

  /// How many bytes may be read now, at most; 0 if the request has to wait.
  ///
  /// - Parameter wanted: how many bytes the rest of the body has.
  mutating func allowed(of wanted: Int64) -> Int64 {
    guard let rate, wanted > 0 else { return .max }
    if granted == 0 {
      let grant = next ?? rate.take(upTo: wanted)
      guard grant.begin <= .now else {
        next = grant
        return 0
      }
      (granted, next) = (grant.count, nil)
    }
    return granted
  }

  /// Notes that bytes were read.
  mutating func use(_ count: Int) {
    granted = max(0, granted - Int64(count))
  }

  /// Gives back what was not used.
  mutating func end() {
    rate?.giveBack(granted + (next?.count ?? 0))
    (granted, next) = (0, nil)
  }
}
