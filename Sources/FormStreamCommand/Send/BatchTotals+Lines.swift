import FormStreamBatch

/// What the summaries of `send` and `get` have in common.
extension BatchTotals {
  /// How many files ended in each state: `2 ok`, `1 failed`.
  var counts: [String] {
    BatchState.allCases.compactMap { state in
      self[state] > 0 ? "\(self[state]) \(state.rawValue)" : nil
    }
  }

  /// How many bytes were accepted, and in what time.
  func amount(in duration: Duration) -> String {
    let seconds = duration / .seconds(1)
    let rate =
      acceptedBytes > 0 && seconds > 0 ? ", \(HumanReadable.rate(Double(acceptedBytes) / seconds))" : ""
    return "\(HumanReadable.size(acceptedBytes)) in \(HumanReadable.elapsed(duration))\(rate)."
  }

  /// The commonest errors; empty if there were none.
  ///
  /// - Parameter namesFiles: whether the first files that had an error are named, because no messages have named them.
  func linesAboutErrors(_ count: Int, namesFiles: Bool) -> [String] {
    let errors = commonestErrors(count)
    guard !errors.isEmpty else { return [] }
    return ["The commonest errors:"]
      + errors.map { "  \($0.count) \($0.name)\(namesFiles ? Self.names(of: $0) : ""): \($0.example)" }
  }

  private static func names(of error: CommonError) -> String {
    let names = error.paths.map { visible($0.description) }.joined(separator: ", ")
    let others = error.count - error.paths.count
    return ", \(names)" + (others > 0 ? " and \(counted(others, "other", "others"))" : "")
  }
}
