import FormStream
import FormStreamTestSupport
import Foundation
import Glibc
import Testing
import FormStreamTransfer

/// Downloads that are paused, cancelled, killed, and continued: in the same task, in another session, in another process.
@Suite struct ContinuedDownloadTests {
  private static let bytes = noise(8_000_000)

  /// A server of one version of a file. It sends the first half of a complete response, opens `reached`, and sends the
  /// rest after `goOn`; responses for a part it sends at once.
  private func server(
    _ reached: Gate, _ goOn: Gate, closes: Bool = false
  ) throws -> ScriptedServer {
    try ScriptedServer { request in
      let bytes = Self.bytes
      let start = request.rangeStart ?? 0
      if start > 0 {
        let range = "bytes \(start)-\(bytes.count - 1)/\(bytes.count)"
        return [
          .respond(
            206, headers: [("ETag", "\"1\""), ("Content-Range", range)],
            bytes: Array(bytes[start...]))
        ]
      }
      let half = bytes.count / 2
      let head = "HTTP/1.1 200 OK\r\nContent-Length: \(bytes.count)\r\nETag: \"1\"\r\n\r\n"
      return [.send(head), .send(Array(bytes[..<half])), .open(reached), .waitFor(goOn)]
        + (closes ? [.close] : [.send(Array(bytes[half...]))])
    }
  }

  @Test(arguments: [false, true])
  func `a paused download stands still, and goes on even if the server has closed the connection`(
    closes: Bool
  ) async throws {
    let place = try TemporaryDirectory()
    let (reached, goOn) = (try Gate(), try Gate())
    let server = try server(reached, goOn, closes: closes)
    let session = try makeSession()
    let task = session.startDownload(
      try downloadRequest(server.url), DownloadSettings(.file(place.path("file"))))
    #expect(await onNewThread { reached.wait() })
    let half = Self.bytes.count / 2
    #expect(await eventually { place.bytes("file.part")?.count == half })
    task.pause()
    #expect(task.state == .paused)
    // The engine carries out what it is told in order: after another request the pause has begun.
    let other = try ScriptedServer { _ in .good(body: "other") }
    _ = try await session.get(other.url)
    goOn.open()
    for _ in 0..<20 { _ = try await session.get(other.url) }
    if closes { #expect(await onNewThread { server.waitForEnds() }) }
    #expect(place.bytes("file.part")?.count == half)
    #expect(task.progress.current.received == Int64(half))
    task.resume()
    let file = try await task.file
    #expect(place.bytes("file") == Self.bytes)
    #expect(file.resumedFrom == 0)
    #expect(server.requests.map(\.rangeStart) == (closes ? [nil, half] : [nil]))
  }

  // A process that is stopped during the wait (SIGSTOP, a laptop's lid) began an attempt long after the limit.
  @Test func `no attempt begins if the wait was longer than it was to be`() async throws {
    let place = try TemporaryDirectory()
    // The time limit began before this.
    let arrival = Guarded<ContinuousClock.Instant?>(nil)
    let server = try ScriptedServer { _ in
      arrival.withLock { $0 = $0 ?? .now }
      return [.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\nETag: \"1\"\r\n\r\nhalf"), .close]
    }
    var request = try downloadRequest(server.url)
    let limit = Duration.seconds(1)
    request.options.retry.timeLimit = limit
    request.options.retry.fixedDelay = .zero
    // It is called before the wait, whose length was chosen.
    request.options.willRetry = { _ in
      while let start = arrival.withLock(\.self), start.duration(to: .now) <= limit { usleep(1000) }
    }
    let result = try await makeSession().downloadResult(
      of: request, DownloadSettings(.file(place.path("file"))))
    #expect(result.outcome == .retryable)
    #expect(result.error?.code == .connectionLost)
    #expect(server.requests.count == 1)
    #expect(place.bytes("file.part") == Array("half".utf8))
  }

