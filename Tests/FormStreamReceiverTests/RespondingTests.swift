import FormStreamMultipart
import FormStreamPlatform
import FormStreamReceiver
import FormStreamTestSupport
import Testing

/// Handlers that choose the response themselves.
@Suite struct RespondingTests {
  private typealias Respond = @Sendable (CompleteUpload) throws -> UploadResponse?

  private final class Server: Sendable {
    let directory: TemporaryDirectory
    private let receiver: Receiver
    private let log: Guarded<[ReportedRequest]>

    init(_ directory: TemporaryDirectory, _ handler: some UploadHandler) throws {
      self.directory = directory
      let log = Guarded<[ReportedRequest]>([])
      self.log = log
      receiver = try Receiver.start(handler: handler) { request in
        log.withLock { $0.append(request) }
      }
    }

    convenience init(_ respond: @escaping Respond) throws {
      let directory = try TemporaryDirectory()
      try self.init(
        directory, DirectoryHandler(LocalPath(directory.path)).responding(respond))
    }

    /// - Parameter wrap: makes the handler from one that stores in the directory.
    static func around(_ wrap: (DirectoryHandler) -> some UploadHandler) throws -> Server {
      let directory = try TemporaryDirectory()
      return try Server(directory, wrap(DirectoryHandler(LocalPath(directory.path))))
    }

