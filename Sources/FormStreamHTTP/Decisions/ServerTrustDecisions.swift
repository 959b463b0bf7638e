import FormStreamPlatform

/// The decisions that a program has made on servers' certificates. The program is asked once about the same certificates of an
/// origin, even if several requests wait for the decision.
final class ServerTrustDecisions: Sendable {
  typealias Decide = @Sendable (ServerTrust) async -> ServerTrust.Decision

  private enum Entry {
    case decided(ServerTrust.Decision)
    /// The requests that wait for the decision.
    case asked([@Sendable (ServerTrust.Decision) -> Void])
  }

  /// How many decisions are remembered. When the maximum is reached, all decisions are forgotten, and the program is asked
  /// again. There is a maximum because a server may show another certificate each time.
  private static let maximumCount = 256

  private let decide: Decide
  private let entries = Guarded<[ServerTrust: Entry]>([:])

  init(_ decide: @escaping Decide) {
    self.decide = decide
  }

  /// The decision; nil if there is none yet.
  func decision(on trust: ServerTrust) -> ServerTrust.Decision? {
    guard case .decided(let decision) = entries.withLock({ $0[trust] }) else { return nil }
    return decision
  }

  /// Asks the program, unless it has already been asked, and passes its decision on.
  func ask(about trust: ServerTrust, _ deliver: @escaping @Sendable (ServerTrust.Decision) -> Void) {
    let (decision, isFirst) = entries.withLock { entries -> (ServerTrust.Decision?, Bool) in
      switch entries[trust] {
      case .decided(let decision): return (decision, false)
      case .asked(let waiting):
        entries[trust] = .asked(waiting + [deliver])
        return (nil, false)
      case nil:
        if entries.count >= Self.maximumCount {
          entries = entries.filter { if case .asked = $0.value { true } else { false } }
        }
        entries[trust] = .asked([deliver])
        return (nil, true)
      }
    }
    if let decision { deliver(decision) }
    // The call has a task of its own: the request that asked first may be cancelled while others still wait for the decision.
    guard isFirst else { return }
    Task { note(await decide(trust), on: trust) }
  }

  private func note(_ decision: ServerTrust.Decision, on trust: ServerTrust) {
    let entry = entries.withLock { $0.updateValue(.decided(decision), forKey: trust) }
    guard case .asked(let waiting) = entry else { return }
    for deliver in waiting { deliver(decision) }
  }
}
