import FormStream
import FormStreamTestSupport
import Testing
import FormStreamTransfer

/// Checks what is true of a result and the servers' records, whatever the outcome: there is no fault on the wire,
/// and there are as many complete bodies as attempts.
///
/// - Parameters:
///   - bodies: how many complete bodies arrived, if that is not the number of attempts.
///   - allowed: faults that the client can't avoid.
func expectConsistency(
  _ result: TransferResult, at servers: ScriptedServer..., bodies: Int? = nil,
  but allowed: [WireFault.Kind] = [], location: SourceLocation = #_sourceLocation
) {
  let faults = servers.flatMap(\.faults).filter { !allowed.contains($0.kind) }
  #expect(faults == [], sourceLocation: location)
  let complete = servers.flatMap(\.requests).filter(\.hasCompleteBody)
  let expected = bodies ?? (result.framing == .noBody ? 0 : result.attempts)
  #expect(complete.count == expected, "complete bodies at the servers", sourceLocation: location)
  guard result.outcome == .ok, result.framing != .noBody, let last = complete.last else { return }
  #expect(Int64(last.bodyCount) == result.bytesSent, sourceLocation: location)
  if let length = result.contentLength {
    #expect(last.framing == .contentLength(Int(length)), sourceLocation: location)
  }
}

/// A request with a small body, and retries without long waits.
func makeRequest(
  _ method: HTTPMethod, _ url: String, _ body: TransferBody? = .bytes(Array("important".utf8)),
  attempts: Int = 1
) throws -> TransferRequest {
  var request = try TransferRequest(method, url, body: body)
  request.options.retry = RetryPolicy(attempts: attempts)
  request.options.retry.baseDelay = .milliseconds(1)
  return request
}

/// The same, as a POST.
func makeRequest(
  _ url: String, _ body: TransferBody? = .bytes(Array("important".utf8)), attempts: Int = 1
) throws -> TransferRequest {
  try makeRequest(.post, url, body, attempts: attempts)
}

extension RecordedRequest {
  /// The head as text.
  var headText: String { String(decoding: head, as: UTF8.self) }
  /// The body as text.
  var bodyText: String { String(decoding: body, as: UTF8.self) }
}

/// A stream that can be read once.
func oneShot(_ bytes: some Sequence<UInt8>, length: Int64? = nil) -> TransferBody {
  let bytes = Array(bytes)
  return .part(.stream(length: length, replay: .once) { ScriptedSource(bytes) })
}