  /// RFC 9110 §14.2 allows shorter parts than the one that was asked for. There were 400 requests after the limit.
  @Test func `shorter parts than asked for don't go on after the time limit`() async throws {
    let place = try TemporaryDirectory()
    let server = try ScriptedServer { request in
      guard let start = request.rangeStart else {
        return [
          .send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\nETag: \"1\"\r\n\r\nhalf"), .close,
        ]
      }
      return .good(
        206, headers: [("ETag", "\"1\""), ("Content-Range", "bytes \(start)-\(start)/9")],
        body: "x")
    }
    let session = try makeSession()
    let settings = DownloadSettings(.file(place.path("file")))
    _ = await session.downloadResult(of: try downloadRequest(server.url, attempts: 1), settings)
    var request = try downloadRequest(server.url)
    request.options.retry.timeLimit = .zero
    let result = await session.downloadResult(of: request, settings)
    #expect(result.outcome == .retryable)
    #expect(result.error?.description.contains("no attempt begins later than") == true)
    #expect(server.requests.map(\.rangeStart) == [nil, 4])
    #expect(place.bytes("file.part") == Array("halfx".utf8))
    // Without a limit it goes on to the end.
    let rest = await session.downloadResult(of: try downloadRequest(server.url), settings)
    #expect(rest.outcome == .ok)
    #expect(place.bytes("file") == Array("halfxxxxx".utf8))
  }

  /// Each request makes progress, so that the number of attempts alone would not end it.
  @Test func `the time limit of retries is for all requests of a download`() async throws {
    let place = try TemporaryDirectory()
    let server = try ScriptedServer { request in
      let (start, count) = (request.rangeStart ?? 0, 100_000)
      let range = start > 0 ? "Content-Range: bytes \(start)-\(count - 1)/\(count)\r\n" : ""
      return [
        .send(
          "HTTP/1.1 \(start > 0 ? "206" : "200") OK\r\n\(range)Content-Length: \(count - start)\r\n"
            + "ETag: \"1\"\r\n\r\n"), .send(Array(Self.bytes[start..<(start + 1000)])), .close,
      ]
    }
    var request = try downloadRequest(server.url)
    request.options.retry.fixedDelay = .milliseconds(100)
    request.options.retry.timeLimit = .milliseconds(300)
    let task = try makeSession().startDownload(
      request, DownloadSettings(.file(place.path("file"))))
    let result = await task.result
    #expect(result.transfer.outcome == .retryable)
    #expect((1...4).contains(server.requests.count), "\(server.requests.count)")
    #expect(place.bytes("file.part") == Array(Self.bytes[..<(server.requests.count * 1000)]))
  }

  @Test func `a cancelled download is continued in another process`() async throws {
    let place = try TemporaryDirectory()
    let (reached, goOn) = (try Gate(), try Gate())
    let server = try server(reached, goOn)
    let task = try makeSession().startDownload(
      try downloadRequest("\(server.url)/a?token=canary"),
      DownloadSettings(.file(place.path("file"))))
    #expect(await onNewThread { reached.wait() })
    #expect(await eventually { (place.bytes("file.part")?.count ?? 0) > 1_000_000 })
    let data = try #require(await task.cancelKeepingData())
    let result = await task.result
    #expect(result.outcome == .cancelled)
    #expect(result.error?.code == .cancelled)
    await #expect(throws: CancellationError.self) { try await task.file }
    #expect(data.received == Int64(place.bytes("file.part")?.count ?? 0))
    #expect(data.total == 8_000_000)
    // A secret in the URL is in the data only.
    let record = String(decoding: place.bytes("file.part.json") ?? [], as: UTF8.self)
    #expect(record.contains("\"etag\""))
    #expect(!record.contains("canary"))
    let stored = try place.write("data", Array(try JSONEncoder().encode(data)))
    let said = try await onNewThread {
      try run("formstream-download-probe", ["--resume", stored.description])
    }
    #expect(said.output == "ok 8000000 \(data.received)\n", "\(said.stderr)")
    #expect(place.bytes("file") == Self.bytes)
    #expect(try place.names == ["data", "file"])
    #expect(server.requests.map(\.rangeStart) == [nil, Int(data.received)])
    goOn.open()
  }

  @Test func `data whose part is gone starts again`() async throws {
    let place = try TemporaryDirectory()
    let file = VersionedFile()
    let server = try ScriptedServer { file.steps(for: $0) }
    let session = try makeSession()
    let first = await session.downloadResult(
      of: try downloadRequest(server.url, attempts: 1), DownloadSettings(.file(place.path("file"))))
    let data = try #require(first.resumeData)
    for name in try place.names { try FileManager.default.removeItem(atPath: place.path(name)) }
    _ = try await session.startDownload(resuming: data).file
    #expect(server.requests.map(\.rangeStart) == [nil, nil])
    #expect(place.bytes("file") == file.changed)
  }

  @Test func `a download that is cancelled at its start can be continued as before`() async throws {
    let place = try TemporaryDirectory()
    let file = VersionedFile()
    let goOn = try Gate()
    let server = try ScriptedServer { request in
      (request.rangeStart == nil ? [] : [.waitFor(goOn)]) + file.steps(for: request)
    }
    let session = try makeSession()
    let first = await session.downloadResult(
      of: try downloadRequest(server.url, attempts: 1), DownloadSettings(.file(place.path("file"))))
    let data = try #require(first.resumeData)
    for round in 0..<50 {
      let task = try session.startDownload(resuming: data)
      // So that the cancellation comes at different moments.
      if round > 10 { try await Task.sleep(for: .microseconds(round * 20)) }
      #expect(await task.cancelKeepingData() == data)
      #expect(await task.result.error?.code == .cancelled)
      let record = String(decoding: place.bytes("file.part.json") ?? [], as: UTF8.self)
      #expect(record.contains("\"left\""))
    }
    goOn.open()
    let result = try await session.startDownload(resuming: data).result
    #expect(result.file?.resumedFrom == 100_000)
    #expect(try place.names == ["file"])
  }

  @Test func `data of a numbered part continues that part`() async throws {
    let place = try TemporaryDirectory()
    try place.write("file.part", "of another program")
    let file = VersionedFile()
    let server = try ScriptedServer { file.steps(for: $0) }
    let session = try makeSession()
    let first = await session.downloadResult(
      of: try downloadRequest(server.url, attempts: 1), DownloadSettings(.file(place.path("file"))))
    let data = try #require(first.resumeData)
    #expect(data.partialFile.lastComponent == "file.2.part")
    let result = try await session.startDownload(resuming: data).result
    #expect(result.file?.resumedFrom == 100_000)
    #expect(try place.names == ["file", "file.part"])
    #expect(place.bytes("file.part") == Array("of another program".utf8))
  }

  @Test(arguments: ["cut", "appended", "removed", "replaced"])
  func `a partial file that another program changes becomes no file`(_ change: String) async throws {
    let place = try TemporaryDirectory()
    let (reached, goOn) = (try Gate(), try Gate())
    let server = try server(reached, goOn)
    let task = try makeSession().startDownload(
      try downloadRequest(server.url), DownloadSettings(.file(place.path("file"))))
    #expect(await onNewThread { reached.wait() })
    #expect(await eventually { place.bytes("file.part")?.count == 4_000_000 })
    let path = place.path("file.part")
    switch change {
    case "cut": #expect(truncate(path, 1000) == 0)
    case "appended":
      let file = open(path, O_WRONLY | O_APPEND)
      #expect(write(file, "more", 4) == 4)
      close(file)
    case "removed": #expect(unlink(path) == 0)
    default:
      #expect(unlink(path) == 0)
      try place.write("file.part", noise(8_000_000))
    }
    goOn.open()
    let result = await task.result
    #expect(result.outcome == .failed)
    #expect(result.error?.code == .responseNotStored)
    #expect(result.partialFile == nil && result.resumeData == nil)
    // What is left is not continued.
    #expect(try place.names == (change == "removed" ? [] : ["file.part"]))
  }

  @Test func `each repetition is reported with its reason and its number`() async throws {
    let place = try TemporaryDirectory()
    let file = VersionedFile()
    let server = try ScriptedServer { request in
      request.number == 1 ? .good(503) : file.steps(for: request)
    }
    var request = try downloadRequest(server.url)
    let retries = Guarded<[TransferRetry]>([])
    request.options.willRetry = { retry in retries.withLock { $0.append(retry) } }
    let result = try await makeSession().downloadResult(
      of: request, DownloadSettings(.file(place.path("file"))))
    #expect(result.file?.path.bytes == place.local("file").bytes)
    let reported = retries.withLock(\.self)
    #expect(reported.map(\.attempt) == [2, 3])
    #expect(reported.map(\.error?.code) == [.connectionLost, .statusRefused])
  }

  @Test func `a finishing session completes downloads that are cut, and starts no others`()
    async throws
  {
    let place = try TemporaryDirectory()
    let (reached, goOn) = (try Gate(), try Gate())
    let server = try server(reached, goOn, closes: true)
    let session = try makeSession()
    let settings = DownloadSettings(.file(place.path("file")))
    let task = session.startDownload(try downloadRequest(server.url), settings)
    #expect(await onNewThread { reached.wait() })
    async let finished: Void = session.finish()
    let nobody = try ReservedPort()
    let request = try downloadRequest("http://127.0.0.1:\(nobody.number)")
    var code: TransferError.Code?
    // Before `finish` has begun, it is started, and cancelled.
    for _ in 0..<10_000 where code != .sessionFinished {
      let other = session.startDownload(request, DownloadSettings(.file(place.path("other"))))
      other.cancel()
      code = await other.result.error?.code
    }
    #expect(code == .sessionFinished)
    goOn.open()
    await finished
    #expect(await task.result.outcome == .ok)
    #expect(place.bytes("file") == Self.bytes)
  }

  @Test func `a download that is killed again and again is continued each time`() async throws {
    let place = try TemporaryDirectory()
    let bytes = noise(24_000_000, seed: 5)
    let killer = Killer()
    let server = try ScriptedServer { request in
      let start = request.rangeStart ?? 0
      let status = start > 0 ? "206 Partial Content" : "200 OK"
      let range = "Content-Range: bytes \(start)-\(bytes.count - 1)/\(bytes.count)\r\n"
      let head =
        "HTTP/1.1 \(status)\r\nContent-Length: \(bytes.count - start)\r\nETag: \"1\"\r\n"
        + (start > 0 ? range : "") + "\r\n"
      var steps: [ScriptedStep] = [.send(head)]
      for offset in stride(from: start, to: bytes.count, by: 16_384) {
        let end = min(offset + 16_384, bytes.count)
        steps += [
          .send(Array(bytes[offset..<end])), .call { killer.note(end, after: end - start) },
        ]
      }
      return steps
    }
    var random = SeededSequence(seed: 16)
    var (again, atAll): ([Int], [Int]) = ([], [])
    for round in 0..<50 {
      // After a random number of bytes: the rest is enough for all rounds.
      let count = Int(random.next() % 450_000)
      let program = try RunningProgram(
        program: builtBinary("formstream-download-probe"),
        rawArguments: [server.url, place.path("file")].map { Array($0.utf8) })
      killer.kill(program.pid, of: server.port, after: count)
      _ = try await onNewThread { try program.wait() }
      #expect(await onNewThread { server.waitForEnds(round + 1) })
      // A process that is killed between making a partial file and its record leaves an empty one, which it can't be known
      // to have made.
      let partials = try place.names.filter { $0.hasSuffix(".part") }.compactMap(place.bytes)
      let left = partials.filter { !$0.isEmpty }
      #expect(left.count <= 1)
      let size = left.first?.count ?? 0
      #expect(left.first ?? [] == Array(bytes.prefix(size)))
      #expect(place.bytes("file") == nil)
      let killed = try #require(killer.killed)
      again.append(killed.sent - killed.unread - size)
      atAll.append(killed.sent - size)
    }
    let last = try await onNewThread {
      try run("formstream-download-probe", [server.url, place.path("file")])
    }
    #expect(last.output.hasPrefix("ok 24000000 "), "\(last)")
    #expect(place.bytes("file") == bytes)
    // A process that is killed while it replaces the record can't remove the new one's temporary name.
    let names = try place.names.filter { !$0.hasPrefix(".formstream-") && place.bytes($0) != [] }
    #expect(names == ["file"], "\(names)")
    #expect(try #require(again.max()) <= 1 << 20, "\(again)")
    print(
      "50 kills: at most \(again.max() ?? 0) bytes that were read are read again, and \(atAll.max() ?? 0) are sent again"
    )
  }
}

