import FormStreamMultipart
import FormStreamReceiver

/// What the receiver told of a request. Its own name is that of a type of the tests', too.
typealias Told = ReceivedRequest

/// Keeps what it is given, counts what it has not let go, and throws where it is told to.
final class KeepingHandler: UploadHandler {
  /// Where in an upload something may happen.
  enum Place: CaseIterable {
    case request, part, bytes, endOfPart, end
  }

  struct Kept: Equatable {
    var name: String?
    var filename: String?
    var bytes: [UInt8]
  }

  struct State {
    var begun: [UploadRequest] = []
    var kept: [Kept] = []
    /// The text fields that were given at the end.
    var fields: [String] = []
    /// The uploads that are there.
    var alive = 0
    var ended = 0
  }

  let state = Guarded(State())
  private let at: @Sendable (Place, UploadRequest) throws -> Void

  /// - Parameter at: is called at each place; what it throws is thrown there.
  init(at: @escaping @Sendable (Place, UploadRequest) throws -> Void = { _, _ in }) {
    self.at = at
  }

  func begin(_ request: UploadRequest) throws -> any Upload {
    state.withLock { $0.begun.append(request) }
    try at(.request, request)
    return KeptUpload(state) { [at] in try at($0, request) }
  }

  /// The targets of the requests that it was asked to take.
  var targets: [String] { state.withLock { $0.begun.map(\.target) } }
  var kept: [Kept] { state.withLock(\.kept) }
  var alive: Int { state.withLock(\.alive) }
}

private final class KeptUpload: Upload {
  private let state: Guarded<KeepingHandler.State>
  private let at: (KeepingHandler.Place) throws -> Void

  init(
    _ state: Guarded<KeepingHandler.State>, at: @escaping (KeepingHandler.Place) throws -> Void
  ) {
    self.state = state
    self.at = at
    state.withLock { $0.alive += 1 }
  }

  deinit { state.withLock { $0.alive -= 1 } }

  func begin(_ part: PartDescription) throws -> any PartSink {
    try at(.part)
    return KeptPart(part, in: state, at: at)
  }

  func end(_ parts: [ReceivedPart]) throws {
    try at(.end)
    state.withLock { state in
      state.ended += 1
      state.fields += parts.compactMap { part in
        part.value.map { "\(part.name ?? "-")=\(String(decoding: $0, as: UTF8.self))" }
      }
    }
  }
}

private final class KeptPart: PartSink {
  let storedAs: String? = nil
  private var kept: KeepingHandler.Kept
  private let state: Guarded<KeepingHandler.State>
  private let at: (KeepingHandler.Place) throws -> Void

  init(
    _ part: PartDescription, in state: Guarded<KeepingHandler.State>,
    at: @escaping (KeepingHandler.Place) throws -> Void
  ) {
    kept = KeepingHandler.Kept(name: part.name, filename: part.filename, bytes: [])
    self.state = state
    self.at = at
  }

  func write(_ bytes: UnsafeRawBufferPointer) throws {
    try at(.bytes)
    kept.bytes += bytes
  }

  func end() throws {
    try at(.endOfPart)
    state.withLock { $0.kept.append(kept) }
  }
}
