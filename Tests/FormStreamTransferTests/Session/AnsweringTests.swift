import FormStreamTestSupport
import FormStreamTransfer
@testable import FormStreamHTTP
import Foundation
import Testing

/// Requests that a test answers, without a network.
struct AnsweringTests {
  private struct Photo: Codable, Equatable {
    var id: Int
  }

  @Test(arguments: ["http://nowhere.invalid/photos?x=1", "https://nowhere.invalid:8443/photos?x=1"])
  func `a form reaches the function, and its response comes back`(url: String) async throws {
    let place = try TemporaryDirectory()
    let file = try place.write("sunset.jpg", noise(300_000))
    let session = try TransferSession { request in
      let form = try await request.form()
      guard form["photo"]?.bytes == noise(300_000) else { return .status(400) }
      return .json(#"{"id": 7}"#, status: 201, headers: ["X-Title": form["title"]?.text ?? ""])
    }
    let form = Form {
      Part.text("title", "Sunset")
      Part.file("photo", file)
    }
    let response = try await session.post(url, form: form, headers: ["X-Own": "yes"])
    #expect(response.status == 201)
    #expect(response.headers["X-Title"] == "Sunset")
    #expect(try response.decoded(as: Photo.self) == Photo(id: 7))
    let request = try #require(session.answeredRequests.first)
    #expect(request.number == 1)
    #expect(request.method == .post)
    #expect(request.url.absoluteString == url)
    #expect(request.headers["X-Own"] == "yes")
    #expect(request.headers["Content-Length"] == "\(try await request.body().count)")
  }

  @Test func `a body of unknown length arrives completely`() async throws {
    let session = try TransferSession { request in
      .text("\(try await request.body() == noise(700_000)) \(request.headers["Transfer-Encoding"] ?? "")")
    }
    let response = try await session.put("http://h/f", body: oneShot(noise(700_000)))
    #expect(response.text == "true chunked")
  }

  /// The function may leave the body alone, and look at it after the response.
  @Test func `a body that was not asked for is read to its end, and its beginning is kept`() async throws {
    let session = try TransferSession { _ in .status(200) }
    let result = await session.result(of: try makeRequest("http://h/", .bytes(noise(3_000_000))))
    #expect(result.outcome == .ok)
    #expect(result.bytesSent == 3_000_000)
    let request = try #require(session.answeredRequests.first)
    #expect(await request.bodyPrefix(1000) == Array(noise(3_000_000).prefix(1000)))
    await #expect(throws: TransferError.self) { try await request.body() }
    await #expect(throws: MultipartError.self) { try await request.body(upTo: 10) }
    try await session.post("http://h/", fields: ["a": "b"])
    #expect(try await session.answeredRequests[1].text() == "a=b")
  }

  @Test func `without a response, a POST is unknown, and a GET may be sent again`() async throws {
    let session = try TransferSession { request in
      _ = try await request.body()
      return .lost
    }
    let posted = await session.result(of: try makeRequest("https://h/"))
    #expect(posted.outcome == .unknown)
    #expect(posted.error?.code == .connectionLost)
    let gotten = await session.result(of: try makeRequest(.get, "https://h/", nil))
    #expect(gotten.outcome == .retryable)
  }

  @Test func `a request can be cut in the middle of its body`() async throws {
    let session = try TransferSession { request in
      _ = await request.bodyPrefix(100_000)
      return .lost
    }
    let result = await session.result(of: try makeRequest("http://h/", .bytes(noise(8_000_000))))
    #expect(result.outcome == .retryable)
    #expect((100_000..<8_000_000).contains(result.bytesSent))
    #expect(result.response == nil)
  }

  @Test func `a response can be cut in the middle of its body`() async throws {
    let session = try TransferSession { _ in .text("0123456789").cut(after: 4) }
    let result = await session.result(of: try makeRequest(.get, "http://h/", nil))
    #expect(result.outcome == .retryable)
    #expect(result.response?.text == "0123")
    #expect(result.response?.isTruncated == true)
  }

  @Test func `a server that says nothing is given up on, or cancelled`() async throws {
    let session = try TransferSession { _ in .silent }
    var request = try makeRequest("http://h/")
    request.options.timeLimits.response = .milliseconds(20)
    let result = await session.result(of: request)
    #expect(result.outcome == .unknown)
    #expect(result.error?.code == .responseTimedOut)
    let task = session.start(try makeRequest("http://h/"))
    #expect(await eventually { session.answeredRequests.count == 2 })
    task.cancel()
    #expect(await task.result.error?.code == .cancelled)
  }

  /// The response's time limit begins only after the body. Nobody read a body that is larger than what the system takes, so this
  /// request went on forever.
  @Test func `a server that says nothing reads the body first`() async throws {
    let session = try TransferSession { _ in .silent }
    var request = try makeRequest("http://h/", .bytes(noise(3_000_000)))
    request.options.timeLimits.response = .milliseconds(20)
    let result = await session.result(of: request)
    #expect(result.error?.code == .responseTimedOut)
    #expect(result.outcome == .unknown)
    #expect(result.bytesSent == 3_000_000)
  }

  @Test func `a server can stall in the middle of the body`() async throws {
    let (stall, stalls) = AsyncStream.makeStream(of: Void.self)
    let session = try TransferSession { request in
      _ = await request.bodyPrefix(100_000)
      stalls.yield()
      var response = TestResponse.silent
      response.followsBody = false
      return response
    }
    let task = session.start(try makeRequest("http://h/", .bytes(noise(8_000_000))))
    for await _ in stall { break }
    task.cancel()
    let result = await task.result
    #expect(result.error?.code == .cancelled)
    #expect((100_000..<8_000_000).contains(result.bytesSent))
  }

  /// It took 50 ms for each byte.
  @Test func `a response can have fewer than 20 bytes a second`() async throws {
    let session = try TransferSession { _ in .text("abc").slowed(to: 5) }
    let start = ContinuousClock.now
    #expect(try await session.get("http://h/").text == "abc")
    #expect(ContinuousClock.now - start >= .milliseconds(400))
  }

  /// The client waited for bytes that nobody sent.
  @Test(arguments: [
    TestResponse.text("0123456789", headers: ["Content-Length": "20"]),
    .text("a\r\n0123456789\r\n", headers: ["Transfer-Encoding": "chunked"]),
  ])
  func `a response that is shorter than its head says is incomplete`(response: TestResponse) async throws {
    let session = try TransferSession { _ in response }
    let result = await session.result(of: try makeRequest(.get, "http://h/", nil))
    #expect(result.outcome == .retryable)
    #expect(result.response?.text == "0123456789")
    #expect(result.response?.isTruncated == true)
  }

  @Test(arguments: [
    "https://h/photos/7?x=/1": "/photos/7", "http://h": "/", "http://h?x": "/", "https://h:8443/a%20b": "/a%20b",
    "http://[::1]/c#d": "/c",
  ])
  func `a request has the path of its URL`(url: String, path: String) async throws {
    let session = try TransferSession { request in .text(request.path) }
    #expect(try await session.get(url).text == path)
  }

  /// Such a request would pass the test, and fail in the network.
  @Test func `credentials without encryption are refused as in the network`() async throws {
    let session = try TransferSession { _ in .status(200) }
    var options = TransferOptions()
    options.requiresEncryptionForCredentials = true
    await #expect(throws: TransferError.self) {
      try await session.get("http://h.example/", credentials: .bearer("t"), options: options)
    }
    #expect(session.answeredRequests.isEmpty)
    _ = try await session.get("https://h.example/", credentials: .bearer("t"), options: options)
    _ = try await session.get("http://127.0.0.1/", credentials: .bearer("t"), options: options)
    #expect(session.answeredRequests.count == 2)
  }

