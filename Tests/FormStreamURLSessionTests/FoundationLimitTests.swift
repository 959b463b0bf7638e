import FormStreamURLSession
import Foundation
import FoundationNetworking
import FormStreamTestSupport
import Testing

/// What URLSession can't do on Linux, as documented at `FormUploadDelegate`. If one of these tests
/// fails, Foundation has fixed something: the comment above the test says what can change here.
@Suite(.timeLimit(.minutes(1)), .disabled(if: sanitizer == "address", libcurlLeaks))
struct FoundationLimitTests {
  private let layout: BodyLayout
  private let session = URLSession(configuration: .ephemeral)

  init() throws {
    layout = try Form(boundary: Boundary("B")) { Part.text("a", "1") }.layout()
  }

  /// If fixed: `setBody` can announce the length on Linux too, and limit 1 is obsolete.
  @Test func `1 – with a stream and a length, a session sends both framings`() async throws {
    defer { session.invalidateAndCancel() }
    let server = try ScriptedServer(requests: [.closing()])
    var request = try uploadRequest(of: layout, to: server)
    request.setValue("59", forHTTPHeaderField: "Content-Length")
    _ = try await session.data(for: request)
    #expect(
      try server.onlyRequest().framings.sorted()
        == ["content-length: 59", "transfer-encoding: chunked"])
  }

  /// If fixed: limit 2 is obsolete, provided that no header is sent to another origin.
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

  /// If fixed: the delegate can follow redirects to the same origin.
  @Test(arguments: TaskKind.allCases)
  func `2 – a task that follows a 307 does not ask for a new stream`(kind: TaskKind) async throws {
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

  /// If fixed: the documentation of the delegate can recommend `data(for:delegate:)`.
  @Test
  func
    `2 – a session without a delegate does not ask the delegate of an awaited call about redirects`()
    async throws
  {
    defer { session.invalidateAndCancel() }
    let server = try ScriptedServer(requests: [.redirect(307, to: "/there"), .closing()])
    let delegate = NotingDelegate(FormUploadDelegate(layout))
    _ = try await session.data(for: try uploadRequest(of: layout, to: server), delegate: delegate)
    #expect(delegate.redirects == 0)
    #expect(server.requests.count == 2)
  }

  /// Not a limit, but the advice in limit 2.
  @Test func `a session asks its delegate about redirects of awaited calls too`()
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

  /// If fixed: the documentation of the delegate can recommend `task.delegate`.
  @Test func `2 – the delegate of a task is asked about redirects, but receives no progress`()
    async throws
  {
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

  /// If fixed: `setBody` need not say that a request is for one upload.
  @Test func `2 – a request that is sent again has no body, without an error`() async throws {
    defer { session.invalidateAndCancel() }
    let server = try ScriptedServer(requests: [.closing(), .closing()])
    let request = try uploadRequest(of: layout, to: server)
    for _ in 1...2 {
      let (_, response) = try await session.data(for: request)
      #expect((response as? HTTPURLResponse)?.statusCode == 200)
    }
    #expect(server.requests.map(\.body.count) == [59, 0])
  }

  /// If fixed: the documentation of the delegate can promise the `MultipartError` itself.
  @Test func `3 – the error of a session does not say why the stream failed`() async throws {
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
    // The stream has the error.
    #expect((stream.streamError as? MultipartError)?.underlying as? TestError == TestError(7))
    #expect(stream.streamStatus == .error)
  }

  /// If fixed: the documentation of the delegate need not mention files that stay open.
  @Test func `3 – a session does not close the stream at its end`() async throws {
    defer { session.invalidateAndCancel() }
    let server = try ScriptedServer(requests: [.closing()])
    var request = try uploadRequest(of: layout, to: server)
    let stream = FormInputStream(layout)
    request.httpBodyStream = stream
    _ = try await session.data(for: request)
    #expect(stream.streamStatus == .atEnd)
  }

  /// If fixed: limit 4 is obsolete; the total of the form can stay.
  @Test func `4 – a session reports no total`() async throws {
    let server = try ScriptedServer(requests: [.closing()])
    let delegate = NotingDelegate(FormUploadDelegate(layout))
    _ = try await send(try uploadRequest(of: layout, to: server), as: .data, with: delegate)
    #expect(delegate.expected == [0])
  }

  /// If fixed: `FormUploadDelegate` need not recommend data tasks.
  @Test func `an upload task waits for a 100 response`() async throws {
    let server = try ScriptedServer(requests: [.closing()])
    let delegate = NotingDelegate(FormUploadDelegate(layout))
    let request = try uploadRequest(of: layout, to: server)
    _ = try await send(request, as: .streamed, with: delegate)
    #expect(try server.onlyRequest().header("Expect") == "100-continue")
  }
}
