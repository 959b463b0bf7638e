/// How often progress is reported.
///
/// While a closure or a loop handles one report, only the newest state waits to be reported next; the last state is always
/// reported. With ``all``, up to 4,096 states wait.
public struct ProgressPace: Sendable, Hashable {
  /// The minimum time between two reports. The first and the last report are always made.
  public let interval: Duration

  /// At most twenty times a second.
  public static let smooth = ProgressPace(interval: .milliseconds(50))
  /// Whenever bytes move. If the closure is slow, the result comes only after the closure was called for each state that
  /// waits, unless the request is cancelled.
  public static let all = ProgressPace(interval: .zero)

  /// At most once in every `interval`.
  public static func atMost(every interval: Duration) -> ProgressPace {
    ProgressPace(interval: interval)
  }
}
