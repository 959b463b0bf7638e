import FormStreamMultipart
import FormStreamReceiver
import FormStreamTestSupport
import Testing

/// A receiver with resumable uploads of any size, and the requests that clients send to it.
final class UploadServer: Sendable {
  let server: DirectoryServer
  let directory: TemporaryDirectory

  init(
    in directory: TemporaryDirectory? = nil, below name: String? = nil, overwrites: Bool = false,
    _ setUp: (inout Receiver.ResumableUploads) -> Void = { _ in },
    configure: (inout Receiver.Configuration) -> Void = { _ in }
  ) throws {
    let directory = try directory ?? TemporaryDirectory()
    self.directory = directory
    var uploads = Receiver.ResumableUploads(in: LocalPath(name.map(directory.path) ?? directory.path))
    uploads.minimumSize = 0
    setUp(&uploads)
    server = try DirectoryServer(overwrites: overwrites, in: directory, below: name) {
      $0.resumableUploads = uploads
      configure(&$0)
    }
  }

  /// The names of the stored files.
  var storedNames: [String] { server.names.filter { $0 != ".formstream-uploads" } }
  /// The names of the files that the receiver keeps for uploads.
  var uploadFiles: [String] { (try? server.directory.names(in: ".formstream-uploads")) ?? [] }

  /// How many bytes the receiver has kept of the upload at a path; asking for them changes nothing. Nil if there is no file.
  func bodySize(_ path: String) -> Int? {
    directory.size(of: String(path.dropFirst()))
  }

  var port: UInt16 { server.port }

  func client() throws -> RawClient { try server.client() }

  /// Sends a request on a new connection, and returns all responses to it.
  func responses(to request: String) async throws -> [WireResponse] {
    try await onNewThread {
      let client = try self.client()
      try client.send(request)
      client.closeWrite()
      return try client.responsesToEnd()
    }
  }

  /// The last response to a request on a new connection.
  func response(to request: String, toHead: Bool = false) async throws -> WireResponse {
    try await onNewThread {
      let client = try self.client()
      try client.send(request)
      while true {
        let response = try client.response(toHead: toHead)
        if response.status >= 200 { return response }
      }
    }
  }

  /// Begins an upload of `size` bytes, sends `body`, and returns the connection and the upload's path.
  func begin(
    _ body: String, of size: Int, to target: String = "/a", method: String = "PUT",
    _ headers: String...
  ) throws -> (client: RawClient, path: String) {
    let client = try client()
    try client.send(
      "\(method) \(target) HTTP/1.1\r\nHost: h\r\nContent-Length: \(size)\r\nUpload-Complete: ?1\r\n"
        + "Upload-Draft-Interop-Version: 8\r\n\(headers.map { "\($0)\r\n" }.joined())\r\n\(body)")
    let response = try client.response()
    #expect(response.status == 104, "\(response)")
    return (client, try #require(response.headers("Location").first))
  }

  /// Begins an upload, sends `body`, and breaks the connection. Returns the upload's path.
  func beginAndBreak(
    _ body: String, of size: Int, to target: String = "/a", method: String = "PUT",
    _ headers: String...
  ) async throws -> String {
    let path = try await onNewThread {
      let client = try self.client()
      try client.send(
        "\(method) \(target) HTTP/1.1\r\nHost: h\r\nContent-Length: \(size)\r\nUpload-Complete: ?1\r\n"
          + "Upload-Draft-Interop-Version: 8\r\n\(headers.map { "\($0)\r\n" }.joined())\r\n\(body)")
      let response = try client.response()
      #expect(response.status == 104, "\(response)")
      client.closeWrite()
      _ = try? client.responsesToEnd()
      return try #require(response.headers("Location").first)
    }
    return path
  }

  func head(_ path: String) async throws -> WireResponse {
    try await response(to: "HEAD \(path) HTTP/1.1\r\nHost: h\r\n\r\n", toHead: true)
  }

  /// The number of bytes that have arrived.
  func offset(_ path: String) async throws -> Int? {
    try await head(path).headers("Upload-Offset").first.flatMap { Int($0) }
  }

  func patch(
    _ path: String, _ body: String, at offset: Int, completes: Bool, _ headers: String...
  ) async throws -> WireResponse {
    try await response(
      to: Self.patchHead(path, body.utf8.count, at: offset, completes: completes, headers) + body)
  }

  static func patchHead(
    _ path: String, _ length: Int, at offset: Int, completes: Bool, _ headers: [String] = []
  ) -> String {
    "PATCH \(path) HTTP/1.1\r\nHost: h\r\nContent-Type: application/partial-upload\r\n"
      + "Content-Length: \(length)\r\nUpload-Offset: \(offset)\r\nUpload-Complete: \(completes ? "?1" : "?0")\r\n"
      + "Upload-Draft-Interop-Version: 8\r\n" + headers.map { "\($0)\r\n" }.joined() + "\r\n"
  }
}