  @Test func `a slow response arrives completely`() async throws {
    let session = try TransferSession { _ in .text("0123456789").slowed(to: 100) }
    #expect(try await session.get("http://h/").text == "0123456789")
  }

  @Test func `retries and redirects are further requests`() async throws {
    let session = try TransferSession { request in
      switch request.number {
      case 1: .status(503)
      case 2: .redirect(to: "/there")
      default: .text(try await request.text())
      }
    }
    let result = await session.result(of: try makeRequest("https://h/here", attempts: 2))
    #expect(result.response?.text == "important")
    #expect(result.attempts == 3)
    #expect(
      session.answeredRequests.map(\.url.absoluteString) == [
        "https://h/here", "https://h/here", "https://h/there",
      ])
    #expect(session.answeredRequests.map(\.number) == [1, 2, 3])
  }

  @Test func `a response may come before the body was read`() async throws {
    let session = try TransferSession { _ in
      var response = TestResponse.status(413)
      response.followsBody = false
      return response
    }
    let result = await session.result(of: try makeRequest("http://h/", .bytes(noise(8_000_000))))
    #expect(result.outcome == .failed)
    #expect(result.status == 413)
    #expect(result.bytesSent < 8_000_000)
  }

  @Test(arguments: [true, false])
  func `a client that waits for 100 gets it once the body is read`(isAccepted: Bool) async throws {
    let session = try TransferSession { request in
      guard isAccepted else {
        var response = TestResponse.status(401)
        response.followsBody = false
        return response
      }
      return .text(try await request.text())
    }
    var request = try makeRequest("http://h/")
    request.options.expectation = .always
    request.options.expectation.timeout = .seconds(300)
    let result = await session.result(of: request)
    #expect(result.status == (isAccepted ? 200 : 401))
    #expect(result.bytesSent == (isAccepted ? 9 : 0))
  }

  @Test func `what the function can't answer is a 500 that says why`() async throws {
    struct Unexpected: Error {}
    let session = try TransferSession { request in
      switch request.number {
      case 1: throw Unexpected()
      case 2: .status(200, headers: ["Bad\r\nName": "x"])
      default: .status(42)
      }
    }
    for words in ["Unexpected", "is not valid", "42"] {
      let result = await session.result(of: try makeRequest(.get, "http://h/", nil))
      #expect(result.status == 500)
      #expect(result.response?.text.contains(words) == true)
    }
  }

  @Test func `many requests are answered at the same time`() async throws {
    let session = try TransferSession { request in .text(try await request.text()) }
    let texts = try await withThrowingTaskGroup(of: String.self) { group in
      for number in 0..<100 {
        group.addTask { try await session.post("http://h/", body: .bytes(Array("\(number)".utf8))).text }
      }
      return try await group.reduce(into: Set()) { $0.insert($1) }
    }
    #expect(texts == Set((0..<100).map(String.init)))
    #expect(session.answeredRequests.count == 100)
  }

  @Test func `a HEAD and a 204 have no body`() async throws {
    let session = try TransferSession { request in
      request.method == .head ? .text("12345") : .status(204)
    }
    let head = await session.result(of: try makeRequest(.head, "http://h/", nil))
    #expect(head.response?.headers["Content-Length"] == "5")
    #expect(head.response?.body == [])
    try await session.delete("http://h/")
    #expect(session.answeredRequests.count == 2)
  }

  @Test func `a download that was cut goes on`() async throws {
    let place = try TemporaryDirectory()
    let session = try TransferSession { request in
      let headers: HTTPHeaders = ["ETag": "\"1\""]
      guard let range = request.headers["Range"] else {
        return TestResponse(headers: headers, body: noise(500_000)).cut(after: 200_000)
      }
      #expect(range == "bytes=200000-")
      return TestResponse(
        status: 206, headers: ["ETag": "\"1\"", "Content-Range": "bytes 200000-499999/500000"],
        body: noise(500_000).dropFirst(200_000))
    }
    var options = TransferOptions.download
    options.retry.baseDelay = .milliseconds(1)
    let file = try await session.download(
      "https://h/f", DownloadSettings(.file(place.path("f"))), options: options)
    #expect(file.size == 500_000)
    #expect(try Array(Data(contentsOf: URL(filePath: place.path("f")))) == noise(500_000))
  }

  @Test func `cookies and credentials work as with a server`() async throws {
    var configuration = TransferSession.Configuration()
    configuration.cookies = .session()
    let session = try TransferSession(configuration) { request in
      .text(
        "\(request.headers["Cookie"] ?? "-") \(request.headers["Authorization"] ?? "-")",
        headers: ["Set-Cookie": "a=1"])
    }
    #expect(try await session.get("https://h/").text == "- -")
    let second = try await session.get("https://h/", credentials: .bearer("t"))
    #expect(second.text == "a=1 Bearer t")
  }

  /// libcurl, which kept the cookies before, saw a connection without encryption.
  @Test func `a Secure cookie goes to https alone, as with a server`() async throws {
    var configuration = TransferSession.Configuration()
    configuration.cookies = .session()
    let session = try TransferSession(configuration) { request in
      .text(request.headers["Cookie"] ?? "-", headers: ["Set-Cookie": "a=1; Secure"])
    }
    for (url, text) in [("http://h/", "-"), ("https://h/", "-"), ("https://h/", "a=1"), ("http://h/", "-")] {
      #expect(try await session.get(url).text == text)
    }
  }

  /// Its threads would keep the server.
  @Test func `the session's end ends its server`() async throws {
    weak var kept: Kept?
    do {
      let object = Kept()
      kept = object
      let session = try TransferSession { _ in withExtendedLifetime(object) { .status(200) } }
      try await session.post("http://h/", fields: [:])
    }
    #expect(await eventually { kept == nil })
  }

  private final class Kept: Sendable {}

  /// The connection's thread waited for a response that never comes, and kept the server.
  @Test func `the session's end doesn't wait for the function`() async throws {
    let (called, call) = AsyncStream.makeStream(of: CheckedContinuation<Void, Never>.self)
    weak var server: TestServer?
    do {
      let session = try TransferSession { _ in
        await withCheckedContinuation { _ = call.yield($0) }
        return .status(200)
      }
      server = session.configuration.testServer
      let task = session.start(try makeRequest("http://h/"))
      #expect(await eventually { session.answeredRequests.count == 1 })
      task.cancel()
      #expect(await task.result.error?.code == .cancelled)
    }
    #expect(await eventually { server == nil })
    for await continuation in called {
      continuation.resume()
      break
    }
  }

  @Test func `results, errors and progress can be made`() throws {
    let url = try HTTPURL("https://h/")
    let response = TransferResponse(status: 403, url: url, body: Array("no".utf8))
    let error = TransferError(
      .statusRefused, on: "https://h/", description: "No.", outcome: .failed, response: response)
    #expect(error.outcome == .failed)
    #expect(error.response?.text == "no")
    #expect(error.description == "No.")
    let result = TransferResult(.unknown, url: url, error: error, attempts: 3, bytesSent: 9)
    #expect(result.outcome == .unknown)
    #expect(result.error?.outcome == .unknown)
    #expect(result.attempts == 3)
    let progress = TransferProgress(.sending, handedOver: 1, total: 4)
    #expect(progress.fraction == 0.25)
    #expect(progress.parts.isEmpty)
    let file = try DownloadedFile("/tmp/x", size: 5, response: response)
    #expect(DownloadResult(TransferResult(.ok, url: url), file: file).file?.size == 5)
  }
}
