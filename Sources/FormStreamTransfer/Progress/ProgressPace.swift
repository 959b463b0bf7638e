/// How often progress is reported.
///
/// Progress is a state: for a closure or a loop that takes longer than that, only the newest state waits, and then the last
/// one. With ``all``, each one waits, up to 4,096.
public struct ProgressPace: Sendable, Hashable {
  /// The minimum time between two reports. The first and the last report are always made.
  public let interval: Duration

  /// At most twenty times a second.
  public static let smooth = ProgressPace(interval: .milliseconds(50))
  /// Whenever bytes move. A request whose closure is slow ends only after the closure was called for each state, unless it
  /// is cancelled.
  public static let all = ProgressPace(interval: .zero)

  /// At most once in every `interval`.
  public static func atMost(every interval: Duration) -> ProgressPace {
    ProgressPace(interval: interval)
  }
}
