import FormStream
import FormStreamPlatform
import FormStreamTestSupport
import FormStreamTransfer
import Foundation
import Testing

extension ReplacedCall {
  /// requests-toolbelt 1.0, for Python's requests.
  static let requestsToolbelt: [ReplacedCall] = [
    ReplacedCall("`MultipartEncoder({\"title\": \"Sunset\"})`") { session, url, _, server in
      let form = Form { Part.text("title", "Sunset") }
      try await session.post(url, form: form)
      #expect(try server.last.bodyText.contains("name=\"title\"\r\n\r\nSunset\r\n"))
    },
    ReplacedCall("`(\"photo\", (\"a.jpg\", open(path, \"rb\"), \"image/jpeg\"))`") { session, _, photo, server in
      let part = Part.file("photo", photo, filename: "a.jpg", type: "image/jpeg")
      try await server.expectArrival(of: part, photoPart(filename: "a.jpg"), by: session)
    },
    ReplacedCall("`requests.post(url, data=encoder, headers={\"Content-Type\": encoder.content_type})`") {
      session, url, photo, server in
      let form = Form { Part.file("photo", photo) }
      try await session.post(url, form: form)
      #expect(try server.last.header("Content-Type") == form.contentType)
    },
    ReplacedCall("`MultipartEncoder(fields, boundary=\"B\")`") { _, _, _, _ in
      let form = Form(boundary: try Boundary("B")) { Part.text("a", "b") }
      #expect(form.contentType == "multipart/form-data; boundary=B")
    },
    ReplacedCall("`encoder.len`, `encoder.read(65536)`") { _, _, photo, _ in
      let form = Form { Part.file("photo", photo) }
      let layout = try form.layout()
      let reader = layout.makeReader()
      var count = 0
      while case let piece = try reader.read(upTo: 65536), !piece.isEmpty { count += piece.count }
      #expect(layout.contentLength == Int64(count))
    },
    ReplacedCall("`encoder.to_string()`") { _, _, photo, _ in
      let form = Form { Part.file("photo", photo) }
      let bytes = try form.layout().bytes(limit: 1 << 20)
      #expect(String(decoding: bytes, as: UTF8.self).contains(photoPart(filename: "sunset.jpg")))
    },
    ReplacedCall("`MultipartEncoderMonitor(encoder, callback)`, `monitor.bytes_read`") { session, url, photo, _ in
      let count = Guarded<Int64>(0)
      let form = Form { Part.file("photo", photo) }
      try await session.post(url, form: form) { progress in count.withLock { $0 = progress.handedOver } }
      #expect(count.withLock { $0 } == (try form.layout().contentLength))
    },
    ReplacedCall("`StreamingIterator(size, iterator)`") { session, url, _, server in
      let chunks = AsyncStream<[UInt8]> { stream in
        stream.yield(Array("sunset".utf8))
        stream.finish()
      }
      let body = TransferBody.part(.asyncChunks(chunks, length: 6))
      try await session.post(url, body: body)
      #expect(try server.last.framing == .contentLength(6))
    },
    ReplacedCall(
      "`FileFromURLWrapper(source, session=session)`",
      answering: { $0.method == "GET" ? .good(body: "sunset") : .good() }
    ) { session, url, _, server in
      let body = TransferBody.writing { writer in
        let response = try await session.open(TransferRequest(.get, url)).accepted()
        for try await chunk in response.body { try await writer.write(chunk) }
      }
      try await session.put(url, body: body)
      #expect(server.requests.first { $0.method == "PUT" }?.bodyText == "sunset")
    },
    ReplacedCall(
      "`MultipartDecoder.from_response(response).parts`",
      answering: { _ in
        .good(
          headers: [("Content-Type", "multipart/mixed; boundary=B")],
          body: "--B\r\nContent-Type: text/plain\r\n\r\nSunset\r\n--B--\r\n")
      }
    ) { session, url, _, _ in
      let response = try await session.open(TransferRequest(.get, url)).accepted()
      var texts: [String] = []
      for try await part in response.parts { texts.append(try await part.text()) }
      #expect(texts == ["Sunset"])
    },
    ReplacedCall("`stream.stream_response_to_file(response, path)`") { session, url, photo, _ in
      let copy = photo + ".copy"
      try await session.download(url, to: copy)
      #expect(try String(contentsOfFile: copy, encoding: .utf8) == #"{"id":"7"}"#)
    },
    ReplacedCall("`GuessAuth(\"me\", \"secret\")`", answering: Self.basic) { session, url, _, server in
      var request = try TransferRequest(.get, url)
      request.credentials = .strongestOffered(user: "me", password: "secret")
      try await session.send(request)
      #expect(try server.last.header("Authorization") == "Basic bWU6c2VjcmV0")
    },
    ReplacedCall("`FingerprintAdapter(fingerprint)`") { _, _, _, server in
      let known = [UInt8]("certificate".utf8)
      var configuration = TransferSession.Configuration()
      configuration.serverTrust = { $0.certificates.first == known ? .trust : .refuse }
      try await server.expectRefusedCertificate(.certificateRefused, configuration)
    },
    ReplacedCall("`SourceAddressAdapter(\"127.0.0.1\")`") { _, url, _, server in
      var configuration = TransferSession.Configuration()
      configuration.localInterface = "host!127.0.0.1"
      let session = try TransferSession(configuration)
      try await session.send(TransferRequest(.get, url))
      #expect(server.requests.count == 1)
    },
    ReplacedCall("`TCPKeepAliveAdapter(idle=120)`") { _, url, _, server in
      var configuration = TransferSession.Configuration()
      configuration.keepAliveTime = .seconds(120)
      let session = try TransferSession(configuration)
      try await session.send(TransferRequest(.get, url))
      #expect(server.requests.count == 1)
    },
    ReplacedCall("`threaded.map(requests)`") { session, url, _, server in
      let requests = try ["a", "b"].map { try TransferRequest(.get, url, query: ["name": $0]) }
      for await (_, result) in session.results(of: requests, limit: 8) { #expect(result.outcome == .ok) }
      #expect(Set(server.requests.map(\.target)) == ["/a?name=a", "/a?name=b"])
    },
    ReplacedCall("`dump.dump_all(response)`") { session, url, _, _ in
      let lines = Guarded<[String]>([])
      var request = try TransferRequest(.get, url)
      request.options.trace = { line in lines.withLock { $0.append(line.text) } }
      try await session.send(request)
      #expect(lines.withLock { $0.contains { $0.hasPrefix("GET /a HTTP/1.1") } })
    },
  ]
}
