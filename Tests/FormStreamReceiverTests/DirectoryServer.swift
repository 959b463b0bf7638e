import Foundation
import FormStreamMultipart
import FormStreamPlatform
import FormStreamReceiver
import FormStreamTestSupport

/// A receiver that stores files in a new directory, and the requests that it has reported.
final class DirectoryServer: Sendable {
  let directory: TemporaryDirectory
  private let receiver: Receiver
  private let log: Guarded<[ReportedRequest]>

  init(
    overwrites: Bool = false, in directory: TemporaryDirectory? = nil, below name: String? = nil,
    _ setUp: (inout Receiver.Configuration) -> Void = { _ in }
  ) throws {
    self.directory = try directory ?? TemporaryDirectory()
    var configuration = Receiver.Configuration()
    setUp(&configuration)
    let log = Guarded<[ReportedRequest]>([])
    self.log = log
    receiver = try Receiver.start(
      configuration,
      handler: try DirectoryHandler(
        LocalPath(name.map(self.directory.path) ?? self.directory.path), keepsPaths: true, overwrites: overwrites)
    ) { request in log.withLock { $0.append(request) } }
  }

  var reportedRequests: [ReportedRequest] { log.withLock(\.self) }

  var port: UInt16 { receiver.port }

  func client() throws -> RawClient { try RawClient(.ip("127.0.0.1", port: receiver.port)) }

  /// The response to one request on a new connection.
  func response(to request: String) async throws -> WireResponse {
    try await onNewThread {
      let client = try self.client()
      try client.send(request)
      return try client.response()
    }
  }

  /// Uploads a text by PUT.
  func put(
    _ text: String, to target: String = "/a", _ headers: String..., method: String = "PUT"
  ) async throws -> WireResponse {
    let lines = headers.map { "\($0)\r\n" }.joined()
    return try await response(
      to:
        "\(method) \(target) HTTP/1.1\r\nHost: h\r\n\(lines)Content-Length: \(text.utf8.count)\r\n\r\n\(text)"
    )
  }

  /// The names of the files that are stored, in order.
  var names: [String] { directory.names.sorted() }

  /// The text of a stored file.
  func text(_ name: String) throws -> String {
    try String(contentsOfFile: directory.path(name), encoding: .utf8)
  }
}
