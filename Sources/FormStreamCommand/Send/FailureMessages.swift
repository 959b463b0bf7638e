import FormStreamBatch
import FormStreamPlatform

/// The messages about files that were not accepted. If a server refuses all of the first requests, as with a wrong token, the
/// messages differ only in the names of the files: then the first is enough.
final class FailureMessages: Sendable {
  private struct State {
    /// What the first file was told; nil as long as no file was refused.
    var reason: String?
    /// The lines about files that were told the same.
    var held: [String] = []
    /// Whether something else has happened, so that the run will not end because of these refusals.
    var isOver = false
  }

  /// The most lines that wait. A run ends itself after fewer refusals.
  private static let maximumHeld = 1000
  private static let refusals = [401, 403, 407]

  private let state = Guarded(State())

  /// Writes the message about a file, or holds it back.
  func note(_ result: FileResult) {
    let reason = result.explanation
    let line = reason.map { "\(result.file.path): \(result.state.rawValue): \($0)" }
    let lines = state.withLock { state -> [String] in
      if state.isOver { return [line].compactMap(\.self) }
      if let line, let status = result.status, Self.refusals.contains(status), state.held.count < Self.maximumHeld,
        state.reason ?? reason == reason
      {
        defer { state.reason = reason }
        if state.reason == nil { return [line] }
        state.held.append(line)
        return []
      }
      // Without a response, nothing is known about the others.
      if line != nil, result.status == nil, state.reason == nil { return [line].compactMap(\.self) }
      state.isOver = true
      defer { state.held = [] }
      return state.held + [line].compactMap(\.self)
    }
    for line in lines { StandardError.note(line) }
  }

  /// Writes what was held back, or how much it was.
  func finish(_ end: EarlyEnd?) {
    let held = state.withLock { state in
      defer { state.held = [] }
      return state.held
    }
    let isEndedByThem =
      switch end {
      case .accessRefused, .credentialsRefused, .proxyCredentialsRefused: true
      default: false
      }
    guard isEndedByThem, held.count > 1 else {
      for line in held { StandardError.note(line) }
      return
    }
    StandardError.note("The same was said of \(counted(held.count, "other file", "other files")).")
  }
}
