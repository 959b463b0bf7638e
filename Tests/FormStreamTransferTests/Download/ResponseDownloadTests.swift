import FormStream
import FormStreamTestSupport
import FormStreamTransfer
import Testing

/// Responses to ordinary requests that are stored with the rules of a download.
@Suite struct ResponseDownloadTests {
  private let place: TemporaryDirectory
  private let session: TransferSession

  init() throws {
    (place, session) = (try TemporaryDirectory(), try makeSession())
  }

  private func settings(
    _ name: String = "file", ifTaken existing: DownloadDestination.ExistingFile = .replace
  ) -> DownloadSettings {
    DownloadSettings(.file(place.path(name), ifTaken: existing))
  }

  /// A request whose response becomes a download when its head has arrived.
  private func request(
    _ server: ScriptedServer, _ settings: DownloadSettings, method: HTTPMethod = .get, attempts: Int = 1
  ) throws -> TransferRequest {
    var request = try makeRequest(method, server.url + "/film.mp4", nil, attempts: attempts)
    request.options.decisions.responseHead = { head in
      head.headers["Content-Type"] == "text/plain" ? nil : .download(settings)
    }
    return request
  }

  @Test func `a response becomes a download when the program has seen its head`() async throws {
    let goOn = try Gate()
    let server = try ScriptedServer { request in
      guard request.number == 0 else { return .good(headers: [("Content-Type", "text/plain")], body: "later") }
      return [.send("HTTP/1.1 200 OK\r\nContent-Length: 8\r\nETag: \"1\"\r\n\r\nhalf"), .waitFor(goOn), .send("half")]
    }
    var settings = settings()
    settings.computesDigest = true
    let task = session.start(try request(server, settings))
    // Until it is complete, the file has the names of a partial file.
    #expect(await eventually { place.bytes("file.part") == Array("half".utf8) })
    #expect(try place.names == ["file.part", "file.part.json"])
    goOn.open()
    let result = await task.result
    #expect(result.outcome == .ok && result.error == nil)
    #expect(result.downloadedFile?.path.description == place.path("file"))
    #expect(result.downloadedFile?.size == 8)
    #expect(try result.downloadedFile?.sha256?.description == sha256(Array("halfhalf".utf8)))
    #expect(result.downloadResumeData == nil)
    #expect(place.bytes("file") == Array("halfhalf".utf8))
    #expect(try place.names == ["file"])
    let text = await session.result(of: try request(server, settings))
    #expect(text.response?.text == "later" && text.downloadedFile == nil)
  }

  @Test func `a response that broke off is continued as a download`() async throws {
    let file = VersionedFile()
    let server = try ScriptedServer { file.steps(for: $0) }
    let broken = await session.result(of: try request(server, settings()))
    #expect(broken.outcome == .retryable)
    #expect(broken.downloadedFile == nil)
    #expect(broken.error?.description.contains("100000 bytes are in") == true)
    #expect(place.bytes("file.part")?.count == 100_000)
    let data = try #require(broken.downloadResumeData)
    #expect(data.received == 100_000 && data.total == 300_000)
    let rest = try await session.startDownload(resuming: data).file
    #expect(rest.resumedFrom == 100_000)
    #expect(place.bytes("file") == VersionedFile.original)
    #expect(server.requests.map(\.rangeStart) == [nil, 100_000])
    #expect(try place.names == ["file"])
  }

  @Test func `a cancelled response is continued as a download, too`() async throws {
    let (reached, goOn, file) = (try Gate(), try Gate(), VersionedFile())
    let server = try ScriptedServer { request in
      guard request.number == 0 else { return file.steps(for: request) }
      let head =
        "HTTP/1.1 200 OK\r\nContent-Length: 300000\r\nETag: \"1\"\r\n"
        + "Last-Modified: Sun, 06 Nov 1994 06:49:37 GMT\r\n\r\n"
      return [.send(head), .send(Array(VersionedFile.original.prefix(50_000))), .open(reached), .waitFor(goOn)]
    }
    let task = session.start(try request(server, settings()))
    #expect(await onNewThread { reached.wait() })
    #expect(await eventually { place.bytes("file.part")?.count == 50_000 })
    task.cancel()
    let data = try #require(await task.result.downloadResumeData)
    #expect(try await session.startDownload(resuming: data).file.resumedFrom == 50_000)
    #expect(place.bytes("file") == VersionedFile.original)
    goOn.open()
  }