/// Kills a program after a server has sent it some bytes, on the server's thread.
private final class Killer: @unchecked Sendable {
  private let lock = NSLock()
  private var next: (pid: Int32, port: UInt16, count: Int)?
  private var last: (sent: Int, unread: Int)?

  /// How far the server had sent the file, and how many of these bytes the program had not read from its socket.
  var killed: (sent: Int, unread: Int)? { lock.withLock { last } }

  func kill(_ pid: Int32, of port: UInt16, after count: Int) {
    lock.withLock { (next, last) = ((pid, port, count), nil) }
  }

  /// Notes that the server has sent the file up to `end`, the last `count` bytes over this connection.
  func note(_ end: Int, after count: Int) {
    lock.withLock {
      guard let next, count >= next.count else { return }
      // It stands still while the system says what it has not read.
      Glibc.kill(next.pid, SIGSTOP)
      // `T` is stopped; a program that has ended is not waited for.
      while let state = Self.state(of: next.pid), state != "T", state != "Z" { usleep(100) }
      last = (end, Self.unreadBytes(port: next.port))
      Glibc.kill(next.pid, SIGKILL)
      self.next = nil
    }
  }

  private static func state(of pid: Int32) -> Substring? {
    let status = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8)
    return status?.split(separator: ")").last?.split(separator: " ").first
  }

  /// The bytes that wait in the system between a server and its clients.
  private static func unreadBytes(port: UInt16) -> Int {
    let table = (try? String(contentsOfFile: "/proc/net/tcp", encoding: .utf8)) ?? ""
    let port = ":" + String(port, radix: 16, uppercase: true).leftPadded
    return table.split(separator: "\n").dropFirst().reduce(0) { sum, line in
      let words = line.split(separator: " ")
      guard words.count > 4, words[3] == "01" else { return sum }
      let queues = words[4].split(separator: ":").map { Int($0, radix: 16) ?? 0 }
      if words[1].hasSuffix(port) { return sum + queues[0] }
      return words[2].hasSuffix(port) ? sum + queues[1] : sum
    }
  }
}

extension String {
  fileprivate var leftPadded: String { String(repeating: "0", count: max(4 - count, 0)) + self }
}
