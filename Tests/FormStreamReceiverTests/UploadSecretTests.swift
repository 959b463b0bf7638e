import FormStreamReceiver
import FormStreamTestSupport
import Testing

/// Who reads the receiver's log must not be able to change uploads.
@Suite struct UploadSecretTests {
  private static let secret = "0123456789abcdef0123456789abcdef"

  /// Regression: a request line that is malformed was quoted with the URL of an upload.
  @Test(arguments: [
    "PATCH /.formstream-uploads/ID x HTTP/1.1", "PATCH  /.formstream-uploads/ID HTTP/1.1",
    "PATCH //.formstream-uploads/ID HTTP/1.1", "POST /x/.formstream-uploads/ID HTTP/1.1",
    "POST x/.formstream-uploads/ID HTTP/1.1", "PUT .formstream-uploads/ID HTTP/1.1",
    "/.formstream-uploads/ID / HTTP/1.1", "PATCH /.formstream-uploads/ID?a=b x HTTP/1.1",
    "POST http:/h/.formstream-uploads/ID x HTTP/1.1", "POST /.formstream-uploads%2FID x HTTP/1.1",
    "POST /%2Eformstream-uploads/ID x HTTP/1.1", "POST /.FormStream-Uploads/ID x HTTP/1.1",
    "POST / HTTP/1.1\r\nX/.formstream-uploads/ID : y",
  ])
  func `no report of a malformed request has the URL of an upload`(_ line: String) async throws {
    let server = try UploadServer()
    let line = line.replacing("ID", with: Self.secret)
    let response = try? await server.responses(
      to: "\(line)\r\nHost: h\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
    if response?.last?.status == 400, line.hasPrefix("P") {
      _ = await eventually { !server.server.reportedRequests.isEmpty }
    }
    let records = server.server.reportedRequests.map(\.json)
    #expect(!records.joined().contains(Self.secret), "\(records) \(response ?? [])")
  }

  @Test func `only the names of uploads are hidden`() {
    let id = Self.secret
    let texts = [
      "/.formstream-uploads/\(id)": "/.formstream-uploads/***",
      "http://h/.formstream-uploads/\(id)?a=b": "http://h/.formstream-uploads/***",
      "Referer: https://h/.formstream-uploads/\(id), x": "Referer: https://h/.formstream-uploads/***, x",
      "The \"/.formstream-uploads/\(id) y\" is": "The \"/.formstream-uploads/*** y\" is",
      "/.formstream-uploads": "/.formstream-uploads", "/\(id).jpg": "/\(id).jpg", "/a%20b": "/a%20b",
      "/%2eformstream-uploads/\(id)": "***",
    ]
    #expect(texts.keys.map(\.hidingUploadIDs) == Array(texts.values))
  }
}
