import FormStream
import FormStreamTestSupport
import FormStreamTransfer
import Testing

/// Uploads that go on where they broke, by the HTTP draft.
struct ResumptionTests {
  private static let bytes = noise(3_000_000)

  private func request(
    _ server: ResumingServer, _ body: TransferBody = .bytes(bytes), attempts: Int = 3
  ) throws -> TransferRequest {
    var request = try makeRequest(server.url, body, attempts: attempts)
    request.options.resumption = .http
    request.options.expectation = .never
    return request
  }

  @Test func `an upload that isn't cut offers to go on, and is one request`() async throws {
    let server = try ResumingServer(cuts: [])
    let result = try await makeSession().result(of: request(server))
    #expect(result.outcome == .ok)
    #expect(result.attempts == 1)
    let sent = try #require(server.server.requests.first)
    #expect(sent.headers.contains(RecordedHeader(name: "Upload-Complete", value: "?1")))
    #expect(sent.headers.contains(RecordedHeader(name: "Upload-Length", value: "3000000")))
    #expect(sent.headers.contains(RecordedHeader(name: "Upload-Draft-Interop-Version", value: "8")))
    #expect(server.server.requests.count == 1)
  }

  @Test func `a server that doesn't know the protocol gets the whole again`() async throws {
    // More than the system's buffers take.
    let bytes = noise(20_000_000)
    let server = try ScriptedServer(
      requests: [[.readBody(upTo: 1000), .reset], .good(201)])
    var request = try makeRequest(server.url, .bytes(bytes), attempts: 2)
    request.options.resumption = .http
    request.options.expectation = .never
    let result = try await makeSession().result(of: request)
    #expect(result.outcome == .ok)
    #expect(server.requests.last?.bodyCount == bytes.count)
  }

  @Test func `a request that doesn't ask for it sends none of its headers`() async throws {
    let server = try ScriptedServer(requests: [.good(201)])
    _ = try await makeSession().result(of: makeRequest(server.url, .bytes(Self.bytes)))
    #expect(server.requests.first?.headers.contains { $0.name.hasPrefix("Upload-") } == false)
  }

  @Test(arguments: [ScriptedStep.reset, .close, .finish])
  func `a body goes on where it was cut`(end: ScriptedStep) async throws {
    let server = try ResumingServer(cuts: [
      .init(after: 1_000_000, end: end), .init(after: 500_000, end: end), .init(after: 0, end: end),
    ])
    var request = try request(server)
    request.options.computesDigest = true
    let result = try await makeSession().result(of: request)
    #expect(result.outcome == .ok, "\(String(describing: result.error))")
    #expect(server.kept == Self.bytes)
    #expect(result.response?.text == "stored")
    #expect(result.bytesSent == 3_000_000)
    #expect(result.contentLength == 3_000_000)
    #expect(result.sha256?.description == (try sha256(Self.bytes)))
    #expect(server.questions == 3)
    let appended = server.server.requests.filter { $0.method == "PATCH" }
    #expect(appended.map(\.target) == ["/uploads/1", "/uploads/1", "/uploads/1"])
    #expect(
      appended[0].headers.filter { ["Content-Type", "Upload-Offset", "Upload-Complete"].contains($0.name) }
        .map(\.value).sorted() == ["1000000", "?1", "application/partial-upload"])
  }

  @Test func `a form goes on in the middle of a part`() async throws {
    let place = try TemporaryDirectory()
    let file = try place.write("file", Self.bytes)
    let form = Form {
      Part.text("note", "hello")
      Part.file("file", file)
      Part.text("end", "end")
    }
    let server = try ResumingServer(cuts: [.init(after: 1_234_567), .init(after: 1_000_001)])
    let result = try await makeSession().result(of: request(server, .form(form)))
    #expect(result.outcome == .ok)
    #expect(server.kept == (try form.layout().bytes(limit: .max)))
  }

  @Test func `a file that changed since the cut is not put together`() async throws {
    let place = try TemporaryDirectory()
    let file = try place.write("file", Self.bytes)
    let server = try ResumingServer(cuts: [
      .init(
        after: 1_000_000,
        end: .decide { _ in
          _ = try? place.write("file", [UInt8](repeating: 1, count: 3_000_000))
          return [.reset]
        })
    ])
    let result = try await makeSession().result(of: request(server, .file(file)))
    #expect(result.outcome == .sourceChanged)
    #expect(server.kept.count < 3_000_000)
  }

  @Test func `attempts are counted anew when the server has received more`() async throws {
    let cuts = (0..<20).map { _ in ResumingServer.Cut(after: 100_000) }
    let server = try ResumingServer(cuts: cuts)
    // The retries that all requests of a session share are given back.
    var configuration = TransferSession.Configuration()
    configuration.retryBudget = 2
    let session = try TransferSession(configuration)
    let result = try await session.result(of: request(server, attempts: 2))
    #expect(result.outcome == .ok)
    #expect(server.kept == Self.bytes)
    #expect(result.attempts == 21)
  }

  @Test func `without progress the attempts end`() async throws {
    let cuts = (0..<20).map { _ in ResumingServer.Cut(after: 0) }
    let server = try ResumingServer(cuts: cuts)
    let result = try await makeSession().result(of: request(server, attempts: 3))
    #expect([.retryable, .unknown].contains(result.outcome))
    #expect(result.attempts == 3)
  }

  @Test func `a complete upload whose response was lost is not sent again`() async throws {
    let server = try ResumingServer(cuts: [.init(end: .reset)])
    let result = try await makeSession().result(of: request(server))
    #expect(result.outcome == .ok, "\(String(describing: result.error))")
    #expect(server.kept == Self.bytes)
    #expect(server.server.requests.map(\.method) == ["POST", "HEAD", "PATCH"])
    #expect(server.server.requests.last?.bodyCount == 0)
  }

  @Test(arguments: [
    ("1000001", "it has no more than was sent"), ("999999", "went back"), ("-1", "not a number"),
    ("1e6", "not a number"), ("3000001", "beyond the length"), ("9999999999999999", "too long"),
  ])
  func `an offset that can't be true ends the upload`(offset: String, why: String) async throws {
    let answers = Guarded(0)
    let server = try ResumingServer(
      cuts: [.init(after: 1_000_000), .init(after: 0)],
      answer: { kept, isComplete in
        // The first answer is true, so that the offset is confirmed.
        let isFirst = answers.withLock {
          $0 += 1; return $0 == 1
        }
        return .respond(
          204,
          headers: isFirst
            ? ResumingServer.offset(kept, isComplete)
            : [("Upload-Offset", offset), ("Upload-Complete", "?0")])
      })
    // Only so many bytes are read that the offset after them was certainly not sent.
    var request = try request(server)
    request.options.maximumRate = 8_000_000
    let result = try await makeSession().result(of: request)
    if offset == "1000001" {
      // The client may have handed this byte over before the cut, so that only the end shows that the offset is wrong.
      #expect(server.kept != Self.bytes || result.outcome != .ok)
    } else {
      #expect(result.outcome == .failed)
      #expect(result.error?.code == .resumptionFailed)
    }
    #expect(server.kept.count <= 1_000_000)
  }
}
