import FormStream
import FormStreamPlatform
import FormStreamTestSupport
import FormStreamTransfer
import Foundation
import Testing

/// Uploads that another request, or another process, continues.
struct ResumeDataTests {
  private static let bytes = noise(3_000_000)

  private func request(
    _ server: ResumingServer, _ body: TransferBody = .bytes(bytes), _ resumption: UploadResumption = .http,
    method: HTTPMethod = .post
  ) throws -> TransferRequest {
    var request = try makeRequest(method, server.url, body)
    request.options.resumption = resumption
    request.options.expectation = .never
    return request
  }

  private func form(_ file: LocalPath, note: String = "hello") -> TransferBody {
    .form(
      Form {
        Part.text("note", note)
        Part.file("file", file)
      })
  }

  private func names(_ place: TemporaryDirectory) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: place.path)
  }

  @Test(arguments: [UploadResumption.http, .httpCreatedFirst, .tus])
  func `data go on with a form in another session`(resumption: UploadResumption) async throws {
    let place = try TemporaryDirectory()
    let file = try place.write("file", Self.bytes)
    let server = try ResumingServer(cuts: [.init(after: 1_234_567)])
    let first = try await makeSession().result(of: request(server, form(file), resumption))
    #expect([.retryable, .unknown].contains(first.outcome))
    let kept = try JSONEncoder().encode(try #require(first.resumeData))
    var second = try request(server, form(file), resumption)
    second.options.resuming = try JSONDecoder().decode(UploadResumeData.self, from: kept)
    let result = try await makeSession().result(of: second)
    #expect(result.outcome == .ok, "\(String(describing: result.error))")
    #expect(result.resumeData == nil)
    #expect(server.methods.suffix(2) == ["HEAD", "PATCH"])
    #expect(server.kept.count == first.contentLength.map { Int($0) })
    #expect(String(decoding: server.kept.prefix(1000), as: UTF8.self).contains("hello"))
    #expect(server.kept.count - Self.bytes.count < 1000)
  }

  @Test func `an upload that the server does not keep leaves no data`() async throws {
    let server = try ScriptedServer(requests: [[.readBody(upTo: 1000), .reset]])
    var request = try makeRequest(server.url, .bytes(noise(20_000_000)))
    request.options.resumption = .http
    request.options.expectation = .never
    let result = try await makeSession().result(of: request)
    #expect(result.outcome == .retryable)
    #expect(result.resumeData == nil)
  }

  @Test(arguments: FileChange.allCases)
  func `a file that has changed is not put together`(change: FileChange) async throws {
    let place = try TemporaryDirectory()
    let file = try place.write("file", Self.bytes)
    let server = try ResumingServer(cuts: [.init(after: 1_234_567)])
    let first = try await makeSession().result(of: request(server, form(file)))
    try change.apply(to: file, size: Self.bytes.count)
    var second = try request(server, form(file))
    second.options.resuming = first.resumeData
    let result = try await makeSession().result(of: second)
    #expect(result.outcome == (change == .unlink ? .failed : .sourceChanged), "\(String(describing: result.error))")
    #expect(server.methods == ["POST"])
  }

  @Test func `data of another request are refused`() async throws {
    let place = try TemporaryDirectory()
    let file = try place.write("file", Self.bytes)
    let server = try ResumingServer(cuts: [.init(after: 1_234_567)])
    let first = try await makeSession().result(of: request(server, form(file)))
    for other in [form(file, note: "other"), .bytes(Self.bytes), .file(file)] {
      var second = try request(server, other)
      second.options.resuming = first.resumeData
      let result = try await makeSession().result(of: second)
      #expect(result.outcome == .failed)
      #expect(result.error?.code == .resumptionFailed)
    }
    #expect(server.methods == ["POST"])
  }

  @Test func `a resume file is private, and is removed at the end`() async throws {
    let place = try TemporaryDirectory()
    let server = try ResumingServer(cuts: [.init(after: 1_000_000)])
    var request = try request(server)
    request.options.resumeFile = place.local("resume")
    let first = try await makeSession().result(of: request)
    #expect([.retryable, .unknown].contains(first.outcome))
    let mode = try FileManager.default.attributesOfItem(atPath: place.path("resume"))[.posixPermissions] as? Int
    #expect(mode == 0o600)
    let second = try await makeSession().result(of: request)
    #expect(second.outcome == .ok, "\(String(describing: second.error))")
    #expect(server.kept == Self.bytes)
    #expect(server.methods == ["POST", "HEAD", "PATCH"])
    #expect(try names(place) == [])
  }

  @Test func `a request that can't begin leaves no resume file`() async throws {
    let place = try TemporaryDirectory()
    let server = try ResumingServer()
    var request = try request(server, .file(place.local("missing")))
    request.options.resumeFile = place.local("resume")
    let session = try makeSession()
    // Regression: the thread that had opened the file sometimes removed it after the result.
    for _ in 1...100 {
      let result = await session.result(of: request)
      #expect(result.outcome == .failed && result.error?.code != .resumeFileUnusable)
      #expect(try names(place) == [])
    }
  }

  /// Regression: the result of a cancelled request had no data if the request had a resume file.
  @Test func `a cancelled upload can go on`() async throws {
    let place = try TemporaryDirectory()
    let (arrived, goOn) = (try Gate(), try Gate())
    let server = try ResumingServer(cuts: [
      .init(after: 1000, end: .decide { _ in [.open(arrived), .waitFor(goOn), .reset] })
    ])
    var request = try request(server)
    request.options.resumeFile = place.local("resume")
    let first = try makeSession().start(request)
    #expect(await onNewThread { arrived.wait() })
    first.cancel()
    let result = await first.result
    goOn.open()
    #expect(result.resumeData?.uploadURL != nil, "\(result)")
    let second = try await makeSession().result(of: request)
    #expect(second.outcome == .ok, "\(String(describing: second.error))")
    #expect(server.kept == Self.bytes)
    #expect(try names(place) == [])
  }

  /// Regression: the file stayed, and said that the request had perhaps been carried out.
  @Test func `a request that was refused and then cancelled leaves no resume file`() async throws {
    let place = try TemporaryDirectory()
    let server = try ScriptedServer(requests: [[.readBody, .respond(503, headers: [("Retry-After", "60")])]])
    var request = try makeRequest(server.url, .bytes(Self.bytes))
    request.options.resumption = .http
    request.options.resumeFile = place.local("resume")
    request.options.retry = RetryPolicy(attempts: 2)
    let isWaiting = try Gate()
    request.options.willRetry = { _ in isWaiting.open() }
    let task = try makeSession().start(request)
    #expect(await onNewThread { isWaiting.wait() })
    task.cancel()
    #expect(await task.result.outcome == .cancelled)
    #expect(try names(place) == [])
  }

  @Test func `another file is not taken for a resume file`() async throws {
    let place = try TemporaryDirectory()
    let server = try ResumingServer()
    try place.write("resume", "my thesis\n")
    var request = try request(server)
    request.options.resumeFile = place.local("resume")
    let result = try await makeSession().result(of: request)
    #expect(result.outcome == .failed)
    #expect(result.error?.code == .resumeFileUnusable)
    #expect(try Data(contentsOf: URL(filePath: place.path("resume"))) == Data("my thesis\n".utf8))
    #expect(server.methods == [])
  }

  @Test func `two requests can't use one resume file`() async throws {
    let place = try TemporaryDirectory()
    let (arrived, goOn) = (try Gate(), try Gate())
    let server = try ResumingServer(cuts: [
      .init(after: 1000, end: .decide { _ in [.open(arrived), .waitFor(goOn), .reset] })
    ])
    var request = try request(server)
    request.options.resumeFile = place.local("resume")
    let session = try makeSession()
    let first = session.start(request)
    #expect(await onNewThread { arrived.wait() })
    let second = try await makeSession().result(of: request)
    #expect(second.outcome == .failed)
    #expect(second.error?.code == .resumeFileUnusable)
    goOn.open()
    #expect(await first.result.outcome != .ok)
    #expect(try names(place) == ["resume"])
  }

  /// The data of a process that was killed while it sent the request, before the server named a place.
  @Test(arguments: [(HTTPMethod.post, TransferResult.Outcome.unknown), (.put, .ok)])
  func `a request that was perhaps sent is only repeated if it may be`(
    method: HTTPMethod, outcome: TransferResult.Outcome
  ) async throws {
    let server = try ResumingServer()
    let noted = Guarded<UploadResumeData?>(nil)
    var first = try request(server, method: method)
    first.options.noteResumeData = { data in noted.withLock { $0 = $0 ?? data } }
    _ = try await makeSession().result(of: first)
    var second = try request(server, method: method)
    second.options.resuming = noted.withLock { $0 }
    let result = try await makeSession().result(of: second)
    #expect(result.outcome == outcome)
    #expect(server.methods.count == (outcome == .ok ? 2 : 1))
  }

  @Test func `a resume file needs a protocol and a body that can be read again`() async throws {
    let place = try TemporaryDirectory()
    let server = try ResumingServer()
    var without = try request(server, .bytes(Self.bytes), .none)
    without.options.resumeFile = place.local("resume")
    #expect(try await makeSession().result(of: without).error?.code == .invalidSetting)
    var stream = try request(server, .part(.stream { ScriptedSource([1]) }))
    stream.options.resumeFile = place.local("resume")
    #expect(try await makeSession().result(of: stream).error?.code == .resumptionFailed)
    #expect(try names(place) == [])
    #expect(server.methods == [])
  }
}
