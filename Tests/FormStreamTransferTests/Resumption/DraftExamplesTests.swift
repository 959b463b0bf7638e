import FormStream
import FormStreamPlatform
import FormStreamTestSupport
import FormStreamTransfer
import Testing

/// A server plays the responses of the examples in draft-ietf-httpbis-resumable-upload, byte for byte, but with the host of the
/// test, with the header that the draft's versions need, and with a thousandth of the bytes.
struct DraftExamplesTests {
  private static let bytes = noise(123_456)

  private static func made(_ path: String) -> String {
    """
    HTTP/1.1 104 Upload Resumption Supported\r
    Location: \(path)\r
    Upload-Draft-Interop-Version: 8\r
    \r

    """
  }

  private static let stored = """
    HTTP/1.1 200 OK\r
    Upload-Complete: ?1\r
    Content-Type: application/json\r
    Content-Length: 29\r
    \r
    {"attachmentId": "b530ce8ff"}
    """

  private static let appended = "HTTP/1.1 204 No Content\r\nUpload-Complete: ?0\r\n\r\n"

  private static func offset(_ offset: Int) -> String {
    """
    HTTP/1.1 204 No Content\r
    Upload-Complete: ?0\r
    Upload-Offset: \(offset)\r
    Upload-Length: 123456\r
    Upload-Limit: max-age=3600\r
    Cache-Control: no-store\r
    \r

    """
  }

  /// - Parameter scripts: what the server does, request by request.
  private func upload(
    _ resumption: UploadResumption, pieceSize: Int64? = nil, _ scripts: [[ScriptedStep]]
  ) async throws -> (result: TransferResult, requests: [RecordedRequest]) {
    let server = try ScriptedServer(requests: scripts)
    var request = try makeRequest("\(server.url)/project/123/files", .bytes(Self.bytes), attempts: 3)
    request.options.resumption = resumption
    request.options.resumption.pieceSize = pieceSize
    request.options.expectation = .never
    return (try await makeSession().result(of: request), server.requests)
  }

  private func lines(_ request: RecordedRequest) -> [String] {
    ["\(request.method) \(request.target)"]
      + ["Upload-Complete", "Upload-Offset", "Content-Type"].flatMap { name in
        request.headers.filter { $0.name == name }.map { "\(name): \($0.value)" }
      }
  }

