import FormStream
import FormStreamPlatform
import FormStreamTestSupport
import FormStreamTransfer
import Foundation
import Testing

extension ReplacedCall {
  /// AFNetworking 4.
  static let afNetworking: [ReplacedCall] = [
    ReplacedCall("`GET:parameters:headers:progress:success:failure:`") { session, url, _, server in
      let response = try await session.get(url, query: ["q": "sunset"])
      #expect(response.text == #"{"id":"7"}"#)
      #expect(try server.last.target == "/a?q=sunset")
    },
    ReplacedCall("`HEAD:parameters:headers:success:failure:`") { session, url, _, server in
      try await session.send(TransferRequest(.head, url))
      #expect(try server.last.method == "HEAD")
    },
    ReplacedCall("`POST:parameters:headers:progress:success:failure:`") { session, url, _, server in
      try await session.post(url, fields: ["title": "Sunset"])
      #expect(try server.last.bodyText == "title=Sunset")
    },
    ReplacedCall("the same with an `AFJSONRequestSerializer`") { session, url, _, server in
      let order = Order(item: "lamp")
      try await session.post(url, json: order)
      #expect(try server.last.bodyText == #"{"item":"lamp"}"#)
    },
    ReplacedCall("`POST:parameters:headers:constructingBodyWithBlock:progress:success:failure:`") {
      session, url, photo, server in
      let form = Form { Part.file("photo", photo) }
      try await session.post(url, form: form)
      #expect(try server.last.bodyText.contains(photoPart(filename: "sunset.jpg")))
    },
    ReplacedCall("`appendPartWithFormData:name:`") { session, _, _, server in
      let part = Part.text("title", "Sunset")
      let text = "Content-Disposition: form-data; name=\"title\"\r\n\r\nSunset"
      try await server.expectArrival(of: part, text, by: session)
    },
    ReplacedCall("`appendPartWithFileURL:name:fileName:mimeType:error:`") { session, _, photo, server in
      let part = Part.file("photo", photo, filename: "a.jpg", type: "image/jpeg")
      try await server.expectArrival(of: part, photoPart(filename: "a.jpg"), by: session)
    },
    ReplacedCall("`appendPartWithFileData:name:fileName:mimeType:`") { session, _, _, server in
      let data = Data("sunset".utf8)
      let part = Part.bytes("photo", data, filename: "a.jpg", type: "image/jpeg")
      try await server.expectArrival(of: part, photoPart(filename: "a.jpg"), by: session)
    },
    ReplacedCall("`appendPartWithInputStream:name:fileName:length:mimeType:`") { session, _, photo, server in
      let body = PartBody.inputStream(length: 6) { InputStream(fileAtPath: photo) }
      let part = Part(name: "photo", filename: "a.jpg", type: "image/jpeg", body: body)
      try await server.expectArrival(of: part, photoPart(filename: "a.jpg"), by: session)
    },
    ReplacedCall("`requestWithMultipartFormRequest:writingStreamContentsToFile:completionHandler:`") {
      session, url, photo, server in
      let shown = Guarded<[Int64]>([])
      let show = { @Sendable (count: Int64) in shown.withLock { $0.append(count) } }
      let copy = photo + ".copy"
      let form = Form { Part.file("photo", photo) }
      let file = try await form.layout().write(to: copy) { show($0.written) }
      #expect(shown.withLock { $0.last } == file.size)
      try await session.post(url, body: .file(copy, type: file.type))
      #expect(try server.last.header("Content-Type") == "\(file.type)")
      #expect(try server.last.bodyText.contains(photoPart(filename: "sunset.jpg")))
    },
    ReplacedCall("`PUT:parameters:headers:success:failure:`") { session, url, _, server in
      let order = Order(item: "lamp")
      try await session.put(url, body: .json(order))
      #expect(try server.last.method == "PUT" && server.last.bodyText == #"{"item":"lamp"}"#)
    },
    ReplacedCall("`DELETE:parameters:headers:success:failure:`") { session, url, _, server in
      try await session.delete(url)
      #expect(try server.last.method == "DELETE")
    },
    ReplacedCall("`uploadTaskWithRequest:fromFile:progress:completionHandler:`") { session, url, photo, server in
      try await session.put(url, file: photo)
      #expect(try server.last.bodyText == "sunset")
    },
    ReplacedCall("`downloadTaskWithRequest:progress:destination:completionHandler:`") { session, url, photo, _ in
      let copy = photo + ".copy"
      try await session.download(url, to: copy)
      #expect(try String(contentsOfFile: copy, encoding: .utf8) == #"{"id":"7"}"#)
    },
    ReplacedCall("the `destination` block of that call") { session, url, photo, _ in
      let (folder, copy) = (photo + ".folder", photo + ".copy")
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
      let settings = DownloadSettings(.chosen { head in head.status == 200 ? .directory(folder, named: .server) : .file(copy) })
      let file = try await session.download(url, settings)
      #expect(file.path.description.hasPrefix(folder + "/"))
      #expect(try String(contentsOfFile: file.path.description, encoding: .utf8) == #"{"id":"7"}"#)
    },
    ReplacedCall("`setTaskDidSendBodyDataBlock:`, `uploadProgress`") { session, url, photo, _ in
      let shown = Shown()
      let show = { @Sendable (fraction: Double?) in shown.show(fraction) }
      let form = Form { Part.file("photo", photo) }
      try await session.post(url, form: form) { show($0.fraction) }
      #expect(shown.last == 1)
    },
    ReplacedCall("`AFJSONResponseSerializer`") { session, url, _, _ in
      let photo = try await session.get(url).decoded(as: Photo.self)
      #expect(photo.id == "7")
    },
    ReplacedCall("`acceptableStatusCodes`", answering: { _ in .good(409) }) { session, url, _, _ in
      var request = try TransferRequest(.get, url)
      request.options.acceptedStatuses = [200, 409]
      #expect(try await session.send(request).status == 409)
    },
    ReplacedCall("`setAuthorizationHeaderFieldWithUsername:password:`") { session, url, _, server in
      var request = try TransferRequest(.get, url)
      request.credentials = .basic(user: "me", password: "secret")
      try await session.send(request)
      #expect(try server.last.header("Authorization") == "Basic bWU6c2VjcmV0")
    },
    ReplacedCall("`AFSecurityPolicy` with `AFSSLPinningModePublicKey`") { _, _, _, server in
      let digest = String(repeating: "A", count: 43) + "="
      var configuration = TransferSession.Configuration()
      configuration.tls.verifiesServer = false
      configuration.tls.pin = PublicKeyPin("sha256//" + digest)
      try await server.expectRefusedCertificate(.publicKeyMismatch, configuration)
    },
    ReplacedCall("`requestSerializer setValue:forHTTPHeaderField:`") { _, url, _, server in
      var configuration = TransferSession.Configuration()
      configuration.headers = ["Accept-Language": "de"]
      _ = try await TransferSession(configuration).get(url)
      #expect(try server.last.header("Accept-Language") == "de")
    },
    ReplacedCall("`setTaskWillPerformHTTPRedirectionBlock:`", answering: Self.moved) { session, url, _, server in
      var request = try TransferRequest(.get, url)
      request.options.decisions.redirect = { _ in .follow(with: ["X-Moved": "1"]) }
      try await session.send(request)
      #expect(try server.last.header("X-Moved") == "1")
    },
    ReplacedCall("`throttleBandwidthWithPacketSize:delay:`") { session, url, photo, server in
      var request = try TransferRequest(.put, url, body: .file(photo))
      request.options.maximumRate = 1 << 20
      try await session.send(request)
      #expect(try server.last.bodyText == "sunset")
    },
    ReplacedCall("`invalidateSessionCancelingTasks:resetSession:`", answering: { _ in [.stall] }) {
      session, url, _, server in
      let task = session.start(try TransferRequest(.get, url))
      #expect(server.waitForRequests(1))
      session.cancelAll()
      #expect(await task.result.error?.code == .cancelled)
    },
    ReplacedCall("`tasks`, `uploadTasks`, `downloadTasks`", answering: { _ in [.stall] }) { session, url, photo, server in
      let task = session.start(try TransferRequest(.get, url))
      let download = session.startDownload(try TransferRequest(.get, url), DownloadSettings(.file(photo + ".copy")))
      #expect(server.waitForRequests(2))
      #expect(session.tasks == [task] && session.downloads == [download])
      #expect(session.downloads.first?.progress.current.received == 0)
      session.cancelAll()
    },
  ]

  /// Redirects the first request.
  static func moved(_ request: RecordedRequest) -> [ScriptedStep] {
    request.number == 0 ? .good(307, headers: [("Location", "/b")]) : .good()
  }
}
