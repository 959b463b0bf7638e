import FormStreamTestSupport

/// Requests of tus 1.0.0.
extension UploadServer {
  func createByTus(
    length: Int, body: String = "", _ headers: String...
  ) async throws -> WireResponse {
    let type = body.isEmpty ? "" : "Content-Type: application/offset+octet-stream\r\n"
    return try await response(
      to:
        "POST /files HTTP/1.1\r\nHost: h\r\nTus-Resumable: 1.0.0\r\nUpload-Length: \(length)\r\n\(type)"
        + headers.map { "\($0)\r\n" }.joined()
        + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
  }

  func patchByTus(
    _ path: String, _ body: String, at offset: Int, _ headers: String..., method: String = "PATCH"
  ) async throws -> WireResponse {
    try await response(
      to: Self.tusPatchHead(path, body.utf8.count, at: offset, headers, method: method) + body)
  }

  static func tusPatchHead(
    _ path: String, _ length: Int, at offset: Int, _ headers: [String] = [],
    method: String = "PATCH"
  ) -> String {
    "\(method) \(path) HTTP/1.1\r\nHost: h\r\nTus-Resumable: 1.0.0\r\nUpload-Offset: \(offset)\r\n"
      + headers.map { "\($0)\r\n" }.joined()
      + "Content-Type: application/offset+octet-stream\r\nContent-Length: \(length)\r\n\r\n"
  }

  func headByTus(_ path: String) async throws -> WireResponse {
    try await response(
      to: "HEAD \(path) HTTP/1.1\r\nHost: h\r\nTus-Resumable: 1.0.0\r\n\r\n", toHead: true)
  }
}
