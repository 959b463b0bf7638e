import FormStream
import FormStreamPlatform
import FormStreamTestSupport
import FormStreamTransfer
import Testing

/// Responses to requests for the rest of a file, of every status. A file is replaced by one complete version, or stays.
@Suite struct ResumedResponseTests {
  private struct Counts {
    var cells = 0
    var stored = 0
    var refused = 0
    var lies: [String] = []
  }

  @Test func `no status and no range makes a part the file`() async throws {
    // The inner dimensions of the grid have 2 to 5 values, so every seventh cell has all of them in turn.
    let cells = some(ResumedResponseCell.all, each: 7)
    let asked = Guarded<[String: Int]>([:])
    let server = try ScriptedServer { request in
      let number = asked.withLock { asked in
        asked[request.target, default: 0] += 1
        return asked[request.target, default: 1] - 1
      }
      guard let index = Int(request.target.dropFirst()) else { return [.unexpected] }
      return cells[index].steps(for: request, number)
    }
    let (session, counts) = (try makeSession(), Guarded(Counts()))
    let workers = 6
    try await withThrowingTaskGroup { group in
      for worker in 0..<workers {
        group.addTask {
          let place = try TemporaryDirectory(inMemory: true)
          for index in stride(from: worker, to: cells.count, by: workers) {
            let lie = try await Self.play(
              cells[index], "\(server.url)/\(index)", as: "f\(index)", in: place, session)
            counts.withLock { counts in
              counts.cells += 1
              switch lie {
              case .stored: counts.stored += 1
              case .refused: counts.refused += 1
              case .lie(let what): counts.lies.append("\(cells[index]): \(what)")
              }
            }
          }
        }
      }
      try await group.waitForAll()
    }
    let total = counts.withLock(\.self)
    print(
      "\(total.cells) cells, \(total.stored) stored, \(total.refused) refused, \(total.lies.count) lies"
    )
    #expect(total.lies == [], "\(total.lies.prefix(20).joined(separator: "\n"))")
    #expect(ResumedResponseCell.all.count > 8000 && total.cells == cells.count)
    #expect(total.stored * 5 > total.cells && total.refused * 5 > total.cells)
    #expect(server.faults == [])
  }

  private enum Finding {
    case stored, refused
    case lie(String)
  }

  private static func play(
    _ cell: ResumedResponseCell, _ url: String, as name: String, in place: TemporaryDirectory,
    _ session: TransferSession
  ) async throws -> Finding {
    try place.write(name, "old")
    var settings = DownloadSettings(.file(place.path(name)))
    settings.synchronizes = false
    let isSecondRun: Bool
    switch cell.mode {
    case .nextRun, .nextRunInChunks, .nextRunFromStart: isSecondRun = true
    default: isSecondRun = false
    }
    if isSecondRun {
      let first = await session.downloadResult(
        of: try downloadRequest(url, attempts: 1), settings)
      guard first.outcome == .retryable,
        place.bytes("\(name).part")?.count == ResumedResponseCell.cut
      else {
        return .lie("the first run ended with \(first.outcome)")
      }
    }
    settings.resumesPartialFile = cell.mode != .nextRunFromStart
    let result = await session.downloadResult(of: try downloadRequest(url), settings)
    let bytes = place.bytes(name) ?? []
    if result.outcome == .ok {
      return cell.isVersion(bytes) ? .stored : .lie("ok, and \(bytes.count) bytes are stored")
    }
    if result.error == nil { return .lie("\(result.outcome) without an error") }
    return bytes == Array("old".utf8) ? .refused : .lie("\(result.outcome), and the file is gone")
  }

  // MARK: By hand

