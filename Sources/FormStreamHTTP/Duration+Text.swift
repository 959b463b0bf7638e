extension Duration {
  /// The duration as text for messages: `30 s`, `0.5 s`.
  var inSeconds: String {
    let (seconds, attoseconds) = withinComponents.components
    guard attoseconds != 0 else { return "\(seconds) s" }
    return "\(Double(seconds) + Double(attoseconds) / 1e18) s"
  }

  var milliseconds: Int64 {
    let (seconds, attoseconds) = withinComponents.components
    let (product, overflow) = seconds.multipliedReportingOverflow(by: 1000)
    return overflow ? .max : product + attoseconds / 1_000_000_000_000_000
  }

  /// The duration, limited to the range that `components` can represent.
  private var withinComponents: Duration {
    min(max(self, .seconds(-Int64.max)), .seconds(Int64.max))
  }
}
