import FormStream
import FormStreamPlatform
import FormStreamTestSupport
import FormStreamTransfer
import Foundation
import Testing

extension ReplacedCall {
  /// Foundation's URLSession.
  static let urlSession: [ReplacedCall] = [
    ReplacedCall("`data(for: request)`") { session, url, _, server in
      let request = try TransferRequest(.get, url)
      let response = try await session.send(request)
      #expect(response.data == Data(#"{"id":"7"}"#.utf8))
      #expect(try server.last.method == "GET")
    },
    ReplacedCall("`upload(for: request, from: data)`") { session, url, _, server in
      let data = Data("sunset".utf8)
      try await session.post(url, body: .bytes(data))
      #expect(try server.last.bodyText == "sunset")
    },
    ReplacedCall("`upload(for: request, fromFile: file)`") { session, url, photo, server in
      try await session.put(url, file: photo)
      #expect(try server.last.bodyText == "sunset")
    },
    ReplacedCall("`download(from: url)`") { session, url, photo, _ in
      let copy = photo + ".copy"
      let file = try await session.download(url, to: copy)
      #expect(file.size == 10)
    },
    ReplacedCall("`bytes(for: request)`") { session, url, _, _ in
      let request = try TransferRequest(.get, url)
      let response = try await session.open(request)
      var count = 0
      for try await chunk in response.body { count += chunk.count }
      #expect(count == 10)
    },
    ReplacedCall("`URLSessionTask`: `resume`, `suspend`, `cancel`", answering: { _ in [.stall] }) {
      session, url, _, _ in
      let request = try TransferRequest(.get, url)
      let task = session.start(request)  // begins at once
      task.pause()
      task.resume()
      task.cancel()
      #expect(await task.result.error?.code == .cancelled)
    },
    ReplacedCall("`URLSessionTask.progress`") { session, url, photo, _ in
      let task = session.start(try TransferRequest(.put, url, body: .file(photo)))
      let progress = task.makeFoundationProgress()
      #expect(await task.result.outcome == .ok)
      #expect(progress.totalUnitCount > 0)
      let settings = DownloadSettings(.file(photo + ".copy"))
      let download = session.startDownload(try TransferRequest(.get, url), settings)
      let ofDownload = download.makeFoundationProgress()
      #expect(await download.result.outcome == .ok)
      #expect(await eventually { ofDownload.isFinished })
    },
    ReplacedCall("`httpBodyStream`, `needNewBodyStream`") { session, url, photo, server in
      let body = TransferBody.stream { InputStream(fileAtPath: photo) }
      try await session.post(url, body: body)
      #expect(try server.last.bodyText == "sunset")
    },
    ReplacedCall("`didSendBodyData`") { session, url, photo, _ in
      let task = session.start(try TransferRequest(.put, url, body: .file(photo)))
      var sent: Int64 = 0
      for await progress in task.progress { sent = progress.handedOver }
      #expect(sent == 6)
    },
    ReplacedCall("`didReceive data`") { session, url, _, _ in
      let count = Guarded(0)
      var request = try TransferRequest(.get, url)
      request.options.responseTarget = .stream { bytes in count.withLock { $0 += bytes.count } }
      try await session.send(request)
      #expect(count.withLock { $0 } == 10)
    },
    ReplacedCall("`didReceive challenge` (a user, a token)", answering: Self.bearer) { session, url, _, server in
      var request = try TransferRequest(.get, url)
      request.options.decisions.challenge = { _ in .bearer("new") }
      try await session.send(request)
      #expect(try server.last.header("Authorization") == "Bearer new")
    },
    ReplacedCall("`didReceive challenge` (the server's certificate)") { _, _, _, server in
      let known = [UInt8]("certificate".utf8)
      var configuration = TransferSession.Configuration()
      configuration.serverTrust = { $0.certificates.first == known ? .trust : .refuse }
      try await server.expectRefusedCertificate(.certificateRefused, configuration)
    },
    ReplacedCall("`willPerformHTTPRedirection`", answering: { _ in .good(307, headers: [("Location", "/b")]) }) {
      session, url, _, server in
      var request = try TransferRequest(.get, url)
      request.options.decisions.redirect = { _ in .keep }
      #expect(await session.result(of: request).status == 307)
      #expect(server.requests.count == 1)
    },
    ReplacedCall("`willPerformHTTPRedirection` with another request", answering: Self.moved) { session, url, _, server in
      var request = try TransferRequest(.get, url)
      request.options.decisions.redirect = { _ in .follow(with: ["X-Moved": "1"]) }
      try await session.send(request)
      #expect(try server.last.header("X-Moved") == "1")
    },
    ReplacedCall("`didReceive response` with its disposition") { session, url, _, _ in
      var request = try TransferRequest(.get, url)
      request.options.decisions.responseHead = { head in head.status == 200 ? .dropped : nil }
      let response = try await session.send(request)
      #expect(response.body.isEmpty)
    },
    ReplacedCall("`becomeDownload`") { session, url, photo, _ in
      let settings = DownloadSettings(.file(photo + ".copy"))
      var request = try TransferRequest(.get, url)
      request.options.decisions.responseHead = { head in head.status == 200 ? .download(settings) : nil }
      let result = await session.result(of: request)
      #expect(result.downloadedFile?.size == 10)
      #expect(result.downloadResumeData == nil)
    },
    ReplacedCall("`finishTasksAndInvalidate`") { session, url, _, _ in
      let task = session.start(try TransferRequest(.get, url))
      await session.finish()
      #expect(await task.result.outcome == .ok)
    },
    ReplacedCall("`invalidateAndCancel`", answering: { _ in [.stall] }) { session, url, _, _ in
      let task = session.start(try TransferRequest(.get, url))
      session.cancelAll()
      #expect(await task.result.error?.code == .cancelled)
    },
    ReplacedCall("`allTasks`", answering: { _ in [.stall] }) { session, url, photo, server in
      let task = session.start(try TransferRequest(.get, url))
      let download = session.startDownload(try TransferRequest(.get, url), DownloadSettings(.file(photo + ".copy")))
      #expect(server.waitForRequests(2))
      #expect(session.tasks == [task])
      #expect(session.downloads == [download])
      session.cancelAll()
    },
    ReplacedCall(
      "`waitsForConnectivity`", answering: { $0.number == 0 ? .good(503, headers: [("Retry-After", "0")]) : .good() }
    ) { session, url, _, server in
      var request = try TransferRequest(.get, url)
      request.options.retry = RetryPolicy(attempts: 5)  // also if the host can't be reached
      try await session.send(request)
      #expect(server.requests.count == 2)
    },
    ReplacedCall("`timeoutIntervalForRequest`, `timeoutIntervalForResource`") { session, url, _, server in
      var request = try TransferRequest(.get, url)
      request.options.timeLimits.stall = .seconds(60)
      request.options.timeLimits.attempt = .seconds(600)
      try await session.send(request)
      #expect(server.requests.count == 1)
    },
    ReplacedCall("`taskDescription`, `URLProtocol.setProperty`") { session, url, _, _ in
      var request = try TransferRequest(.get, url)
      request.tag = "sunset"
      let result = await session.result(of: request)
      #expect(result.tag as? String == "sunset")
    },
    ReplacedCall("`URLSessionTask.priority`") { session, url, _, server in
      var request = try TransferRequest(.get, url)
      request.options.priority = 1
      try await session.send(request)
      #expect(server.requests.count == 1)
    },
    ReplacedCall("`httpAdditionalHeaders`") { _, url, _, server in
      var configuration = TransferSession.Configuration()
      configuration.headers = ["Accept-Language": "de"]
      _ = try await TransferSession(configuration).get(url)
      #expect(try server.last.header("Accept-Language") == "de")
    },
    ReplacedCall("the session's `delegate`, for all tasks") { _, url, photo, _ in
      let (sent, lines) = (Guarded<[Int64]>([]), Guarded<[String]>([]))
      var configuration = TransferSession.Configuration()
      configuration.progress = { progress in sent.withLock { $0.append(progress.handedOver) } }
      configuration.trace = { line in lines.withLock { $0.append(line.text) } }
      configuration.willRetry = { retry in lines.withLock { $0.append("attempt \(retry.attempt)") } }
      try await TransferSession(configuration).put(url, file: photo)
      #expect(sent.withLock { $0.last } == 6 && !lines.withLock { $0.isEmpty })
    },
    ReplacedCall("`NSAllowsArbitraryLoads`, `NSExceptionDomains`") { _, url, _, server in
      var configuration = TransferSession.Configuration()
      configuration.requiresHTTPS = true
      configuration.unencryptedHosts = "example.org"
      let request = try TransferRequest(.get, url)
      let result = try await TransferSession(configuration).result(of: request)
      #expect(result.error?.code == .encryptionRequired && server.requests.isEmpty)
    },
    ReplacedCall("`httpCookieStorage`", answering: { _ in .good(headers: [("Set-Cookie", "a=b")]) }) {
      _, url, _, server in
      var configuration = TransferSession.Configuration()
      configuration.cookies = .session()
      let session = try TransferSession(configuration)
      for _ in 0..<2 { try await session.send(TransferRequest(.get, url)) }
      #expect(try server.last.header("Cookie") == "a=b")
    },
    ReplacedCall("`URLSessionTaskMetrics`") { session, url, _, _ in
      let request = try TransferRequest(.get, url)
      let metrics = await session.result(of: request).metrics
      #expect(metrics?.firstByte != nil)
    },
  ]
}