  /// The case by which it was noticed: the tail had the name of the file, with `ok`.
  @Test(arguments: ["same run", "two runs", "chunked", "unasked"])
  func `a 200 with a range is refused before the file is begun`(_ kind: String) async throws {
    let place = try TemporaryDirectory()
    try place.write("file", "old")
    let all = noise(300_000)
    let server = try ScriptedServer { request in
      let range = ("Content-Range", "bytes 123456-299999/300000")
      let rest = Array(all[123_456...])
      if kind == "unasked" || request.rangeStart != nil {
        return [
          .respond(
            200, headers: [("ETag", "\"a\""), range], bytes: rest,
            framing: kind == "chunked" ? .chunked : .contentLength)
        ]
      }
      return [
        .respond(
          200, headers: [("ETag", "\"a\"")], bytes: Array(all[..<123_456]),
          framing: .announced(300_000)), .close,
      ]
    }
    let settings = DownloadSettings(.file(place.path("file")))
    if kind == "two runs" {
      let first = try await makeSession().downloadResult(
        of: downloadRequest(server.url, attempts: 1), settings)
      #expect(first.outcome == .retryable)
    }
    let result = try await makeSession().downloadResult(of: downloadRequest(server.url), settings)
    #expect(result.outcome == .failed)
    #expect(result.error?.code == .malformedResponse)
    #expect(result.error?.description.contains("Content-Range") == true)
    #expect(place.bytes("file") == Array("old".utf8))
    // What had arrived is not touched.
    #expect(place.bytes("file.part") == (kind == "unasked" ? nil : Array(all[..<123_456])))
    #expect(server.requests.count == (kind == "unasked" ? 1 : 2))
  }

  /// RFC 9110 §15.3.7.2: parts are not for a single range. Their boundaries would have become bytes of the file.
  @Test(arguments: ["multipart/byteranges; boundary=b", "Multipart/ByteRanges;boundary=b"])
  func `a range that comes in parts is not joined to what is there`(_ type: String) async throws {
    let place = try TemporaryDirectory()
    let all = noise(300)
    let server = try ScriptedServer { request in
      let tag = ("ETag", "\"a\"")
      guard request.rangeStart != nil else {
        return request.number == 0
          ? [
            .respond(200, headers: [tag], bytes: Array(all[..<100]), framing: .announced(300)),
            .close,
          ]
          : [.respond(200, headers: [tag], bytes: all)]
      }
      let parts = Array("--b\r\nContent-Range: bytes 100-299/300\r\n\r\n".utf8) + all[100...]
      return [
        .respond(
          206, headers: [tag, ("Content-Range", "bytes 100-299/300"), ("Content-Type", type)],
          bytes: Array(parts.prefix(200)))
      ]
    }
    let result = try await makeSession().downloadResult(
      of: downloadRequest(server.url), DownloadSettings(.file(place.path("file"))))
    #expect(result.outcome == .ok, "\(String(describing: result.error))")
    #expect(place.bytes("file") == all)
    #expect(server.requests.map(\.rangeStart) == [nil, 100, nil])
  }

  /// It was a success without the file: what had arrived was of a version that the server sends, so that it has changed.
  @Test func `a 304 after a part of the file was sent is a contradiction`() async throws {
    let place = try TemporaryDirectory()
    let all = noise(300)
    let server = try ScriptedServer(requests: [
      [
        .respond(
          200, headers: [("ETag", "\"a\"")], bytes: Array(all[..<100]), framing: .announced(300)),
        .close,
      ], [.respond(304)],
    ])
    var request = try downloadRequest(server.url)
    request.headers.set("If-None-Match", "\"old\"")
    request.options.acceptedStatuses = [200, 304]
    let result = try await makeSession().downloadResult(
      of: request, DownloadSettings(.file(place.path("file"))))
    #expect(result.outcome == .failed)
    #expect(result.error?.code == .malformedResponse)
    #expect(result.error?.description.contains("(304)") == true)
    #expect(result.file == nil)
    #expect(try place.names == ["file.part", "file.part.json"])
  }

  /// What an earlier download has left says nothing of the version that the caller has.
  @Test func `a 304 to a download that goes on is no contradiction`() async throws {
    let place = try TemporaryDirectory()
    try place.write("file", "old")
    let all = noise(300)
    let server = try ScriptedServer { request in
      request.rangeStart == nil
        ? [
          .respond(
            200, headers: [("ETag", "\"a\"")], bytes: Array(all[..<100]), framing: .announced(300)),
          .close,
        ] : [.respond(304)]
    }
    let settings = DownloadSettings(.file(place.path("file")))
    let first = try await makeSession().downloadResult(
      of: downloadRequest(server.url, attempts: 1), settings)
    #expect(first.outcome == .retryable)
    var request = try downloadRequest(server.url)
    request.headers.set("If-None-Match", "\"old\"")
    request.options.acceptedStatuses = [200, 304]
    let result = try await makeSession().downloadResult(of: request, settings)
    #expect(result.outcome == .ok, "\(String(describing: result.error))")
    #expect(result.file == nil && result.transfer.status == 304)
    #expect(place.bytes("file") == Array("old".utf8))
    #expect(place.bytes("file.part") == Array(all[..<100]))
  }

