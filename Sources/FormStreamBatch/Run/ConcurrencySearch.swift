/// Finds the number of requests at the same time that brings the most work done. It begins with few, and multiplies the number by
/// four as long as that brings much. If the last step brought something, but not much, fewer may do as well, so it halves the
/// number as long as that costs little. After that, it tries a little more now and then, because networks and servers change.
struct ConcurrencySearch {
  /// The fewest and the most requests at the same time.
  static let range = 4...128

  /// What the server and the network have done in a while.
  private struct Window {
    let begin: ContinuousClock.Instant
    var work: Double = 0
    var responses = 0
  }

  /// The number of requests at the same time.
  private(set) var count: Int
  let maximum: Int
  private var window: Window
  /// The number that is compared with ``count``, and the work that it has done in a second; nil if nothing is being tried.
  private var before: (count: Int, speed: Double)?
  private var isMultiplying = true
  /// How many windows pass until more is tried.
  private var rest = 0

  /// How long a window lasts at least, with many responses and with fewer. It has two responses for each request at the same time,
  /// so that none counts for much.
  private static let (shortest, usual) = (Duration.milliseconds(50), Duration.milliseconds(200))
  /// How many responses are many.
  private static let many = 200
  /// A request costs as much as these bytes do, whatever it brings.
  private static let bytesPerRequest = 32_768.0
  /// How many windows pass before more is tried again.
  private static let pause = 20
  /// How much more work must be done to keep a larger number, and to go on multiplying, as shares of the share by which the
  /// number has grown. A small step must bring much, or what chance brings would be enough.
  private static let (some, much) = (0.1, 0.3)
  /// The share of the work that must still be done to keep a smaller number.
  private static let asGood = 0.93

  init(maximum: Int, now: ContinuousClock.Instant) {
    self.maximum = maximum
    count = min(Self.range.lowerBound, maximum)
    window = Window(begin: now)
  }

  /// Notes a response.
  ///
  /// - Parameter bytes: how many bytes the request has sent.
  mutating func note(_ bytes: Int64, now: ContinuousClock.Instant) {
    window.work += Double(bytes) + Self.bytesPerRequest
    window.responses += 1
    let length = window.begin.duration(to: now)
    guard window.responses >= 2 * count,
      length >= (window.responses < Self.many ? Self.usual : Self.shortest)
    else { return }
    decide(window.work / (length / .seconds(1)))
    window = Window(begin: now)
  }

  private mutating func decide(_ speed: Double) {
    if let before {
      let gain = speed / before.speed - 1
      let growth = Double(count) / Double(before.count) - 1
      let isKept =
        growth < 0 ? gain >= Self.asGood - 1 : gain >= growth * (isMultiplying ? Self.some : Self.much)
      guard isKept else {
        // The first window after a change back is that of requests that were begun before it.
        (count, self.before, isMultiplying, rest) = (before.count, nil, false, Self.pause)
        return
      }
      if growth < 0 || isMultiplying && gain < growth * Self.much {
        isMultiplying = false
        return compare(speed, with: max(count / 2, min(Self.range.lowerBound, maximum)))
      }
    }
    if rest > 0 {
      rest -= 1
      return
    }
    compare(speed, with: min(isMultiplying ? 4 * count : count + max(count / 4, 1), maximum))
  }

  /// Tries another number; waits if it is the same.
  private mutating func compare(_ speed: Double, with other: Int) {
    before = other == count ? nil : (count, speed)
    if before == nil { rest = Self.pause }
    count = other
  }

  /// Notes that the server is overloaded: fewer requests are sent at the same time, and more are not tried soon.
  mutating func noteOverload(now: ContinuousClock.Instant) {
    count = max(min(Self.range.lowerBound, maximum), count / 2)
    (before, isMultiplying, rest) = (nil, false, Self.pause)
    window = Window(begin: now)
  }
}