  /// Regression: the end of the response was noted twice, and the second note had nothing left.
  @Test func `a complete file that can't get its name is left with what continues it`() async throws {
    let goOn = try Gate()
    let server = try ScriptedServer { _ in
      [.send("HTTP/1.1 200 OK\r\nContent-Length: 8\r\nETag: \"1\"\r\n\r\nhalf"), .waitFor(goOn), .send("half")]
    }
    let task = session.start(try request(server, settings()))
    #expect(await eventually { place.bytes("file.part") == Array("half".utf8) })
    _ = try run(program: "/bin/mkdir", ["file"], in: place)
    goOn.open()
    let result = await task.result
    #expect(result.outcome == .failed && result.downloadedFile == nil)
    #expect(result.error?.description.contains("choose another name. 8 bytes are in") == true, "\(result)")
    #expect(place.bytes("file.part") == Array("halfhalf".utf8))
    let data = try #require(result.downloadResumeData)
    #expect(data.received == 8 && data.total == 8)
  }

  @Test func `another attempt begins the file again`() async throws {
    let file = VersionedFile(change: .sameLength)
    let server = try ScriptedServer { file.steps(for: $0) }
    let result = await session.result(of: try request(server, settings(), attempts: 2))
    #expect(result.outcome == .ok && result.attempts == 2)
    #expect(place.bytes("file") == file.changed)
    #expect(server.requests.map(\.rangeStart) == [nil, nil])
    #expect(try place.names == ["file"])
    // The new version is as long as the rest of the old one.
    let other = try ScriptedServer { request in
      request.number > 0
        ? .good(headers: [("ETag", "\"2\"")], body: "other")
        : [.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\nETag: \"1\"\r\n\r\nhalf"), .close]
    }
    #expect(await session.result(of: try self.request(other, settings(), attempts: 2)).outcome == .ok)
    #expect(place.bytes("file") == Array("other".utf8))
  }

  @Test func `a request that was carried out without a file to store says so`() async throws {
    let server = try ScriptedServer { request in
      [.readBody, request.method == "POST" ? .respond(303, headers: [("Location", "/page")]) : .respond(404, body: "none")]
    }
    var request = try makeRequest(.post, server.url, .bytes([1]))
    request.options.responseTarget = .download(settings())
    let result = await session.result(of: request)
    #expect(result.outcome == .ok)
    #expect(result.error?.code == .responseNotStored)
    #expect(result.error?.description.contains("the response from \(server.url)/ has the status 303") == true)
    #expect(result.downloadedFile == nil)
    #expect(try place.names == [])
  }

  @Test(arguments: [HTTPMethod.get, .post])
  func `what a download has left stays for it when a response is stored`(_ method: HTTPMethod) async throws {
    let file = VersionedFile()
    let server = try ScriptedServer { file.steps(for: $0) }
    let download = try downloadRequest(server.url + "/film.mp4", attempts: 1)
    let data = try #require(await session.downloadResult(of: download, settings()).resumeData)
    let result = await session.result(of: try request(server, settings(), method: method))
    #expect(result.downloadedFile?.size == 300_000)
    #expect(try place.names == ["file", "file.part", "file.part.json"])
    #expect(try await session.startDownload(resuming: data).file.resumedFrom == 100_000)
    #expect(server.requests.map(\.rangeStart) == [nil, nil, 100_000])
    #expect(try place.names == ["file"])
  }

  @Test func `only a GET leaves a partial file`() async throws {
    let file = VersionedFile()
    let server = try ScriptedServer { file.steps(for: $0) }
    let broken = await session.result(of: try request(server, settings(), method: .post))
    #expect(broken.error?.code == .connectionLost)
    #expect(broken.downloadResumeData == nil)
    #expect(try place.names == [])
    let complete = await session.result(of: try request(server, settings(), method: .post))
    #expect(complete.downloadedFile?.size == 300_000)
    #expect(try place.names == ["file"])
  }

  @Test func `names are safe, numbered or refused as those of a download`() async throws {
    let server = try ScriptedServer { _ in
      .good(headers: [("Content-Disposition", "attachment; filename=\"../../.a.txt\"")], body: "new")
    }
    let directory = DownloadSettings(.directory(place.path, named: .server))
    for name in ["_a.txt", "_a-2.txt"] {
      let result = await session.result(of: try request(server, directory))
      #expect(result.downloadedFile?.path.lastComponent == name)
    }
    let refused = await session.result(of: try request(server, settings("_a.txt", ifTaken: .refuse)))
    #expect(refused.error?.code == .destinationExists)
    // A GET whose response can't be stored has brought nothing, as with a file.
    #expect(refused.outcome == .failed && refused.downloadedFile == nil)
    let carriedOut = try request(server, settings("_a.txt", ifTaken: .refuse), method: .post)
    #expect(await session.result(of: carriedOut).outcome == .ok)
    let nowhere = await session.result(of: try request(server, settings("nowhere/file")))
    #expect(nowhere.error?.code == .responseNotStored)
    #expect(try place.names == ["_a-2.txt", "_a.txt"])
  }

  @Test func `a refusal is not stored, and a digest is checked`() async throws {
    let server = try ScriptedServer { request in
      request.number == 0 ? .good(404, body: "no film") : .good(body: "other")
    }
    var settings = settings()
    settings.expectedSHA256 = SHA256Digest(String(repeating: "0", count: 64))
    let refused = await session.result(of: try request(server, settings))
    #expect(refused.response?.text == "no film")
    let other = await session.result(of: try request(server, settings))
    #expect(other.error?.code == .digestMismatch)
    #expect(try place.names == [])
  }

  @Test func `a request for a part, or for a compressed response, can't become a download`() async throws {
    let server = try ScriptedServer { _ in .good(body: "body") }
    var part = try makeRequest(.get, server.url, nil)
    part.headers.set("Range", "bytes=2-")
    part.options.responseTarget = .download(settings())
    var compressed = try makeRequest(.get, server.url, nil)
    compressed.options.responseCompression = ResponseCompression(limit: 100)
    compressed.options.responseTarget = .download(settings())
    var chosen = try makeRequest(.get, server.url, nil)
    chosen.options.responseTarget = .download(DownloadSettings(.chosen { _ in .file("file") }))
    var empty = try makeRequest(.head, server.url, nil)
    empty.options.responseTarget = .download(settings())
    let refused = [
      (part, "invalid-setting"), (compressed, "invalid-setting"), (empty, "invalid-setting"), (chosen, "not-a-file"),
    ]
    for (request, code) in refused {
      let result = await session.result(of: request)
      #expect(result.outcome == .failed)
      #expect(result.error?.code.rawValue == code)
    }
    #expect(server.requests.isEmpty)
    var late = try request(server, settings())
    late.headers.set("Range", "bytes=2-")
    #expect(await session.result(of: late).error?.code == .invalidSetting)
    let head = try request(server, settings(), method: .head)
    #expect(await session.result(of: head).error?.code == .invalidSetting)
    #expect(server.requests.count == 2)
    #expect(try place.names == [])
    // Without these, the request's own target is used without a decision.
    var own = try makeRequest(.get, server.url, nil)
    own.options.responseTarget = .download(settings())
    #expect(await session.result(of: own).downloadedFile?.size == 4)
  }
}