    /// Sends a form with a text, a file and another text, and returns the response and the request as it was reported.
    func post(_ headers: String...) async throws -> (WireResponse, ReportedRequest) {
      let body =
        "--b\r\nContent-Disposition: form-data; name=\"t\"\r\n\r\nhi\r\n"
        + "--b\r\nContent-Disposition: form-data; name=\"f\"; filename=\"x.txt\"\r\n\r\nabc\r\n"
        + "--b\r\nContent-Disposition: form-data; name=\"u\"\r\n\r\n\r\n--b--\r\n"
      let lines = headers.map { "\($0)\r\n" }.joined()
      let response = try await onNewThread { [receiver] in
        let client = try RawClient(.ip("127.0.0.1", port: receiver.port))
        try client.send(
          "POST /p HTTP/1.1\r\nHost: h\r\nContent-Type: multipart/form-data; boundary=b\r\n\(lines)"
            + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
        return try client.response()
      }
      try #require(await eventually { log.withLock { !$0.isEmpty } })
      return (response, try #require(log.withLock(\.last)))
    }

    var names: [String] { directory.names.sorted() }
  }

  @Test(arguments: [201, 202, 302])
  func `the receiver's own response can have another status`(_ status: Int) async throws {
    let server = try Server { _ in try .record(status: status) }
    let (response, request) = try await server.post()
    #expect(response.status == status)
    #expect(response.text == request.json && request.status == status && request.isComplete)
    #expect(server.names == ["x.txt"])
  }

  @Test func `a record that refuses says so, and nothing is kept`() async throws {
    let server = try Server { _ in try .record(status: 507) }
    let (response, request) = try await server.post()
    #expect(response.status == 507 && response.text == request.json)
    #expect(request.error?.code == "refused" && request.parts.count == 3 && !request.isComplete)
    #expect(server.names.isEmpty)
  }

  @Test(arguments: [204, 205, 304])
  func `a record is not sent with a status that has no body`(_ status: Int) async throws {
    let server = try Server { _ in try .record(status: status) }
    let (response, request) = try await server.post()
    #expect(response.status == status && response.text.isEmpty && request.isComplete)
  }

  @Test(arguments: [199, 600]) func `a record has a status from 200 to 599`(_ status: Int) {
    #expect(throws: ReceiverError.self) { try UploadResponse.record(status: status) }
  }

  @Test func `status, headers and body are the handler's, and the record has the status`()
    async throws
  {
    let server = try Server { upload in
      #expect(upload.request.target == "/p")
      #expect(upload.parts.map(\.name) == ["t", "f", "u"])
      #expect(upload.parts[0].value == Array("hi".utf8))
      #expect(upload.parts[1].storedAs == nil)
      try upload.store()
      return try UploadResponse(
        status: 201, headers: ["Location": "/files/\(upload.parts[1].storedAs ?? "")"],
        type: .json, body: "{}".utf8)
    }
    let (response, reported) = try await server.post("Accept: text/html")
    #expect(response.status == 201)
    #expect(response.headers("Location") == ["/files/x.txt"])
    #expect(response.headers("Content-Type") == ["application/json"])
    #expect(response.headers("Content-Length") == ["2"])
    #expect(response.text == "{}")
    #expect(server.names == ["x.txt"])
    #expect(reported.status == 201)
    #expect(reported.isComplete)
    #expect(reported.json.contains("\"stored_as\":\"x.txt\""))
    #expect(reported.json.hasSuffix("\"status\":201}\n"))
  }

  @Test func `without a response of its own the handler's upload is stored, and the record sent`()
    async throws
  {
    let server = try Server { _ in nil }
    let (response, reported) = try await server.post()
    #expect(response.status == 200)
    #expect(response.text == reported.json)
    #expect(server.names == ["x.txt"])
  }

  @Test(arguments: [200, 204, 303])
  func `an upload that is not refused is stored before the response`(_ status: Int) async throws {
    let server = try Server { _ in try UploadResponse(status: status) }
    let (response, reported) = try await server.post()
    #expect(response.status == status)
    #expect(response.text == "")
    #expect(server.names == ["x.txt"])
    #expect(reported.isComplete)
  }

  @Test(arguments: [400, 422, 503])
  func `of an upload that the handler refuses nothing is kept`(_ status: Int) async throws {
    let server = try Server { _ in try UploadResponse(status: status, text: "no") }
    let (response, reported) = try await server.post()
    #expect(response.status == status)
    #expect(response.text == "no")
    #expect(response.headers("Content-Type") == ["text/plain; charset=utf-8"])
    #expect(server.names == [])
    #expect(reported.status == status)
    #expect(!reported.isComplete)
    #expect(reported.error?.code == "refused")
    #expect(reported.parts.map(\.storedAs) == [nil, nil, nil])
  }

  @Test func `what was stored stays, and the record says so`() async throws {
    let server = try Server { upload in
      try upload.store()
      return try UploadResponse(status: 409, text: "no")
    }
    let (response, reported) = try await server.post()
    #expect(response.status == 409)
    #expect(server.names == ["x.txt"])
    #expect(reported.parts.map(\.storedAs) == [nil, "x.txt", nil])
  }

  @Test func `an error of the handler refuses the upload, and says if it was stored`() async throws {
    for stores in [false, true] {
      let server = try Server { upload in
        if stores { try upload.store() }
        throw TestError(4)
      }
      let (response, reported) = try await server.post()
      #expect(response.status == 500)
      #expect(response.text.contains("was stored, but") == stores)
      #expect(server.names == (stores ? ["x.txt"] : []))
      #expect(reported.error?.code == "handling-failed")
      #expect("\(String(describing: reported.underlying))".contains("TestError(number: 4)"))
    }
  }

  private static let refusing: Respond = { _ in
    try UploadResponse(status: 422, headers: ["X-Why": "no title"], text: "no")
  }

  @Test(arguments: [nil, 201] as [Int?], [false, true])
  func `a refusal of a handler that is inside another is sent, and nothing is kept`(
    _ outer: Int?, _ stores: Bool
  ) async throws {
    let server = try Server.around { directory in
      directory.responding(Self.refusing).responding { upload in
        if stores {
          let refusal = #expect(throws: UploadRefusal.self) { try upload.store() }
          #expect(refusal?.status == 422)
        }
        return try outer.map { try UploadResponse(status: $0) }
      }
    }
    let (response, reported) = try await server.post("Accept: text/html")
    #expect(response.status == 422)
    #expect(response.headers("X-Why") == ["no title"])
    #expect(response.text == "no")
    #expect(server.names == [])
    #expect(reported.status == 422)
    #expect(!reported.isComplete)
    #expect(reported.error?.code == "refused")
  }

  @Test func `the refusal of the outer handler is sent, whatever the inner would respond`()
    async throws
  {
    let server = try Server.around { directory in
      directory.responding(Self.refusing).responding { _ in
        try UploadResponse(status: 409, text: "outer")
      }
    }
    let (response, reported) = try await server.post()
    #expect(response.status == 409)
    #expect(response.text == "outer")
    #expect(server.names == [])
    #expect(reported.error?.code == "refused")
  }

  @Test(arguments: [nil, 202] as [Int?])
  func `a response of a handler that is inside another is sent if the other has none`(_ outer: Int?)
    async throws
  {
    let server = try Server.around { directory in
      directory.responding { _ in
        try UploadResponse(status: 201, headers: ["Location": "/1"], text: "inner")
      }.responding { upload in
        try upload.store()
        return try outer.map { try UploadResponse(status: $0, text: "outer") }
      }
    }
    let (response, reported) = try await server.post()
    #expect(response.status == outer ?? 201)
    #expect(response.headers("Location") == (outer == nil ? ["/1"] : []))
    #expect(response.text == (outer == nil ? "inner" : "outer"))
    #expect(server.names == ["x.txt"])
    #expect(reported.isComplete)
    #expect(reported.parts.map(\.storedAs) == [nil, "x.txt", nil])
  }

  @Test func `a handler that knows nothing of responses can't accept what one inside refuses`()
    async throws
  {
    let server = try Server.around { Forwarding(handler: $0.responding(Self.refusing)) }
    let (response, reported) = try await server.post()
    #expect(response.status == 422)
    #expect(response.headers("X-Why") == ["no title"])
    #expect(server.names == [])
    #expect(!reported.isComplete)
  }

  @Test(
    arguments: [
      (199, [:], ""), (600, [:], ""), (101, [:], ""), (204, [:], "x"), (304, [:], "x"),
      (200, ["a b": "c"], ""), (200, ["": "c"], ""),
      (200, ["a": "b\r\nc: d"], ""),
      (200, ["a": "b\u{0}"], ""), (200, ["content-length": "9"], ""),
      (200, ["Transfer-Encoding": "chunked"], ""), (200, ["connection": "close"], ""),
    ] as [(Int, HTTPHeaders, String)])
  func `a response that can't be sent is an error before it is`(
    _ status: Int, _ headers: HTTPHeaders, _ body: String
  ) {
    let error = #expect(throws: ReceiverError.self) {
      try UploadResponse(status: status, headers: headers, body: body.utf8)
    }
    #expect(error?.code == .invalidResponse)
    #expect(error?.description.hasSuffix(".") == true)
  }

