import FormStreamPlatform

/// The value of `--progress`.
package enum ProgressMode: String, CaseIterable, CustomStringConvertible, Sendable {
  case auto, bar, json, none

  package var description: String { rawValue }
}

/// How progress is shown.
package enum ProgressOutput: Hashable, Sendable {
  /// One line that is redrawn in place.
  case bar(isColored: Bool)
  /// JSON records, one a line.
  case records
  /// A line of text every 30 seconds.
  case heartbeat
  case silence

  /// - Parameters:
  ///   - isTerminal: whether standard error is a terminal. Otherwise there is no bar, even on request: it would
  ///     fill a log with control characters.
  ///   - isQuiet: `-q`. An explicit `--progress` overrides it.
  ///   - environment: the value of a variable. If `NO_COLOR` is not empty, the bar has no color. If `TERM` is dumb
  ///     or not set, the terminal may not be able to redraw a line, so there is a bar only on request.
  package init(
    _ mode: ProgressMode, isTerminal: Bool, isQuiet: Bool, environment: (String) -> String?
  ) {
    let isColored = (environment("NO_COLOR") ?? "").isEmpty
    let redraws = !["", "dumb"].contains(environment("TERM") ?? "")
    switch mode {
    case .none: self = .silence
    case .json: self = .records
    case .bar: self = isTerminal ? .bar(isColored: isColored) : .heartbeat
    case .auto where isQuiet: self = .silence
    case .auto: self = isTerminal && redraws ? .bar(isColored: isColored) : .heartbeat
    }
  }
}

extension ProgressOutput {
  /// The output on this process's standard error.
  init(_ mode: ProgressMode, isQuiet: Bool) {
    self.init(
      mode, isTerminal: isTerminal(.error), isQuiet: isQuiet, environment: environmentVariable)
  }
}
