import FormStream
import FormStreamTestSupport
import Foundation
import Testing
import FormStreamTransfer

/// Downloads to files: what is there before, meanwhile and after.
@Suite struct DownloadTests {
  private static let bytes = noise(3_000_000)

  private func server(
    _ headers: [(String, String)] = [("ETag", "\"1\"")], bytes: [UInt8] = bytes
  ) throws -> ScriptedServer {
    try ScriptedServer { _ in [.respond(200, headers: headers, bytes: bytes)] }
  }

  @Test func `a file gets its name, its mode and its digest when it is complete`() async throws {
    let place = try TemporaryDirectory()
    let (first, goOn) = (try Gate(), try Gate())
    let half = Self.bytes.count / 2
    let head = "HTTP/1.1 200 OK\r\nContent-Length: \(Self.bytes.count)\r\nETag: \"1\"\r\n\r\n"
    let server = try ScriptedServer { _ in
      [
        .send(head), .send(Array(Self.bytes[..<half])), .open(first), .waitFor(goOn),
        .send(Array(Self.bytes[half...])),
      ]
    }
    var settings = DownloadSettings(.file(place.path("file")))
    let digest = try sha256(Self.bytes)
    settings.expectedSHA256 = SHA256Digest(digest.uppercased())
    let task = try makeSession().startDownload(try downloadRequest(server.url), settings)
    #expect(await onNewThread { first.wait() })
    #expect(await eventually { (place.bytes("file.part")?.count ?? 0) > 0 })
    #expect(try place.names == ["file.part", "file.part.json"])
    #expect(try mode(place.path("file.part")) == 0o600)
    #expect(try mode(place.path("file.part.json")) == 0o600)
    goOn.open()
    let file = try await task.file
    #expect(file.path.description == place.path("file"))
    #expect(file.size == 3_000_000)
    #expect(file.sha256?.description == digest)
    #expect(file.isEndKnown)
    #expect(file.resumedFrom == 0)
    #expect(place.bytes("file") == Self.bytes)
    #expect(try place.names == ["file"])
    // What a program creates with 0666 and the umask of this process.
    #expect(FileManager.default.createFile(atPath: place.path("made"), contents: nil))
    #expect(try mode(place.path("file")) == mode(place.path("made")))
    let result = await task.result
    #expect(result.transfer.attempts == 1)
    #expect(result.received == 3_000_000)
    #expect(result.partialFile == nil)
    #expect(result.resumeData == nil)
    #expect(task.progress.current.responseFraction == 1)
    #expect(task.state == .done)
  }

  private func mode(_ path: String) throws -> Int {
    let attributes = try FileManager.default.attributesOfItem(atPath: path)
    return try #require(attributes[.posixPermissions] as? NSNumber).intValue
  }

  @Test func `a wrong digest removes the file, and doesn't replace another`() async throws {
    let place = try TemporaryDirectory()
    try place.write("file", "old")
    let server = try server()
    var settings = DownloadSettings(.file(place.path("file")))
    settings.expectedSHA256 = SHA256Digest(String(repeating: "0", count: 64))
    let result = try await makeSession().downloadResult(
      of: try downloadRequest(server.url), settings)
    #expect(result.outcome == .failed)
    #expect(result.error?.code == .digestMismatch)
    #expect(result.error?.description.contains(try sha256(Self.bytes)) == true)
    #expect(try place.names == ["file"])
    #expect(place.bytes("file") == Array("old".utf8))
  }

