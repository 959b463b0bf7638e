import FormStreamURLSession
import Foundation
import FoundationNetworking
import Synchronization
import FormStreamTestSupport
import Testing

@Suite(.timeLimit(.minutes(1)), .disabled(if: sanitizer == "address", libcurlLeaks))
struct FormUploadDelegateTests {
  @Test(arguments: TaskKind.allCases, [301, 302, 303, 307, 308])
  func `a redirect to another origin is the response, and nothing is sent there`(
    kind: TaskKind, status: Int
  ) async throws {
    let elsewhere = try ScriptedServer(requests: [])
    let location = try elsewhere.url("/there").absoluteString
    let server = try ScriptedServer(requests: [.redirect(status, to: location)])
    let directory = try TemporaryDirectory()
    let layout = try sampleForm(in: directory).layout()
    let request = try uploadRequest(of: layout, to: server)
    let delegate = NotingDelegate(FormUploadDelegate(layout))
    let response = try await send(request, as: kind, with: delegate)
    #expect(response.statusCode == status)
    #expect(response.value(forHTTPHeaderField: "Location") == location)
    #expect(response.url == request.url)
    #expect(delegate.redirects == 1)
    let body = try layout.bytes(limit: 1 << 20)
    #expect(try server.onlyRequest().body == body)
    #expect(elsewhere.connectionCount == 0)
  }

  @Test(arguments: TaskKind.allCases)
  func `a redirect to the same origin is the response, and nothing more is sent`(
    kind: TaskKind
  ) async throws {
    let server = try ScriptedServer(requests: [.redirect(307, to: "/there")])
    let layout = try Form { Part.text("a", "1") }.layout()
    let response = try await send(
      try uploadRequest(of: layout, to: server), as: kind,
      with: NotingDelegate(FormUploadDelegate(layout)))
    #expect(response.statusCode == 307)
    #expect(server.requests.count == 1)
    #expect(server.connectionCount == 1)
  }

  @Test(arguments: TaskKind.allCases)
  func `progress grows to the total of the form`(kind: TaskKind) async throws {
    let directory = try TemporaryDirectory()
    let layout = try sampleForm(in: directory).layout()
    let reports = try await Self.reports(of: layout, as: kind)
    let total = try #require(layout.contentLength)
    #expect(reports.allSatisfy { $0.bytesTotal == total })
    let sent = reports.map(\.bytesSent)
    #expect(zip(sent, sent.dropFirst()).allSatisfy { $0 < $1 })
    #expect(sent.last == total)
  }

  @Test func `progress of a form of unknown length has no total`() async throws {
    let layout = try Form {
      Part.stream("s") { StaccatoSource(noise(3000), seed: 1) }
    }.layout()
    let reports = try await Self.reports(of: layout, as: .data)
    #expect(reports.allSatisfy { $0.bytesTotal == nil })
    let length = try layout.bytes(limit: 1 << 20).count
    #expect(reports.last?.bytesSent == Int64(length))
  }

  @Test func `progress neither falls nor exceeds the total if a session starts again`() throws {
    let layout = try Form(boundary: Boundary("B")) { Part.text("a", "1") }.layout()
    try #require(layout.contentLength == 59)
    let reports = Mutex<[Int64]>([])
    let delegate = FormUploadDelegate(layout) { progress in
      reports.withLock { $0.append(progress.bytesSent) }
    }
    let session = URLSession(configuration: .ephemeral)
    defer { session.invalidateAndCancel() }
    let task = session.dataTask(with: try #require(URL(string: "http://127.0.0.1/")))
    for sent: Int64 in [10, 40, 40, 10, 39, 41, 58, 60, 130] {
      delegate.urlSession(
        session, task: task, didSendBodyData: 1, totalBytesSent: sent, totalBytesExpectedToSend: 0)
    }
    #expect(reports.withLock(\.self) == [10, 40, 41, 58, 59])
  }

  @Test func `each new stream for a session is at the start`() throws {
    let layout = try Form(boundary: Boundary("B")) { Part.text("a", "1") }.layout()
    let delegate = FormUploadDelegate(layout)
    let session = URLSession(configuration: .ephemeral)
    defer { session.invalidateAndCancel() }
    let task = session.dataTask(with: try #require(URL(string: "http://127.0.0.1/")))
    let bodies = Mutex<[[UInt8]]>([])
    for _ in 1...2 {
      delegate.urlSession(session, task: task) { stream in
        let body = stream.flatMap { try? drain($0, chunk: 1000) }
        bodies.withLock { $0.append(body ?? []) }
      }
    }
    let body = Array("--B\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n--B--\r\n".utf8)
    #expect(bodies.withLock(\.self) == [body, body])
  }

  private static func reports(
    of layout: BodyLayout, as kind: TaskKind
  ) async throws -> [FormUploadProgress] {
    let server = try ScriptedServer(requests: [.closing()])
    let reports = Reports()
    _ = try await send(
      try uploadRequest(of: layout, to: server), as: kind,
      with: NotingDelegate(FormUploadDelegate(layout) { reports.note($0) }))
    return reports.all
  }
}

private final class Reports: Sendable {
  private let state = Mutex<[FormUploadProgress]>([])
  var all: [FormUploadProgress] { state.withLock(\.self) }
  func note(_ progress: FormUploadProgress) { state.withLock { $0.append(progress) } }
}
