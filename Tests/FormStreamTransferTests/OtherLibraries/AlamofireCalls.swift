import FormStream
import FormStreamPlatform
import FormStreamTestSupport
import FormStreamTransfer
import Foundation
import Testing

extension ReplacedCall {
  /// Alamofire 5.
  static let alamofire: [ReplacedCall] = [
    ReplacedCall("`AF.request(url, parameters: [\"q\": \"sunset\"])`") { session, url, _, server in
      let response = try await session.get(url, query: ["q": "sunset"])
      #expect(response.text == #"{"id":"7"}"#)
      #expect(try server.last.target == "/a?q=sunset")
    },
    ReplacedCall("`AF.request(url, method: .post, parameters: order, encoder: .json)`") { session, url, _, server in
      let order = Order(item: "lamp")
      try await session.post(url, json: order)
      #expect(try server.last.bodyText == #"{"item":"lamp"}"#)
    },
    ReplacedCall("`AF.request(url, method: .post, parameters: fields, encoder: .urlEncodedForm)`") {
      session, url, _, server in
      try await session.post(url, fields: ["title": "Sunset"])
      #expect(try server.last.bodyText == "title=Sunset")
    },
    ReplacedCall("`AF.upload(multipartFormData: { … }, to: url)`") { session, url, photo, server in
      let form = Form { Part.file("photo", photo) }
      try await session.post(url, form: form)
      #expect(try server.last.bodyText.contains(photoPart(filename: "sunset.jpg")))
    },
    ReplacedCall("`data.append(Data(\"Sunset\".utf8), withName: \"title\")`") { session, _, _, server in
      let part = Part.text("title", "Sunset")
      let text = "Content-Disposition: form-data; name=\"title\"\r\n\r\nSunset"
      try await server.expectArrival(of: part, text, by: session)
    },
    ReplacedCall("`data.append(file, withName: \"photo\")`") { session, _, photo, server in
      let part = Part.file("photo", photo)
      try await server.expectArrival(of: part, photoPart(filename: "sunset.jpg"), by: session)
    },
    ReplacedCall("`data.append(stream, withLength: 6, name: \"photo\", fileName: \"a.jpg\", mimeType: \"image/jpeg\")`") {
      session, _, photo, server in
      let body = PartBody.inputStream(length: 6) { InputStream(fileAtPath: photo) }
      let part = Part(name: "photo", filename: "a.jpg", type: "image/jpeg", body: body)
      try await server.expectArrival(of: part, photoPart(filename: "a.jpg"), by: session)
    },
    ReplacedCall("`AF.upload(file, to: url, method: .put)`") { session, url, photo, server in
      try await session.put(url, file: photo)
      #expect(try server.last.method == "PUT" && server.last.bodyText == "sunset")
    },
    ReplacedCall("`.uploadProgress { show($0.fractionCompleted) }`") { session, url, photo, _ in
      let shown = Shown()
      let show = { @Sendable (fraction: Double?) in shown.show(fraction) }
      try await session.put(url, file: photo) { show($0.fraction) }
      #expect(shown.last == 1)
    },
    ReplacedCall("`.validate(statusCode: [200, 409])`", answering: { _ in .good(409) }) { session, url, _, _ in
      var request = try TransferRequest(.get, url)
      request.options.acceptedStatuses = [200, 409]
      #expect(try await session.send(request).status == 409)
    },
    ReplacedCall("`.serializingDecodable(Photo.self).value`") { session, url, _, _ in
      let photo = try await session.get(url).decoded(as: Photo.self)
      #expect(photo.id == "7")
    },
    ReplacedCall("`AF.download(url, to: destination)`") { session, url, photo, _ in
      let copy = photo + ".copy"
      try await session.download(url, to: copy)
      #expect(try String(contentsOfFile: copy, encoding: .utf8) == #"{"id":"7"}"#)
    },
    ReplacedCall("`AF.streamRequest(url).responseStreamString { … }`") { session, url, _, _ in
      let response = try await session.open(TransferRequest(.get, url)).accepted()
      var lines: [String] = []
      for try await line in response.body.lines { lines.append(line) }
      #expect(lines == [#"{"id":"7"}"#])
    },
    ReplacedCall(
      "`RetryPolicy(retryLimit: 2)` as the interceptor",
      answering: { $0.number == 0 ? .good(503, headers: [("Retry-After", "0")]) : .good() }
    ) { session, url, _, server in
      var request = try TransferRequest(.get, url)
      request.options.retry = RetryPolicy(attempts: 3)
      try await session.send(request)
      #expect(server.requests.count == 2)
    },
    ReplacedCall("`AuthenticationInterceptor`", answering: Self.bearer) { session, url, _, server in
      let refreshed = { @Sendable () async throws -> String in "new" }
      var request = try TransferRequest(.get, url)
      request.options.decisions.challenge = { _ in .bearer(try await refreshed()) }
      try await session.send(request)
      #expect(try server.last.header("Authorization") == "Bearer new")
    },
    ReplacedCall("`.redirect(using: .doNotFollow)`", answering: { _ in .good(307, headers: [("Location", "/b")]) }) {
      session, url, _, server in
      var request = try TransferRequest(.get, url)
      request.options.decisions.redirect = { _ in .keep }
      #expect(await session.result(of: request).status == 307)
      #expect(server.requests.count == 1)
    },
    ReplacedCall("`Redirector(behavior: .modify { … })`", answering: Self.moved) { session, url, photo, server in
      var request = try TransferRequest(.post, url, body: .file(photo))
      request.options.decisions.redirect = { .follow(with: $0.headers, method: .put) }
      try await session.send(request)
      #expect(try server.last.method == "PUT" && server.last.bodyText == "sunset")
    },
    ReplacedCall("`.authenticate(username: \"me\", password: \"secret\")`", answering: Self.basic) {
      session, url, _, server in
      var request = try TransferRequest(.get, url)
      request.credentials = .strongestOffered(user: "me", password: "secret")
      try await session.send(request)
      #expect(try server.last.header("Authorization") == "Basic bWU6c2VjcmV0")
    },
    ReplacedCall("`ServerTrustManager(evaluators: …)`") { _, _, _, server in
      let known: [[UInt8]] = []
      var configuration = TransferSession.Configuration()
      configuration.serverTrust = { known.contains($0.certificates.first ?? []) ? .trust : .refuse }
      try await server.expectRefusedCertificate(.certificateRefused, configuration)
    },
    ReplacedCall("`ClosureEventMonitor`") { session, url, _, _ in
      let lines = Guarded<[String]>([])
      var request = try TransferRequest(.get, url)
      request.options.trace = { line in lines.withLock { $0.append(line.text) } }
      try await session.send(request)
      #expect(lines.withLock { $0.contains { $0.hasPrefix("GET /a HTTP/1.1") } })
    },
    ReplacedCall("`Session(eventMonitors: [monitor])`") { _, url, _, _ in
      let lines = Guarded<[String]>([])
      var configuration = TransferSession.Configuration()
      configuration.trace = { line in lines.withLock { $0.append(line.text) } }
      _ = try await TransferSession(configuration).get(url)
      #expect(lines.withLock { $0.contains { $0.hasPrefix("GET /a HTTP/1.1") } })
    },
    ReplacedCall("`Session(configuration: configuration)`") { _, url, _, server in
      var configuration = TransferSession.Configuration()
      configuration.maximumConnectionsPerHost = 8
      let session = try TransferSession(configuration)
      #expect(try await session.get(url).status == 200)
      #expect(server.requests.count == 1)
    },
  ]

  /// Demands the token `new`.
  static func bearer(_ request: RecordedRequest) -> [ScriptedStep] {
    request.header("Authorization") == "Bearer new"
      ? .good() : .good(401, headers: [("WWW-Authenticate", "Bearer realm=\"api\"")])
  }

  /// Demands a user and a password.
  static func basic(_ request: RecordedRequest) -> [ScriptedStep] {
    request.header("Authorization") == nil
      ? .good(401, headers: [("WWW-Authenticate", "Basic realm=\"api\"")]) : .good()
  }
}
