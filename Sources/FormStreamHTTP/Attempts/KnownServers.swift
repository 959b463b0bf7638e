import FormStreamPlatform

/// What a session knows about servers from earlier responses: the servers that ignore `Expect: 100-continue`, that speak only
/// HTTP/1.0 (without chunks), that speak HTTP/2 (requests share a connection), and that refuse HTTP/1.1.
final class KnownServers: Sendable {
  private struct Notes {
    var ignoringExpect: Set<HTTPURL.Origin> = []
    var speakingHTTP10: Set<HTTPURL.Origin> = []
    var refusingHTTP11: Set<HTTPURL.Origin> = []
    var speakingHTTP2: Set<HTTPURL.Origin> = []
  }

  private static let maximumCount = 1024
  private let notes = Guarded(Notes())

  func ignoresExpect(_ origin: HTTPURL.Origin) -> Bool {
    notes.withLock { $0.ignoringExpect.contains(origin) }
  }

  /// Whether a server speaks only HTTP/1.0. Such a server takes only bodies whose length is announced.
  func speaksHTTP10(_ origin: HTTPURL.Origin) -> Bool {
    notes.withLock { $0.speakingHTTP10.contains(origin) }
  }

  func refusesHTTP11(_ origin: HTTPURL.Origin) -> Bool {
    notes.withLock { $0.refusingHTTP11.contains(origin) }
  }

  func speaksHTTP2(_ origin: HTTPURL.Origin) -> Bool {
    notes.withLock { $0.speakingHTTP2.contains(origin) }
  }

  func note(_ origin: HTTPURL.Origin, ignoresExpect: Bool) {
    notes.withLock { Self.note(origin, ignoresExpect, in: &$0.ignoringExpect) }
  }

  func note(_ origin: HTTPURL.Origin, speaksHTTP10: Bool) {
    notes.withLock { Self.note(origin, speaksHTTP10, in: &$0.speakingHTTP10) }
  }

  func note(_ origin: HTTPURL.Origin, refusesHTTP11: Bool) {
    notes.withLock { Self.note(origin, refusesHTTP11, in: &$0.refusingHTTP11) }
  }

  func note(_ origin: HTTPURL.Origin, speaksHTTP2: Bool) {
    notes.withLock { Self.note(origin, speaksHTTP2, in: &$0.speakingHTTP2) }
  }

  private static func note(
    _ origin: HTTPURL.Origin, _ isMember: Bool, in origins: inout Set<HTTPURL.Origin>
  ) {
    if !isMember {
      origins.remove(origin)
    } else if origins.count < maximumCount {
      origins.insert(origin)
    }
  }
}
