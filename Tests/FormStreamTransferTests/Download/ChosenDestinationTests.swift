import FormStream
import FormStreamPlatform
import FormStreamTestSupport
import FormStreamTransfer
import Foundation
import Testing

/// Downloads whose destination the program chooses when the head of the response has arrived.
@Suite struct ChosenDestinationTests {
  private struct Refusal: Error {}

  private let place: TemporaryDirectory
  private let session: TransferSession
  /// The heads that the program was asked about.
  private let asked = Guarded<[TransferResponse]>([])

  init() throws {
    (place, session) = (try TemporaryDirectory(), try makeSession())
  }

  /// A file with this name, in the directory of the test.
  private func settings(
    _ name: String = "file", ifTaken existing: DownloadDestination.ExistingFile = .refuse
  ) -> DownloadSettings {
    let path = place.path(name)
    return DownloadSettings(
      .chosen { [asked] head in
        asked.withLock { $0.append(head) }
        return .file(path, ifTaken: existing)
      })
  }

  @Test func `the program sees status, headers and URL after redirects, and names the file`() async throws {
    let server = try ScriptedServer { request in
      request.target == "/a"
        ? .good(302, headers: [("Location", "/b?c=d")])
        : .good(203, headers: [("Content-Disposition", "attachment; filename=\"../sunset.png\"")], body: "pixels")
    }
    let directory = place.path
    let settings = DownloadSettings(
      .chosen { head in
        try #require(head.status == 203 && head.url.absoluteString.hasSuffix("/b?c=d"))
        #expect(head.body.isEmpty)
        return .directory(directory, named: .server)
      })
    let file = try await session.download(server.url + "/a", settings)
    #expect(file.path.description == place.path("sunset.png"))
    #expect(place.bytes("sunset.png") == Array("pixels".utf8))
    #expect(try place.names == ["sunset.png"])
    #expect(server.faults.isEmpty)
  }

  @Test func `a break is continued in the same download, and the program is asked once`() async throws {
    let file = VersionedFile()
    let server = try ScriptedServer { file.steps(for: $0) }
    let result = await session.downloadResult(of: try downloadRequest(server.url), settings())
    #expect(result.outcome == .ok)
    #expect(place.bytes("file") == VersionedFile.original)
    #expect(server.requests.map(\.rangeStart) == [nil, 100_000])
    #expect(asked.withLock(\.count) == 1)
    #expect(try place.names == ["file"])
  }

  @Test func `a later download that chooses the same path continues the partial file beside it`() async throws {
    let file = VersionedFile()
    let server = try ScriptedServer { request in
      var whole = file
      if request.number > 0 { whole.cut = nil }
      return whole.steps(for: request)
    }
    let first = await session.downloadResult(of: try downloadRequest(server.url, attempts: 1), settings())
    #expect(first.outcome == .retryable)
    #expect(first.partialFile?.description == place.path("file.part"))
    // One attempt is enough: the response that shows the path is no failed one.
    let second = await session.downloadResult(of: try downloadRequest(server.url, attempts: 1), settings())
    #expect(second.outcome == .ok)
    #expect(second.file?.resumedFrom == 100_000)
    #expect(second.restarts == 0)
    #expect(place.bytes("file") == VersionedFile.original)
    #expect(server.requests.map(\.rangeStart) == [nil, nil, 100_000])
    #expect(try place.names == ["file"])
  }

  @Test func `what an earlier download has left counts for the digest`() async throws {
    let file = VersionedFile()
    let server = try ScriptedServer { file.steps(for: $0) }
    var settings = settings()
    settings.expectedSHA256 = SHA256Digest(try sha256(VersionedFile.original))
    #expect(await session.downloadResult(of: try downloadRequest(server.url, attempts: 1), settings).outcome == .retryable)
    let second = await session.downloadResult(of: try downloadRequest(server.url, attempts: 1), settings)
    #expect(second.outcome == .ok && second.file?.resumedFrom == 100_000)
    #expect(second.file?.sha256 == settings.expectedSHA256)
  }

