import FormStreamPlatform
import FormStreamReceiver
import FormStreamTestSupport
import Testing

/// A receiver under test, and the requests that it has reported.
final class TestServer: Sendable {
  let receiver: Receiver
  let handler: InMemoryHandler
  private let log: Guarded<[ReportedRequest]>

  init(
    _ handler: InMemoryHandler = InMemoryHandler(),
    _ setUp: (inout Receiver.Configuration) -> Void = { _ in }
  ) throws {
    var configuration = Receiver.Configuration()
    setUp(&configuration)
    let log = Guarded<[ReportedRequest]>([])
    self.log = log
    self.handler = handler
    receiver = try Receiver.start(configuration, handler: handler) { request in
      log.withLock { $0.append(request) }
    }
  }

  /// The requests reported so far.
  var reportedRequests: [ReportedRequest] { log.withLock(\.self) }

  /// Waits until at least `count` requests have been reported.
  func reportedRequests(_ count: Int) async throws -> [ReportedRequest] {
    try #require(
      await eventually { reportedRequests.count >= count },
      "only \(reportedRequests.count) requests were reported")
    return reportedRequests
  }

  func client() throws -> RawClient { try RawClient(.ip("127.0.0.1", port: receiver.port)) }

  /// Sends everything at once on one connection, and returns the responses until the receiver closes.
  func responses(to text: String, mayRepeatHead: Bool = false) async throws -> [WireResponse] {
    try await responses(to: Array(text.utf8), mayRepeatHead: mayRepeatHead)
  }

  func responses(to bytes: [UInt8], mayRepeatHead: Bool = false) async throws -> [WireResponse] {
    try await onNewThread {
      let client = try self.client()
      // A receiver that refuses need not read everything.
      do { try client.send(bytes) } catch {}
      return try client.responsesToEnd(mayRepeatHead: mayRepeatHead)
    }
  }

  /// The only response to a request on a new connection.
  func response(to text: String) async throws -> WireResponse {
    let responses = try await responses(to: text)
    #expect(responses.count == 1, "\(responses)")
    return try #require(responses.first)
  }
}

extension RawClient {
  /// Sends the text again and again until the receiver ends the connection; fails the test if it does not.
  ///
  /// - Returns: the number of bytes sent.
  @discardableResult
  func sendUntilClosed(
    _ text: String, sourceLocation: SourceLocation = #_sourceLocation
  ) -> Int {
    let bytes = Array(text.utf8)
    var count = 0
    do {
      while true {
        try send(bytes)
        count += bytes.count
      }
    } catch {
      // If the receiver neither reads nor closes, the client's time limit expires instead.
      #expect(
        (error as? SystemError)?.isConnectionEnd == true, "\(error)",
        sourceLocation: sourceLocation)
    }
    return count
  }
}