  /// §3.1
  @Test func `example 1: a complete upload of known size`() async throws {
    let (result, requests) = try await upload(
      .http,
      [
        [.send(Self.made("/uploads/abc")), .readBody(upTo: 50_000), .reset],
        [.send("HTTP/1.1 204 No Content\r\nUpload-Offset: 50000\r\n\r\n")],
        [.readBody, .send(Self.stored)],
      ])
    #expect(result.outcome == .ok, "\(String(describing: result.error))")
    #expect(result.response?.text == #"{"attachmentId": "b530ce8ff"}"#)
    #expect(
      requests.map(lines) == [
        ["POST /project/123/files", "Upload-Complete: ?1", "Content-Type: application/octet-stream"],
        ["HEAD /uploads/abc"],
        [
          "PATCH /uploads/abc", "Upload-Complete: ?1", "Upload-Offset: 50000",
          "Content-Type: application/partial-upload",
        ],
      ])
    #expect(requests[2].body == Array(Self.bytes[50_000...]))
  }

  /// §3.2, but the parts begin after the request that creates the upload.
  @Test func `example 2: an upload in parts`() async throws {
    let (result, requests) = try await upload(
      .httpCreatedFirst, pieceSize: 50_000,
      [
        [.readBody, .send("HTTP/1.1 201 Created\r\nLocation: /uploads/abc\r\nContent-Length: 0\r\n\r\n")],
        [.readBody, .send("HTTP/1.1 204 No Content\r\n\r\n")],
        [.readBody(upTo: 10_000), .reset],
        [.send("HTTP/1.1 204 No Content\r\nUpload-Offset: 60000\r\n\r\n")],
        [.readBody, .send("HTTP/1.1 204 No Content\r\n\r\n")],
        [.readBody, .send(Self.stored)],
      ])
    #expect(result.outcome == .ok, "\(String(describing: result.error))")
    let pieces = requests.filter { $0.method == "PATCH" }.map(lines).map { $0[1...2].joined(separator: " ") }
    #expect(
      pieces == [
        "Upload-Complete: ?0 Upload-Offset: 0", "Upload-Complete: ?0 Upload-Offset: 50000",
        "Upload-Complete: ?0 Upload-Offset: 60000", "Upload-Complete: ?1 Upload-Offset: 110000",
      ])
  }

  /// §4.2.3 A
  @Test func `creation, A: several interim responses and a final one`() async throws {
    let (result, requests) = try await upload(
      .http,
      [
        [
          .send(
            """
            HTTP/1.1 104 Upload Resumption Supported\r
            Location: /upload/b530ce8ff\r
            Upload-Limit: max-size=1234567890\r
            Upload-Draft-Interop-Version: 8\r
            \r

            """), .readBody(upTo: 23_456),
          .send(
            "HTTP/1.1 104 Upload Resumption Supported\r\nUpload-Offset: 23456\r\nUpload-Draft-Interop-Version: 8\r\n\r\n"),
          .readBody,
          .send(
            """
            HTTP/1.1 200 OK\r
            Location: /upload/b530ce8ff\r
            Upload-Complete: ?1\r
            Upload-Limit: max-size=1234567890\r
            Content-Type: application/json\r
            Content-Length: 29\r
            \r
            {"attachmentId": "b530ce8ff"}
            """),
        ]
      ])
    #expect(result.outcome == .ok)
    #expect(requests.count == 1)
    #expect(result.response?.text == #"{"attachmentId": "b530ce8ff"}"#)
  }

  /// §4.2.3 C
  @Test func `creation, C: after a status of 500, the upload goes on`() async throws {
    let (result, requests) = try await upload(
      .http,
      [
        [
          .send(Self.made("/upload/0587fa44b")), .readBody,
          .send("HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\n\r\n"),
        ],
        [.send(Self.offset(25_000))],
        [.readBody, .send(Self.stored)],
      ])
    #expect(result.outcome == .ok, "\(String(describing: result.error))")
    #expect(requests.map(\.method) == ["POST", "HEAD", "PATCH"])
    #expect(requests[2].body == Array(Self.bytes[25_000...]))
  }

  /// §4.2.3 D
  @Test func `creation, D: a refusal of the complete upload is the end`() async throws {
    let (result, requests) = try await upload(
      .http,
      [
        [
          .send(Self.made("/upload/6723cdf37")), .readBody,
          .send("HTTP/1.1 400 Bad Request\r\nUpload-Complete: ?1\r\nContent-Length: 0\r\n\r\n"),
        ]
      ])
    #expect(result.outcome == .failed)
    #expect(result.resumeData == nil)
    #expect(requests.count == 1)
  }

  /// §4.4.3 A and B
  @Test func `appending, A and B: an interim response, and the end`() async throws {
    let (result, requests) = try await upload(
      .httpCreatedFirst, pieceSize: 100_000,
      [
        // §4.2.3 B
        [
          .readBody,
          .send(
            """
            HTTP/1.1 201 Created\r
            Location: /upload/3fd4994ad\r
            Upload-Complete: ?0\r
            Upload-Limit: max-size=1234567890\r
            Content-Length: 0\r
            \r

            """),
        ],
        [
          .readBody(upTo: 21_728),
          .send(
            "HTTP/1.1 104 Upload Resumption Supported\r\nUpload-Offset: 21728\r\nUpload-Draft-Interop-Version: 8\r\n\r\n"),
          .readBody, .send(Self.appended),
        ],
        [.readBody, .send(Self.stored)],
      ])
    #expect(result.outcome == .ok, "\(String(describing: result.error))")
    #expect(requests.map(\.method) == ["POST", "PATCH", "PATCH"])
    #expect(requests[2].body == Array(Self.bytes[100_000...]))
  }

  /// §7.1
  @Test func `a mismatching offset is asked for again`() async throws {
    let (result, requests) = try await upload(
      .http,
      [
        [.send(Self.made("/uploads/abc")), .readBody(upTo: 25_000), .reset],
        [.send(Self.offset(12_500))],
        [
          .readBody,
          .send(
            """
            HTTP/1.1 409 Conflict\r
            Content-Type: application/problem+json\r
            Upload-Offset: 25000\r
            Upload-Complete: ?0\r
            Content-Length: 177\r
            \r
            {"type":"https://iana.org/assignments/http-problem-types#mismatching-upload-offset","title":"offset from request does \
            not match","expected-offset":25000,"provided-offset":12500}
            """),
        ],
        [.send(Self.offset(25_000))],
        [.readBody, .send(Self.stored)],
      ])
    #expect(result.outcome == .ok, "\(String(describing: result.error))")
    #expect(requests.last?.body == Array(Self.bytes[25_000...]))
  }

  /// §7.2
  @Test func `inconsistent lengths are a refusal for good`() async throws {
    let (result, requests) = try await upload(
      .http,
      [
        [
          .send(Self.made("/uploads/abc")), .readBody,
          .send(
            """
            HTTP/1.1 400 Bad Request\r
            Content-Type: application/problem+json\r
            Upload-Complete: ?0\r
            Content-Length: 0\r
            \r

            """),
        ]
      ])
    #expect(result.outcome == .failed)
    #expect(result.error?.code == .statusRefused)
    #expect(requests.count == 1)
  }
}