  /// RFC 9110 §8.8.1: one strong tag is one sequence of bytes.
  @Test(arguments: [nil, 206, 416, 200], [true, false])
  func `a strong tag of two lengths never replaces a file`(
    _ status: Int?, isAnnounced: Bool
  ) async throws {
    let place = try TemporaryDirectory()
    try place.write("file", "old")
    let (all, other) = (noise(300_000), noise(200_000, seed: 2))
    let server = try ScriptedServer { request in
      let tag = ("ETag", "\"a\"")
      switch (request.number, status) {
      case (0, _):
        return [
          .respond(
            200, headers: [tag], bytes: Array(all[..<123_456]), framing: .announced(300_000)),
          .close,
        ]
      case (1, 206):
        return [
          .respond(
            206, headers: [tag, ("Content-Range", "bytes 123456-199999/200000")],
            bytes: Array(other[123_456...]))
        ]
      case (1, 416): return [.respond(416, headers: [tag, ("Content-Range", "bytes */200000")])]
      default:
        return [
          .respond(
            200, headers: [tag], bytes: other, framing: isAnnounced ? .contentLength : .chunked)
        ]
      }
    }
    let result = try await makeSession().downloadResult(
      of: downloadRequest(server.url), DownloadSettings(.file(place.path("file"))))
    #expect(result.outcome == .failed)
    #expect(result.error?.code == .malformedResponse)
    #expect(
      result.error?.description.contains("300000") == true, "\(String(describing: result.error))")
    #expect(result.resumeData == nil)
    #expect(place.bytes("file") == Array("old".utf8))
  }

  /// What is not stored as a file is no less wrong.
  @Test(arguments: ["memory", "file", "stream", "open"])
  func `a part that was not asked for is an error with every target`(_ target: String) async throws {
    let place = try TemporaryDirectory()
    try place.write("f", "old")
    let received = ReceivedText()
    let server = try ScriptedServer { _ in
      .good(headers: [("Content-Range", "bytes 4-7/8")], body: "part")
    }
    var request = try makeRequest(.get, server.url, nil)
    switch target {
    case "file": request.options.responseTarget = .file(place.local("f"))
    case "stream": request.options.responseTarget = .stream { received.append($0) }
    default: break
    }
    if target == "open" {
      let (session, open) = (try makeSession(), request)
      let error = await #expect(throws: TransferError.self) {
        _ = try await session.open(open).collect()
      }
      #expect(error?.code == .malformedResponse)
      return
    }
    let result = try await makeSession().result(of: request)
    #expect(result.outcome == .failed)
    #expect(result.error?.code == .malformedResponse)
    #expect(place.bytes("f") == Array("old".utf8))
    #expect(received.text == "")
  }

  /// RFC 9110 §14.4: other units are for whom they are for. Databases number the rows of a page with them.
  @Test func `ranges that are not of bytes, and those of other requests, are nobody's business`()
    async throws
  {
    for (method, value) in [
      (HTTPMethod.get, "0-24/319"), (.get, "items 0-24/319"), (.post, "bytes 4-7/8"),
      (.head, "bytes 0-7/8"),
    ] {
      let server = try ScriptedServer { _ in .good(headers: [("Content-Range", value)], body: "b") }
      let result = try await makeSession().result(
        of: makeRequest(method, server.url, method == .post ? .bytes("b".utf8) : nil))
      #expect(result.outcome == .ok && result.error == nil, "\(method) \(value)")
    }
  }

  /// It was stored as an empty file.
  @Test func `a 304 that is accepted leaves the file as it is`() async throws {
    let place = try TemporaryDirectory()
    try place.write("file", "old")
    let server = try ScriptedServer { _ in [.respond(304)] }
    var request = try downloadRequest(server.url)
    request.headers.set("If-None-Match", "\"1\"")
    request.options.acceptedStatuses = [200, 304]
    let session = try makeSession()
    let settings = DownloadSettings(.file(place.path("file")))
    let result = await session.downloadResult(of: request, settings)
    #expect(result.outcome == .ok && result.file == nil && result.transfer.status == 304)
    #expect(try place.names == ["file"])
    #expect(place.bytes("file") == Array("old".utf8))
    let unchanged = request
    let error = await #expect(throws: TransferError.self) {
      try await session.startDownload(unchanged, settings).file
    }
    #expect(error?.code == .statusRefused && error?.status == 304)
  }
}