  @Test func `the data of a broken download names the chosen path, and needs no other choice`() async throws {
    let file = VersionedFile()
    let server = try ScriptedServer { file.steps(for: $0) }
    let first = await session.downloadResult(of: try downloadRequest(server.url, attempts: 1), settings())
    let data = try JSONEncoder().encode(#require(first.resumeData))
    let rest = try session.startDownload(
      resuming: JSONDecoder().decode(DownloadResumeData.self, from: data))
    #expect(await rest.result.file?.resumedFrom == 100_000)
    #expect(place.bytes("file") == VersionedFile.original)
    #expect(server.requests.map(\.rangeStart) == [nil, 100_000])
    #expect(asked.withLock(\.count) == 1)
  }

  @Test(arguments: [VersionedFile.Change.sameLength, .shorter, .longer])
  func `a file that has changed since is begun again with the first response`(
    _ change: VersionedFile.Change
  ) async throws {
    let file = VersionedFile(change: change)
    let server = try ScriptedServer { file.steps(for: $0) }
    _ = await session.downloadResult(of: try downloadRequest(server.url, attempts: 1), settings())
    let second = await session.downloadResult(of: try downloadRequest(server.url), settings())
    #expect(second.file?.resumedFrom == 0)
    #expect(place.bytes("file") == file.changed)
    #expect(server.requests.map(\.rangeStart) == [nil, nil])
    #expect(try place.names == ["file"])
  }

  /// The complete bytes are there, but got no name. The server has no rest of them (416).
  @Test func `a complete partial file gets its name without another body`() async throws {
    let goOn = try Gate()
    let file = VersionedFile(cut: nil)
    let server = try ScriptedServer { request in
      guard request.number == 0 else { return file.steps(for: request) }
      let head = "HTTP/1.1 200 OK\r\nContent-Length: 300000\r\nETag: \"1\"\r\n\r\n"
      return [
        .send(head), .send([UInt8](VersionedFile.original.prefix(1))), .waitFor(goOn),
        .send([UInt8](VersionedFile.original.dropFirst())),
      ]
    }
    let task = session.startDownload(try downloadRequest(server.url), settings())
    #expect(await eventually { place.bytes("file.part")?.count == 1 })
    try place.write("file", "of another program")
    goOn.open()
    #expect(await task.result.error?.code == .destinationExists)
    #expect(place.bytes("file.part") == VersionedFile.original)
    let second = await session.downloadResult(of: try downloadRequest(server.url), settings(ifTaken: .replace))
    #expect(second.file?.size == 300_000)
    #expect(server.requests.map(\.rangeStart) == [nil, nil, 300_000])
    #expect(place.bytes("file") == VersionedFile.original)
    #expect(try place.names == ["file"])
  }

  @Test func `a choice that fails, or leads nowhere, stores nothing, and the body is not received`() async throws {
    let server = try ScriptedServer { _ in [.readBody, .respond(200, bytes: noise(20_000_000))] }
    let nowhere = place.path("nowhere/file")
    try place.write("taken", "before")
    let choices: [(DownloadSettings, TransferError.Code)] = [
      (DownloadSettings(.chosen { _ in throw Refusal() }), .decisionFailed),
      (DownloadSettings(.chosen { _ in .file(nowhere) }), .responseNotStored),
      (DownloadSettings(.chosen { _ in .file("") }), .responseNotStored),
      (
        DownloadSettings(.chosen { _ in .file(try #require(URL(string: "https://localhost/a"))) }),
        TransferError.Code(rawValue: "not-a-file")
      ),
      (DownloadSettings(.chosen { _ in .chosen { _ in .file("a") } }), TransferError.Code(rawValue: "not-a-file")),
      (
        DownloadSettings(.chosen { _ in .directory("a", named: .server, ifTaken: .replace) }),
        TransferError.Code.invalidSetting
      ),
      (settings("taken"), .destinationExists),
    ]
    for (settings, code) in choices {
      let result = await session.downloadResult(of: try downloadRequest(server.url), settings)
      #expect(result.outcome == .failed)
      #expect(result.error?.code == code, "\(result)")
      #expect(result.received == 0 && result.unstored < 2_000_000)
    }
    #expect(server.requests.count == choices.count)
    #expect(try place.names == ["taken"])
    #expect(place.bytes("taken") == Array("before".utf8))
  }

  @Test func `a name that is taken is replaced or numbered as it is with other destinations`() async throws {
    let server = try ScriptedServer { _ in .good(body: "new") }
    try place.write("taken.txt", "before")
    let request = try downloadRequest(server.url)
    let numbered = await session.downloadResult(of: request, settings("taken.txt", ifTaken: .number))
    #expect(numbered.file?.path.lastComponent == "taken-2.txt")
    #expect(place.bytes("taken.txt") == Array("before".utf8))
    let replaced = await session.downloadResult(of: request, settings("taken.txt", ifTaken: .replace))
    #expect(replaced.file?.path.lastComponent == "taken.txt")
    #expect(place.bytes("taken.txt") == Array("new".utf8))
  }

  @Test func `the program is not asked about refusals, and about what has not changed`() async throws {
    let server = try ScriptedServer { request in
      request.number == 0 ? .good(404, body: "no film") : .good(304)
    }
    let refused = await session.downloadResult(of: try downloadRequest(server.url), settings())
    #expect(refused.error?.code == .statusRefused)
    #expect(refused.error?.response?.text == "no film")
    var request = try downloadRequest(server.url)
    request.options.acceptedStatuses = [200, 304]
    let unchanged = await session.downloadResult(of: request, settings())
    #expect(unchanged.outcome == .ok && unchanged.file == nil)
    #expect(asked.withLock(\.isEmpty))
    #expect(try place.names == [])
  }

  @Test func `a choice that takes longer than the attempt may is tried again later`() async throws {
    let server = try ScriptedServer { _ in .good(body: "body") }
    let settings = DownloadSettings(
      .chosen { _ in
        try await Task.sleep(for: .seconds(3600))
        return .file("")
      })
    var request = try downloadRequest(server.url)
    request.options.timeLimits.attempt = .milliseconds(100)
    let result = await session.downloadResult(of: request, settings)
    #expect(result.outcome == .retryable)
    #expect(result.error?.code == .timedOut)
    #expect(server.requests.count == 3)
    #expect(try place.names == [])
  }

  @Test func `a download that is cancelled before the choice leaves nothing, whatever is chosen later`() async throws {
    let (reached, goOn, done) = (try Gate(), try Gate(), try Gate())
    let server = try ScriptedServer { _ in .good(body: "body") }
    let path = place.path("file")
    let settings = DownloadSettings(
      .chosen { _ in
        reached.open()
        // Unlike this wait, most code doesn't end when its task is cancelled.
        _ = await onNewThread { goOn.wait() }
        done.open()
        return .file(path)
      })
    let task = session.startDownload(try downloadRequest(server.url), settings)
    #expect(await onNewThread { reached.wait() })
    #expect(session.downloads == [task] && session.tasks.isEmpty)
    task.cancel()
    let result = await task.result
    #expect(result.outcome == .cancelled)
    #expect(result.error?.code == .cancelled)
    goOn.open()
    #expect(await onNewThread { done.wait() })
    // A later download finds nothing in its way.
    let other = await session.downloadResult(of: try downloadRequest(server.url), self.settings())
    #expect(other.outcome == .ok)
    #expect(await eventually { (try? place.names) == ["file"] })
  }
}