  @Test func `a response has one media type`() throws {
    let header: HTTPHeaders = ["content-type": "text/csv"]
    let twice: [() throws -> UploadResponse] = [
      { try UploadResponse(status: 200, headers: header, type: .json, body: "{}".utf8) },
      { try UploadResponse(status: 200, headers: header, text: "a,b") },
      {
        try UploadResponse(
          status: 200,
          headers: HTTPHeaders([("content-type", "text/csv"), ("content-type", "text/csv")]),
          body: "a,b".utf8)
      },
    ]
    for make in twice {
      let error = #expect(throws: ReceiverError.self) { try make() }
      #expect(error?.code == .invalidResponse)
      #expect(error?.description.contains("Content-Type") == true)
    }
    #expect(
      try UploadResponse(status: 200, headers: header, body: "a,b".utf8).headers == header)
  }

  @Test func `the connection is kept after a response of the handler`() async throws {
    let handler = DiscardHandler().responding { upload in
      try UploadResponse(status: 202, text: "\(upload.parts.first?.size ?? -1)")
    }
    let receiver = try Receiver.start(handler: handler)
    let texts = try await onNewThread {
      let client = try RawClient(.ip("127.0.0.1", port: receiver.port))
      return try ["a", "bcd", ""].map { text in
        try client.send(
          "PUT /a HTTP/1.1\r\nHost: h\r\nContent-Length: \(text.utf8.count)\r\n\r\n\(text)")
        return try client.response().text
      }
    }
    #expect(texts == ["1", "3", "0"])
  }
}

/// A handler around another that only passes on what it is given.
private struct Forwarding<Handler: UploadHandler>: UploadHandler {
  let handler: Handler

  func begin(_ request: UploadRequest) throws -> any Upload {
    Forwarded(try handler.begin(request))
  }

  private final class Forwarded: Upload {
    private let upload: any Upload
    init(_ upload: any Upload) { self.upload = upload }
    func begin(_ part: PartDescription) throws -> any PartSink { try upload.begin(part) }
    func end(_ parts: [ReceivedPart]) throws { try upload.end(parts) }
  }
}