  @Test(arguments: [false, true])
  func `what was left is hashed, too`(isDamaged: Bool) async throws {
    let place = try TemporaryDirectory()
    let file = VersionedFile()
    let server = try ScriptedServer { file.steps(for: $0) }
    var settings = DownloadSettings(.file(place.path("file")))
    settings.expectedSHA256 = SHA256Digest(try sha256(VersionedFile.original))
    let session = try makeSession()
    _ = await session.downloadResult(of: try downloadRequest(server.url, attempts: 1), settings)
    if isDamaged {
      var bytes = try #require(place.bytes("file.part"))
      bytes[50_000] ^= 1
      let handle = try #require(FileHandle(forUpdatingAtPath: place.path("file.part")))
      try handle.write(contentsOf: Data(bytes))
      // As after kill -9: the record doesn't say how the file was left, so that the change isn't noticed.
      var record = try #require(
        try JSONSerialization.jsonObject(with: Data(place.bytes("file.part.json") ?? []))
          as? [String: Any])
      #expect(record.removeValue(forKey: "left") != nil)
      try place.write(
        "file.part.json", Array(try JSONSerialization.data(withJSONObject: record)))
    }
    let result = await session.downloadResult(of: try downloadRequest(server.url), settings)
    #expect(server.requests.last?.rangeStart == 100_000)
    #expect(result.outcome == (isDamaged ? .failed : .ok))
    #expect(result.error?.code == (isDamaged ? .digestMismatch : nil))
    #expect(try place.names == (isDamaged ? [] : ["file"]))
  }

  @Test func `a file that ends with its connection is not known to be complete`() async throws {
    let place = try TemporaryDirectory()
    let server = try ScriptedServer { _ in [.respond(200, body: "all?", framing: .close), .finish] }
    let chunks = try ScriptedServer { _ in [.respond(200, body: "all", framing: .chunked)] }
    let session = try makeSession()
    let unknown = try await session.download(server.url, to: place.path("unknown"))
    #expect(!unknown.isEndKnown)
    #expect(place.bytes("unknown") == Array("all?".utf8))
    let known = try await session.download(chunks.url, to: place.path("known"))
    #expect(known.isEndKnown)
    #expect(place.bytes("known") == Array("all".utf8))
    for head in [
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: identity", "HTTP/2 200 OK",
      "HTTP/2 200 OK\r\nTransfer-Encoding: Identity",
    ] {
      let claiming = try ScriptedServer { _ in [.send("\(head)\r\n\r\nall?"), .close] }
      let file = try await session.download(claiming.url, to: place.path("claimed"))
      #expect(!file.isEndKnown, "\(head)")
      #expect(place.bytes("claimed") == Array("all?".utf8))
    }
  }

  @Test func `an empty file is a file`() async throws {
    let place = try TemporaryDirectory()
    try place.write("file", "old")
    let server = try server(bytes: [])
    let file = try await makeSession().download(server.url, to: place.path("file"))
    #expect(file.size == 0)
    #expect(place.bytes("file") == [])
    #expect(try place.names == ["file"])
  }

  @Test(arguments: [404, 500, 204, 202, 304])
  func `another status than 200 stores nothing`(status: Int) async throws {
    let place = try TemporaryDirectory()
    try place.write("file", "old")
    let server = try ScriptedServer { _ in [.respond(status, body: "explained")] }
    let result = try await makeSession().downloadResult(
      of: try downloadRequest(server.url, attempts: 1), DownloadSettings(.file(place.path("file"))))
    #expect(result.outcome != .ok)
    #expect(result.error?.code == .statusRefused)
    if status > 400 { #expect(result.transfer.response?.text == "explained") }
    #expect(try place.names == ["file"])
    #expect(place.bytes("file") == Array("old".utf8))
  }

  @Test func `a refused continuation leaves what was there`() async throws {
    let place = try TemporaryDirectory()
    let file = VersionedFile()
    let server = try ScriptedServer { request in
      request.number == 0 ? file.steps(for: request) : [.respond(403, body: "no")]
    }
    let settings = DownloadSettings(.file(place.path("file")))
    let session = try makeSession()
    for status in [200, 403, 403] {
      let result = await session.downloadResult(
        of: try downloadRequest(server.url, attempts: 1), settings)
      #expect(result.transfer.status == status)
      #expect(result.resumeData?.received == 100_000)
      #expect(result.resumeData?.total == 300_000)
      #expect(place.bytes("file.part")?.count == 100_000)
    }
    // Also if what is there may not be continued, and nothing else arrives.
    var anew = settings
    anew.resumesPartialFile = false
    let result = await session.downloadResult(of: try downloadRequest(server.url), anew)
    #expect(result.transfer.status == 403)
    #expect(server.requests.last?.header("Range") == nil)
    #expect(place.bytes("file.part")?.count == 100_000)
  }

  @Test func `a download starts again if it is told to`() async throws {
    let place = try TemporaryDirectory()
    let file = VersionedFile()
    let server = try ScriptedServer { file.steps(for: $0) }
    var settings = DownloadSettings(.file(place.path("file")))
    let session = try makeSession()
    _ = await session.downloadResult(of: try downloadRequest(server.url, attempts: 1), settings)
    settings.resumesPartialFile = false
    let result = await session.downloadResult(of: try downloadRequest(server.url), settings)
    #expect(result.outcome == .ok)
    #expect(server.requests.map(\.rangeStart) == [nil, nil])
    #expect(place.bytes("file") == file.changed)
    #expect(try place.names == ["file"])
  }

  /// What is done to a part that was left, so that it is not this download's any more.
  enum Obstacle: CaseIterable {
    case otherURL, noRecord, foreignRecord, damagedRecord
    case otherFile, writableByOthers, link, otherName, inUse
  }

  @Test(arguments: Obstacle.allCases)
  func `a part that may be another's is left alone`(_ obstacle: Obstacle) async throws {
    let place = try TemporaryDirectory()
    let file = VersionedFile()
    let server = try ScriptedServer { request in
      var file = file
      if request.target != "/a" || request.number > 0 { file.cut = nil }
      return file.steps(for: request)
    }
    let settings = DownloadSettings(.file(place.path("file")))
    let session = try makeSession()
    _ = await session.downloadResult(
      of: try downloadRequest("\(server.url)/a", attempts: 1), settings)
    let files = FileManager.default
    let (part, record) = (place.path("file.part"), place.path("file.part.json"))
    var held: FileHandle?
    switch obstacle {
    case .otherURL: break
    case .noRecord: try files.removeItem(atPath: record)
    case .foreignRecord:
      // The partial file is gone, and the name of its record is that of a file of the user's.
      try files.removeItem(atPath: part)
      try place.write("file.part.json", "{\"mine\":true}")
    case .damagedRecord: try place.write("file.part.json", "{\"schema\":\"formstream.download/1\"}")
    case .otherFile:
      try files.copyItem(atPath: part, toPath: place.path("copy"))
      try files.removeItem(atPath: part)
      try files.moveItem(atPath: place.path("copy"), toPath: part)
    case .writableByOthers:
      try files.setAttributes([.posixPermissions: 0o666], ofItemAtPath: part)
    case .link:
      try files.moveItem(atPath: part, toPath: place.path("moved"))
      try files.createSymbolicLink(atPath: part, withDestinationPath: place.path("moved"))
    case .otherName: try files.linkItem(atPath: part, toPath: place.path("second"))
    case .inUse:
      let handle = try #require(FileHandle(forUpdatingAtPath: part))
      #expect(flock(handle.fileDescriptor, LOCK_EX | LOCK_NB) == 0)
      held = handle
    }
    let before = try place.names
    let path = obstacle == .otherURL ? "/b" : "/a"
    let result = await session.downloadResult(
      of: try downloadRequest(server.url + path), settings)
    #expect(result.outcome == .ok)
    #expect(server.requests.last?.header("Range") == nil)
    #expect(place.bytes("file") == VersionedFile.original)
    #expect(try place.names == (before + ["file"]).sorted())
    if obstacle == .foreignRecord {
      #expect(place.bytes("file.part.json") == Array("{\"mine\":true}".utf8))
    } else {
      #expect(place.bytes("file.part") == Array(VersionedFile.original.prefix(100_000)))
    }
    try held?.close()
  }

  @Test func `nothing is requested if the destination can't be one`() async throws {
    let place = try TemporaryDirectory()
    try FileManager.default.createDirectory(
      atPath: place.path("directory"), withIntermediateDirectories: false)
    let server = try ScriptedServer { _ in [.unexpected] }
    let session = try makeSession()
    for (path, code) in [
      (place.path("missing/file"), TransferError.Code.responseNotStored),
      (place.path("directory"), .destinationExists), (place.path("directory/"), .responseNotStored),
      ("", .responseNotStored), ("a\0b", .responseNotStored), ("/dev/null", .destinationExists),
    ] {
      let error = await #expect(throws: TransferError.self) {
        try await session.download(server.url, to: path)
      }
      #expect(error?.code == code, "\(path)")
      #expect(error?.outcome == .failed)
    }
    #expect(server.connections.isEmpty)
    #expect(try place.names == ["directory"])
  }

  @Test func `a request that can't be a download is not sent`() async throws {
    let place = try TemporaryDirectory()
    let server = try ScriptedServer { _ in [.unexpected] }
    var requests = [try makeRequest(.post, server.url), try makeRequest(.head, server.url, nil)]
    for name in ["Range", "If-Range"] {
      var request = try downloadRequest(server.url)
      request.headers.append(name, "bytes=1-")
      requests.append(request)
    }
    let settings = DownloadSettings(.file(place.path("file")))
    for request in requests {
      let result = try await makeSession().downloadResult(of: request, settings)
      #expect(result.error?.code == .invalidSetting)
    }
    #expect(server.connections.isEmpty)
  }

  @Test(.enabled(if: SmallDisk.isAllowed, "a file system can't be mounted here"))
  func `if the disk is full, the part is kept, and continued when there is room`() async throws {
    let place = try TemporaryDirectory()
    let mount = try run(
      program: "/bin/mount", ["-t", "tmpfs", "-o", "size=2m", "tmpfs", place.path])
    #expect(mount.exit == 0, "\(mount.stderr)")
    defer { _ = try? run(program: "/bin/umount", ["--lazy", place.path]) }
    let bytes = Self.bytes
    let server = try ScriptedServer { request in
      guard let start = request.rangeStart else {
        return [.respond(200, headers: [("ETag", "\"1\"")], bytes: bytes)]
      }
      let range = "bytes \(start)-\(bytes.count - 1)/\(bytes.count)"
      return [
        .respond(
          206, headers: [("ETag", "\"1\""), ("Content-Range", range)],
          bytes: Array(bytes[start...]))
      ]
    }
    let session = try makeSession()
    let settings = DownloadSettings(.file(place.path("file")))
    let full = await session.downloadResult(of: try downloadRequest(server.url), settings)
    #expect(full.outcome == .failed)
    #expect(full.error?.code == .responseNotStored)
    #expect(full.error?.description.contains("No space left on device") == true)
    #expect(full.error?.description.contains("file.part") == true)
    #expect(full.transfer.attempts == 1)
    #expect(try place.names == ["file.part", "file.part.json"])
    let kept = try #require(place.bytes("file.part"))
    #expect(kept.count > 500_000)
    #expect(kept == Array(bytes.prefix(kept.count)))
    #expect(full.resumeData?.received == Int64(kept.count))
    let enlarge = try run(
      program: "/bin/mount", ["-o", "remount,size=8m", "tmpfs", place.path])
    #expect(enlarge.exit == 0, "\(enlarge.stderr)")
    let result = await session.downloadResult(of: try downloadRequest(server.url), settings)
    #expect(result.outcome == .ok)
    #expect(result.file?.resumedFrom == Int64(kept.count))
    #expect(place.bytes("file") == bytes)
    #expect(try place.names == ["file"])
  }

  @Test(arguments: DownloadDestination.ExistingFile.allCases)
  func `of two downloads to one name at once, neither is broken`(
    _ existing: DownloadDestination.ExistingFile
  ) async throws {
    let place = try TemporaryDirectory()
    let both = try Gate()
    let contents = [noise(1_000_000, seed: 7), noise(1_000_000, seed: 8)]
    let server = try ScriptedServer { request in
      let bytes = contents[request.target == "/0" ? 0 : 1]
      return [
        .send("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\nETag: \"1\"\r\n\r\n"),
        .send(Array(bytes.prefix(400_000))), .waitFor(both), .send(Array(bytes.dropFirst(400_000))),
      ]
    }
    let settings = DownloadSettings(.file(place.path("file"), ifTaken: existing))
    // Two sessions, as two processes have.
    let tasks = try (0..<2).map {
      try makeSession().startDownload(try downloadRequest("\(server.url)/\($0)"), settings)
    }
    #expect(
      await eventually {
        (place.bytes("file.part")?.count ?? 0) > 0 && (place.bytes("file.2.part")?.count ?? 0) > 0
      })
    both.open()
    let results = [await tasks[0].result, await tasks[1].result]
    switch existing {
    case .replace:
      #expect(results.map(\.outcome) == [.ok, .ok])
      #expect(try place.names == ["file"])
      #expect(contents.contains(try #require(place.bytes("file"))))
    case .number:
      #expect(results.map(\.outcome) == [.ok, .ok])
      #expect(try place.names == ["file", "file-2"])
      for (result, bytes) in zip(results, contents) {
        #expect(place.bytes(try #require(result.file).path.lastComponent) == bytes)
      }
    case .refuse:
      let stored = try #require(results.firstIndex { $0.outcome == .ok })
      #expect(results[1 - stored].error?.code == .destinationExists)
      #expect(place.bytes("file") == contents[stored])
      let part = try #require(results[1 - stored].partialFile)
      #expect(place.bytes(part.lastComponent) == contents[1 - stored])
    }
  }

  /// Regression: a record stayed if its download ended while another download had moved that record aside.
  @Test func `a hundred downloads to one name at once are a hundred files`() async throws {
    let place = try TemporaryDirectory()
    let server = try ScriptedServer { request in
      [
        .respond(
          200, headers: [("ETag", "\"1\"")], body: String(repeating: request.target, count: 10_000))
      ]
    }
    let sessions = [try makeSession(), try makeSession()]
    let settings = DownloadSettings(.file(place.path("file"), ifTaken: .number))
    let tasks = try (0..<100).map {
      sessions[$0 % 2].startDownload(try downloadRequest("\(server.url)/\($0)"), settings)
    }
    var stored: Set<String> = []
    for (index, task) in tasks.enumerated() {
      let file = try await task.file
      stored.insert(file.path.lastComponent)
      let expected = String(repeating: "/\(index)", count: 10_000)
      #expect(place.bytes(file.path.lastComponent) == Array(expected.utf8))
    }
    #expect(stored.count == 100)
    let others = Set(try place.names).subtracting(stored)
    #expect(others == [])
  }

  @Test func `a redirect to another server is asked for the rest, too`() async throws {
    let place = try TemporaryDirectory()
    let file = VersionedFile()
    let other = try ScriptedServer { file.steps(for: $0) }
    let target = "\(other.url)/signed"
    let server = try ScriptedServer { _ in
      [.respond(302, headers: [("Location", target)])]
    }
    var request = try downloadRequest(server.url)
    request.options.redirects.allowsOtherOrigins = true
    request.headers.append("X-Own", "kept here")
    let result = try await makeSession().downloadResult(
      of: request, DownloadSettings(.file(place.path("file"))))
    #expect(result.outcome == .ok)
    #expect(other.requests.map(\.rangeStart) == [nil, 100_000])
    #expect(other.requests.last?.header("If-Range") == "\"1\"")
    #expect(other.requests.allSatisfy { $0.header("X-Own") == nil })
    #expect(place.bytes("file") == VersionedFile.original)
  }
}
