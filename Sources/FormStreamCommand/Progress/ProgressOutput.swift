/// What was asked for with `--progress`.
package enum ProgressMode: String, CaseIterable, CustomStringConvertible, Sendable {
  case auto, bar, json, none

  package var description: String { rawValue }
}

/// How progress is told.
package enum ProgressOutput: Hashable, Sendable {
  /// One line, drawn again and again.
  case bar(isColored: Bool)
  /// A record a line.
  case records
  /// A line of text now and then.
  case heartbeat
  case silence

  /// - Parameters:
  ///   - isTerminal: whether standard error is one. There is never a bar elsewhere, even where one was asked
  ///     for: it would fill a log with what no one can read.
  ///   - isQuiet: `-q`, which yields to a `--progress` that says what is wanted.
  ///   - environment: the value of a variable. `NO_COLOR` takes the colour where it is not empty; a terminal
  ///     that `TERM` calls dumb, or does not name, can't redraw a line, and has a bar only on request.
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
  /// What was asked for, on this process's standard error.
  init(_ mode: ProgressMode, isQuiet: Bool) {
    self.init(
      mode, isTerminal: isTerminal(.error), isQuiet: isQuiet, environment: environmentVariable)
  }
}
