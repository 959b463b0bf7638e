extension Duration {
  /// A hundred years: longer than any program runs.
  package static let longestWait = Duration.seconds(3_155_760_000)

  /// This duration, or the nearest one from 0 to a hundred years. Longer durations overflow in sums, in the system's clocks and
  /// in `components`.
  package var bounded: Duration { min(max(self, .zero), .longestWait) }
}
