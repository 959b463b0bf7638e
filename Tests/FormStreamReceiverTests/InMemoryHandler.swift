import FormStreamMultipart
import FormStreamReceiver

/// A request as the receiver reports it. FormStreamTestSupport has another type named `ReceivedRequest`.
typealias ReportedRequest = ReceivedRequest

/// Keeps uploads in memory, counts those that are not released, and fails on request.
final class InMemoryHandler: UploadHandler {
  /// The calls that a handler, an upload or a sink receives.
  enum Call: CaseIterable {
    case request, part, bytes, endOfPart, end
  }

  struct Part: Equatable {
    var name: String?
    var filename: String?
    var bytes: [UInt8]
  }

  struct State {
    var begun: [UploadRequest] = []
    var parts: [Part] = []
    /// The text fields passed to `end`.
    var fields: [String] = []
    /// The uploads that are not released.
    var openUploads = 0
    var ended = 0
  }

  let state = Guarded(State())
  private let onCall: @Sendable (Call, UploadRequest) throws -> Void

  /// - Parameter onCall: called first in each call, which throws its error.
  init(onCall: @escaping @Sendable (Call, UploadRequest) throws -> Void = { _, _ in }) {
    self.onCall = onCall
  }

  func begin(_ request: UploadRequest) throws -> any Upload {
    state.withLock { $0.begun.append(request) }
    try onCall(.request, request)
    return InMemoryUpload(state) { [onCall] in try onCall($0, request) }
  }

  /// The targets of the requests that it was asked to accept.
  var targets: [String] { state.withLock { $0.begun.map(\.target) } }
  var parts: [Part] { state.withLock(\.parts) }
  var openUploads: Int { state.withLock(\.openUploads) }
}

private final class InMemoryUpload: Upload {
  private let state: Guarded<InMemoryHandler.State>
  private let onCall: (InMemoryHandler.Call) throws -> Void

  init(
    _ state: Guarded<InMemoryHandler.State>, onCall: @escaping (InMemoryHandler.Call) throws -> Void
  ) {
    self.state = state
    self.onCall = onCall
    state.withLock { $0.openUploads += 1 }
  }

  deinit { state.withLock { $0.openUploads -= 1 } }

  func begin(_ part: PartDescription) throws -> any PartSink {
    try onCall(.part)
    return InMemorySink(part, in: state, onCall: onCall)
  }

  func end(_ parts: [ReceivedPart]) throws {
    try onCall(.end)
    state.withLock { state in
      state.ended += 1
      state.fields += parts.compactMap { part in
        part.value.map { "\(part.name ?? "-")=\(String(decoding: $0, as: UTF8.self))" }
      }
    }
  }
}

private final class InMemorySink: PartSink {
  let storedAs: String? = nil
  private var part: InMemoryHandler.Part
  private let state: Guarded<InMemoryHandler.State>
  private let onCall: (InMemoryHandler.Call) throws -> Void

  init(
    _ part: PartDescription, in state: Guarded<InMemoryHandler.State>,
    onCall: @escaping (InMemoryHandler.Call) throws -> Void
  ) {
    self.part = InMemoryHandler.Part(name: part.name, filename: part.filename, bytes: [])
    self.state = state
    self.onCall = onCall
  }

  func write(_ bytes: UnsafeRawBufferPointer) throws {
    try onCall(.bytes)
    part.bytes += bytes
  }

  func end() throws {
    try onCall(.endOfPart)
    state.withLock { $0.parts.append(part) }
  }
}
