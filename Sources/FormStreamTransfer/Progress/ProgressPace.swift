/// How often progress is reported.
public struct ProgressPace: Sendable, Hashable {
  /// The minimum time between two reports. The first and the last report are always made.
  public let interval: Duration

  /// At most twenty times a second.
  public static let smooth = ProgressPace(interval: .milliseconds(50))
  /// Whenever bytes move.
  public static let all = ProgressPace(interval: .zero)

  /// At most once in every `interval`.
  public static func atMost(every interval: Duration) -> ProgressPace {
    ProgressPace(interval: interval)
  }
}
