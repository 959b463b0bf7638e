import FormStreamBatch
import FormStreamPlatform

/// The messages about files that were not accepted. If a server refuses all of the first requests, as with a wrong token, the
/// messages differ only in the names of the files: then the first is enough.
final class FailureMessages: Sendable {
  private struct State {
    /// What the first refusal was; nil as long as no file was refused.
    var kind: String?
    /// The lines about files that were refused in the same way.
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
    let line = result.explanation.map { "\(result.file.path): \(result.state.rawValue): \($0)" }
    // The texts differ if they name the URL of a file, or the server's number of a request.
    let kind = result.error.map { "\(result.status ?? 0) \($0.code)" }
    let lines = state.withLock { state -> [String] in
      if state.isOver { return [line].compactMap(\.self) }
      if let line, let status = result.status, Self.refusals.contains(status), state.held.count < Self.maximumHeld,
        state.kind ?? kind == kind
      {
        defer { state.kind = kind }
        if state.kind == nil { return [line] }
        state.held.append(line)
        return []
      }
      // Without a response, nothing is known about the others.
      if line != nil, result.status == nil, state.kind == nil { return [line].compactMap(\.self) }
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
    StandardError.note("\(counted(held.count, "other file was", "other files were")) refused in the same way.")
  }
}
