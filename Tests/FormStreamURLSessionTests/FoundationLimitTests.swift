import FormStreamURLSession
import Foundation
import FoundationNetworking
import FormStreamTestSupport
import Testing

/// What URLSession can't do on Linux, as `FormUploadDelegate` says it. Where one of these fails, Foundation
/// has mended something: the comment above the test says what may change here then.
@Suite(.timeLimit(.minutes(1)), .disabled(if: sanitizer == "address", libcurlLeaks))
struct FoundationLimitTests {
  private let layout: BodyLayout
  private let session = URLSession(configuration: .ephemeral)

  init() throws {
    layout = try Form(boundary: Boundary("B")) { Part.text("a", "1") }.layout()
  }

  /// Foundation mends this: `setBody` can announce the length on Linux, too, and limit 1 goes.
  @Test func `1 – a length beside a stream makes a session send both framings`() async throws {
    defer { session.invalidateAndCancel() }
    let server = try ScriptedServer(requests: [.closing()])
    var request = try uploadRequest(of: layout, to: server)
    request.setValue("59", forHTTPHeaderField: "Content-Length")
    _ = try await session.data(for: request)
    #expect(
      try server.onlyRequest().framings.sorted()
        == ["content-length: 59", "transfer-encoding: chunked"])
  }

  /// Foundation mends this: limit 2 goes where no header leaves the origin either.
  @Test func `2 – a session follows a 307 to another host with all headers and no body`()
    async throws
  {
    defer { session.invalidateAndCancel() }
    let elsewhere = try ScriptedServer(requests: [.closing()])
    let location = try elsewhere.url("/there").absoluteString
    let server = try ScriptedServer(requests: [.redirect(307, to: location)])
    var request = try uploadRequest(of: layout, to: server)
    request.setValue("secret", forHTTPHeaderField: "X-Token")
    request.setValue("Bearer secret", forHTTPHeaderField: "Authorization")
    let (_, response) = try await session.data(for: request)
    #expect((response as? HTTPURLResponse)?.statusCode == 200)
    #expect(try server.onlyRequest().body.count == 59)
    let second = try elsewhere.onlyRequest()
    #expect(second.line == "POST /there")
    #expect(second.body.isEmpty)
    #expect(second.header("Content-Type") == "multipart/form-data; boundary=B")
    #expect(second.header("X-Token") == "secret")
    #expect(second.header("Authorization") == "Bearer secret")
  }

  /// Foundation mends this: the delegate can let redirects to the same origin pass.
  @Test(arguments: TaskKind.allCases)
  func `2 – a task that follows a 307 asks for no new stream`(kind: TaskKind) async throws {
    let server = try ScriptedServer(requests: [.redirect(307, to: "/there"), .closing()])
    let delegate = NotingDelegate(FormUploadDelegate(layout), follows: true)
    let response = try await send(
      try uploadRequest(of: layout, to: server), as: kind, with: delegate)
    #expect(response.statusCode == 200)
    #expect(delegate.redirects == 1)
    #expect(delegate.streamsAsked == (kind == .streamed ? 1 : 0))
    try #require(server.requests.count == 2)
    #expect(server.requests[0].body.count == 59)
    #expect(server.requests[1].body == [])
  }

  /// Foundation mends this: the delegate's documentation can recommend `data(for:delegate:)`.
  @Test func `2 – a session without a delegate does not ask that of an awaited call`() async throws
  {
    defer { session.invalidateAndCancel() }
    let server = try ScriptedServer(requests: [.redirect(307, to: "/there"), .closing()])
    let delegate = NotingDelegate(FormUploadDelegate(layout))
    _ = try await session.data(for: try uploadRequest(of: layout, to: server), delegate: delegate)
    #expect(delegate.redirects == 0)
    #expect(server.requests.count == 2)
  }

  /// Not a limit, but what the documentation of limit 2 advises.
  @Test func `a session with a delegate is asked about redirects of awaited calls, too`()
    async throws
  {
    let server = try ScriptedServer(requests: [.redirect(307, to: "/there")])
    let delegate = NotingDelegate(FormUploadDelegate(layout))
    let session = URLSession(configuration: .ephemeral, delegate: delegate, delegateQueue: nil)
    defer { session.invalidateAndCancel() }
    let request = try uploadRequest(of: layout, to: server)
    let (_, response) = try await session.data(for: request)
    #expect((response as? HTTPURLResponse)?.statusCode == 307)
    #expect(delegate.redirects == 1)
    #expect(server.requests.count == 1)
    #expect(server.connectionCount == 1)
  }

  /// Foundation mends this: the delegate's documentation can recommend `task.delegate`.
  @Test func `2 – a task's own delegate is asked, but told nothing`() async throws {
    let server = try ScriptedServer(requests: [.redirect(307, to: "/there")])
    let delegate = NotingDelegate(FormUploadDelegate(layout))
    let others = NotingDelegate(FormUploadDelegate(layout))
    let session = URLSession(configuration: .ephemeral, delegate: others, delegateQueue: nil)
    defer { session.invalidateAndCancel() }
    let task = session.dataTask(with: try uploadRequest(of: layout, to: server))
    task.delegate = delegate
    task.resume()
    let error = await others.completion()
    #expect(error == nil)
    #expect(delegate.redirects == 1)
    #expect(others.redirects == 0)
    #expect(delegate.expected.isEmpty)
    #expect(others.expected == [0])
  }

  /// Foundation mends this: `setBody` need not say that a request is one upload.
  @Test func `2 – a request that is sent again has no body, and no error tells it`() async throws {
    defer { session.invalidateAndCancel() }
    let server = try ScriptedServer(requests: [.closing(), .closing()])
    let request = try uploadRequest(of: layout, to: server)
    for _ in 1...2 {
      let (_, response) = try await session.data(for: request)
      #expect((response as? HTTPURLResponse)?.statusCode == 200)
    }
    #expect(server.requests.map(\.body.count) == [59, 0])
  }

  /// Foundation mends this: the delegate's documentation can promise the `MultipartError` itself.
  @Test func `3 – a session's error does not say why the stream failed`() async throws {
    defer { session.invalidateAndCancel() }
    let layout = try Form {
      Part.stream("s") { FailingSource(onCall: 3, with: TestError(7)) }
    }.layout()
    let server = try ScriptedServer(requests: [.closing()])
    var request = try uploadRequest(of: layout, to: server)
    let stream = FormInputStream(layout)
    request.httpBodyStream = stream
    let thrown = await #expect(throws: (any Error).self) { try await session.data(for: request) }
    let error = try #require(thrown) as NSError
    #expect(error.domain == NSURLErrorDomain)
    #expect(error.code == NSURLErrorUnknown)
    let cause = error.userInfo[NSUnderlyingErrorKey] as? NSError
    #expect(cause?.domain == NSURLErrorDomain)
    #expect(cause?.code == NSURLErrorUnknown)
    // The stream knows.
    #expect((stream.streamError as? MultipartError)?.underlying as? TestError == TestError(7))
    #expect(stream.streamStatus == .error)
  }

  /// Foundation mends this: the delegate's documentation need not speak of files that stay open.
  @Test func `3 – a session does not close the stream at its end`() async throws {
    defer { session.invalidateAndCancel() }
    let server = try ScriptedServer(requests: [.closing()])
    var request = try uploadRequest(of: layout, to: server)
    let stream = FormInputStream(layout)
    request.httpBodyStream = stream
    _ = try await session.data(for: request)
    #expect(stream.streamStatus == .atEnd)
  }

  /// Foundation mends this: limit 4 goes; the form's own total can stay.
  @Test func `4 – a session does not know how much it is going to send`() async throws {
    let server = try ScriptedServer(requests: [.closing()])
    let delegate = NotingDelegate(FormUploadDelegate(layout))
    _ = try await send(try uploadRequest(of: layout, to: server), as: .data, with: delegate)
    #expect(delegate.expected == [0])
  }

  /// Foundation mends this: `FormUploadDelegate` need not prefer data tasks.
  @Test func `a task that asks for its stream waits for leave to send it`() async throws {
    let server = try ScriptedServer(requests: [.closing()])
    let delegate = NotingDelegate(FormUploadDelegate(layout))
    let request = try uploadRequest(of: layout, to: server)
    _ = try await send(request, as: .streamed, with: delegate)
    #expect(try server.onlyRequest().header("Expect") == "100-continue")
  }
}
