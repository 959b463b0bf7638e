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
    let method = String(line.prefix { $0 != " " })
    let methods = method.hasPrefix("/") ? [method] : ["GET", "HEAD", "PUT", "POST", "PATCH", "DELETE"]
    for other in methods {
      let line = (other + line.dropFirst(method.count)).replacing("ID", with: Self.secret)
      let earlier = server.server.reportedRequests.count
      let request = "\(line)\r\nHost: h\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
      let responses =
        other == "HEAD"
        ? [try await server.response(to: request, toHead: true)] : try await server.responses(to: request)
      // Nothing could leak if nothing was reported.
      #expect(await eventually { server.server.reportedRequests.count > earlier }, "\(line) \(responses)")
      let records = server.server.reportedRequests.dropFirst(earlier).map(\.json)
      #expect(records.allSatisfy { $0.contains("***") || other.hasPrefix("/") }, "\(records)")
      #expect(!"\(records) \(responses)".contains(Self.secret), "\(records) \(responses)")
    }
  }

  @Test func `only the names of uploads are hidden`() {
    let id = Self.secret
    let texts = [
      "/.formstream-uploads/\(id)": "/.formstream-uploads/***",
      "http://h/.formstream-uploads/\(id)?a=b": "http://h/.formstream-uploads/***",
      "Referer: https://h/.formstream-uploads/\(id), x": "Referer: https://h/.formstream-uploads/***, x",
      "The \"/.formstream-uploads/\(id) y\" is": "The \"/.formstream-uploads/*** y\" is",
      "/.formstream-uploads": "/.formstream-uploads", "/\(id).jpg": "/\(id).jpg", "/a%20b": "/a%20b",
      "/%2eformstream-uploads/\(id)": "***", "/%252eformstream-uploads/\(id)": "***",
      "/.formstream-uploads?/%2Eformstream-uploads/\(id)": "/.formstream-uploads/***",
      "/.formstream-uploads/\")\(id)": "/.formstream-uploads/***\")***",
      "/.formstream-uploads;\(id.uppercased())": "/.formstream-uploads;***",
      "/.formstream-uploads;\(id.dropLast())": "/.formstream-uploads;\(id.dropLast())",
    ]
    #expect(texts.keys.map(\.hidingUploadIDs) == Array(texts.values))
  }
}
