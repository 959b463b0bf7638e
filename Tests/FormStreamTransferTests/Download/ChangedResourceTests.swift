import FormStream
import FormStreamTestSupport
import Foundation
import Testing
import FormStreamTransfer

/// A file that changes on the server between a cut and what follows it. What is stored is one version, or nothing.
@Suite struct ChangedResourceTests {
  /// Whether the version that was stored is the one that the server had at the end, and whether it was continued.
  private func check(
    _ file: VersionedFile, _ result: DownloadResult, _ place: TemporaryDirectory,
    _ server: ScriptedServer, continues: Bool
  ) throws {
    #expect(result.outcome == .ok, "\(file): \(String(describing: result.error))")
    #expect(place.bytes("file") == file.changed, "\(file)")
    #expect(try place.names == ["file"], "\(file)")
    #expect(result.file?.size == Int64(file.changed.count))
    #expect(server.faults == [], "\(file)")
    // Only what has a validator is asked for in part.
    let second = try #require(server.requests.dropFirst().first)
    #expect(
      second.header("Range")
        == (file.hasValidator || file.tag == .rotating ? "bytes=100000-" : nil), "\(file)")
    #expect((second.header("If-Range") == nil) == (second.header("Range") == nil))
    #expect(continues == (result.restarts == 0), "\(file)")
  }

  @Test(arguments: VersionedFile.all)
  func `a response that is cut is continued, or everything is asked for again`(
    _ file: VersionedFile
  ) async throws {
    let place = try TemporaryDirectory()
    let server = try ScriptedServer { file.steps(for: $0) }
    let result = try await makeSession().downloadResult(
      of: try downloadRequest(server.url), DownloadSettings(.file(place.path("file"))))
    let continues = file.hasValidator && file.change == .none && !file.ignoresRange
    try check(file, result, place, server, continues: continues)
    #expect(result.received == Int64(file.changed.count + (continues ? 0 : 100_000)))
  }

  @Test(arguments: VersionedFile.all)
  func `another session continues what was left, or asks for everything again`(
    _ file: VersionedFile
  ) async throws {
    let place = try TemporaryDirectory()
    let server = try ScriptedServer { file.steps(for: $0) }
    let settings = DownloadSettings(.file(place.path("file")))
    let first = try await makeSession().downloadResult(
      of: try downloadRequest(server.url, attempts: 1), settings)
    #expect(first.outcome == .retryable)
    #expect(first.error?.code == .connectionLost)
    #expect(first.partialFile?.description == place.path("file.part"))
    #expect(try place.names == ["file.part", "file.part.json"])
    #expect(place.bytes("file.part") == Array(VersionedFile.original.prefix(100_000)))
    #expect((first.resumeData != nil) == (file.hasValidator || file.tag == .rotating))
    let second = try await makeSession().downloadResult(
      of: try downloadRequest(server.url), settings)
    let continues = file.hasValidator && file.change == .none && !file.ignoresRange
    // What has no validator isn't taken for a part that could be continued.
    let isAsked = file.hasValidator || file.tag == .rotating
    try check(file, second, place, server, continues: continues || !isAsked)
    #expect(second.file?.resumedFrom == (continues ? 100_000 : 0))
  }

  @Test func `the range and the validator are those of the response that was cut`() async throws {
    for file in [VersionedFile(), VersionedFile(tag: .missing)] {
      let place = try TemporaryDirectory()
      let server = try ScriptedServer { file.steps(for: $0) }
      let result = try await makeSession().downloadResult(
        of: try downloadRequest(server.url), DownloadSettings(.file(place.path("file"))))
      #expect(result.transfer.attempts == 2)
      #expect(result.transfer.status == 206)
      let second = try #require(server.requests.last)
      #expect(second.header("Range") == "bytes=100000-")
      #expect(
        second.header("If-Range")
          == (file.tag == .strong ? "\"1\"" : "Sun, 06 Nov 1994 06:49:37 GMT"))
      #expect(second.header("Accept-Encoding") == "identity")
    }
  }

  /// Where a redirect leads before and after a cut, whether there is a tag, and whether the second continues the first.
  private static let redirects: [(before: String, after: String, hasTag: Bool, continues: Bool)] = [
    ("/1.0", "/1.0", true, true), ("/1.0", "/1.0", false, true),
    // Servers may have one tag, date and length for two files.
    ("/1.0", "/1.1", true, false), ("/1.0", "/1.1", false, false),
    // Storage is redirected to with a new signature each time.
    ("/f?signature=1", "/f?signature=2", true, true), ("/f?id=1", "/f?id=2", false, false),
  ]

  @Test(arguments: redirects.indices, [1, 3])
  func `what a redirect leads to is continued only if it is the same resource`(
    _ index: Int, _ attempts: Int
  ) async throws {
    let place = try TemporaryDirectory()
    let redirect = Self.redirects[index]
    let (old, new) = (noise(300_000, seed: 1), noise(300_000, seed: redirect.continues ? 1 : 2))
    let server = try ScriptedServer { request in
      let isFirst = request.number < 2
      if request.target == "/latest" {
        return .good(302, headers: [("Location", isFirst ? redirect.before : redirect.after)])
      }
      let date = "Sun, 06 Nov 1994 08:49:37 GMT"
      var headers = [("Date", date), ("Last-Modified", "Sun, 06 Nov 1994 06:49:37 GMT")]
      if redirect.hasTag { headers.append(("ETag", "\"1\"")) }
      let bytes = isFirst ? old : new
      if let start = request.rangeStart {
        headers.append(("Content-Range", "bytes \(start)-\(bytes.count - 1)/\(bytes.count)"))
        return [.respond(206, headers: headers, bytes: Array(bytes[start...]))]
      }
      guard isFirst else { return [.respond(200, headers: headers, bytes: bytes)] }
      return [
        .respond(
          200, headers: headers, bytes: Array(bytes.prefix(100_000)),
          framing: .announced(bytes.count)), .close,
      ]
    }
    let settings = DownloadSettings(.file(place.path("file")))
    let request = try downloadRequest("\(server.url)/latest", attempts: attempts)
    var result = try await makeSession().downloadResult(of: request, settings)
    if attempts == 1 {
      #expect(result.outcome == .retryable)
      result = try await makeSession().downloadResult(of: request, settings)
    }
    #expect(result.outcome == .ok, "\(String(describing: result.error))")
    #expect(place.bytes("file") == new)
    #expect((result.restarts == 0) == redirect.continues)
  }

  @Test func `a tag that is not text is no reason to continue`() async throws {
    let place = try TemporaryDirectory()
    let (old, new) = (noise(300_000, seed: 1), noise(300_000, seed: 2))
    let server = try ScriptedServer { request in
      let isFirst = request.number == 0
      let bytes = isFirst ? old : new
      let start = request.rangeStart ?? 0
      let head =
        start > 0
        ? "HTTP/1.1 206 Partial\r\nContent-Range: bytes \(start)-\(bytes.count - 1)/\(bytes.count)"
        : "HTTP/1.1 200 OK"
      // The second byte of the tag is not UTF-8, and differs.
      return [
        .send("\(head)\r\nContent-Length: \(bytes.count - start)\r\nETag: \"v"),
        .send([isFirst ? 0xE9 : 0xE8]), .send("\"\r\n\r\n"),
        .send(Array(bytes[start...].prefix(isFirst ? 100_000 : .max))), .close,
      ]
    }
    let result = try await makeSession().downloadResult(
      of: try downloadRequest(server.url), DownloadSettings(.file(place.path("file"))))
    #expect(result.outcome == .ok, "\(String(describing: result.error))")
    #expect(place.bytes("file") == new)
    #expect(server.requests.map(\.rangeStart) == [nil, nil])
  }

  /// RFC 9110 §13.1.5: a validator is an HTTP-date. Others may be those of a day, within which a file changes more than once.
  @Test(arguments: [
    "06 Nov 1993", "06 Nov 1993 08:49 GMT", "Sat, 06 Nov 1993", "19931106 08:49:37",
  ])
  func `a date that is not one of HTTP is no reason to continue`(_ modified: String) async throws {
    let place = try TemporaryDirectory()
    let (old, new) = (noise(300_000, seed: 1), noise(300_000, seed: 2))
    let server = try ScriptedServer { request in
      let bytes = request.number == 0 ? old : new
      let headers = [("Date", "Sun, 06 Nov 1994 08:49:37 GMT"), ("Last-Modified", modified)]
      if let start = request.rangeStart {
        let range = [("Content-Range", "bytes \(start)-\(bytes.count - 1)/\(bytes.count)")]
        return [.respond(206, headers: headers + range, bytes: Array(bytes[start...]))]
      }
      guard request.number == 0 else { return [.respond(200, headers: headers, bytes: bytes)] }
      return [
        .respond(
          200, headers: headers, bytes: Array(bytes.prefix(100_000)),
          framing: .announced(bytes.count)), .close,
      ]
    }
    let result = try await makeSession().downloadResult(
      of: try downloadRequest(server.url), DownloadSettings(.file(place.path("file"))))
    #expect(result.outcome == .ok, "\(String(describing: result.error))")
    #expect(place.bytes("file") == new)
    #expect(server.requests.map(\.rangeStart) == [nil, nil])
  }

  /// Parts that no server should send in response to `bytes=100000-`.
  private static let wrongParts: [[(String, String)]] = [
    [("ETag", "\"1\"")],
    [("ETag", "\"1\""), ("Content-Range", "bytes 0-299999/300000")],
    [("ETag", "\"1\""), ("Content-Range", "bytes 100001-299999/300000")],
    [("ETag", "\"1\""), ("Content-Range", "bytes 100000-299999/200000")],
    [("ETag", "\"1\""), ("Content-Range", "bytes 299999-100000/300000")],
    [("ETag", "\"1\""), ("Content-Range", "bytes */300000")],
    [("ETag", "\"1\""), ("Content-Range", "bytes 100000-")],
    [("ETag", "\"1\""), ("Content-Range", "items 100000-299999/300000")],
    [("ETag", "\"1\""), ("Content-Range", "bytes 100000-99999999999999999999/300000")],
    [("ETag", "\"1\""), ("Content-Range", "bytes -100000-299999/300000")],
    // Fewer bytes than the response has.
    [("ETag", "\"1\""), ("Content-Range", "bytes 100000-100009/300000")],
    [
      ("ETag", "\"1\""), ("Content-Range", "bytes 100000-299999/300000"),
      ("Content-Range", "bytes 0-199999/300000"),
    ],
    [("Content-Range", "bytes 100000-299999/300000")],
    [("ETag", "\"2\""), ("Content-Range", "bytes 100000-299999/300000")],
    [("ETag", "W/\"1\""), ("Content-Range", "bytes 100000-299999/300000")],
    [("ETag", "\"1\""), ("ETag", "\"2\""), ("Content-Range", "bytes 100000-299999/300000")],
    [
      ("ETag", "\"1\""), ("Content-Range", "bytes 100000-299999/300000"),
      ("Content-Encoding", "gzip"),
    ],
    [
      ("ETag", "\"1\""), ("Content-Range", "bytes 100000-299999/300000"),
      ("Last-Modified", "Sun, 06 Nov 1994 07:49:37 GMT"),
    ],
    [("ETag", "\"1\""), ("Content-Type", "multipart/byteranges; boundary=b")],
  ]

  @Test(arguments: wrongParts.indices)
  func `a part that is not what was asked for is not used`(_ index: Int) async throws {
    let place = try TemporaryDirectory()
    let file = VersionedFile()
    let wrong = noise(200_000, seed: 9)
    let server = try ScriptedServer { request in
      guard request.number == 1 else {
        var file = file
        if request.number > 1 { file.cut = nil }
        return file.steps(for: request)
      }
      return [.respond(206, headers: Self.wrongParts[index], bytes: wrong)]
    }
    let result = try await makeSession().downloadResult(
      of: try downloadRequest(server.url), DownloadSettings(.file(place.path("file"))))
    #expect(result.outcome == .ok, "\(String(describing: result.error))")
    #expect(result.restarts == 1)
    #expect(place.bytes("file") == VersionedFile.original)
    #expect(server.requests.map(\.rangeStart) == [nil, 100_000, nil])
  }

  @Test(arguments: [false, true])
  func `a server that sends pieces is asked until there are no more`(hasLength: Bool) async throws {
    let place = try TemporaryDirectory()
    let all = VersionedFile.original
    let server = try ScriptedServer { request in
      guard let start = request.rangeStart else {
        if hasLength { return VersionedFile().steps(for: request) }
        // A chunk, and no last one.
        let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nETag: \"1\"\r\n\r\n186a0\r\n"
        return [.send(head), .send(Array(all.prefix(100_000))), .send("\r\n"), .close]
      }
      let end = min(start + 64_000, all.count)
      return [
        .respond(
          206,
          headers: [
            ("ETag", "\"1\""), ("Content-Range", "bytes \(start)-\(end - 1)/\(all.count)"),
          ],
          bytes: Array(all[start..<end]))
      ]
    }
    let result = try await makeSession().downloadResult(
      of: try downloadRequest(server.url), DownloadSettings(.file(place.path("file"))))
    #expect(result.outcome == .ok)
    #expect(place.bytes("file") == all)
    #expect(server.requests.map(\.rangeStart) == [nil, 100_000, 164_000, 228_000, 292_000])
  }

  @Test func `a part that was not asked for is an error`() async throws {
    let place = try TemporaryDirectory()
    let server = try ScriptedServer { _ in
      [.respond(206, headers: [("Content-Range", "bytes 0-3/10")], body: "part")]
    }
    let result = try await makeSession().downloadResult(
      of: try downloadRequest(server.url), DownloadSettings(.file(place.path("file"))))
    #expect(result.outcome == .failed)
    #expect(try place.names == [])
  }

  /// Responses of status 416 to a request for the rest of a part that has all bytes: does it complete the file?
  private static let notSatisfiable: [(headers: [(String, String)], completes: Bool)] = [
    ([("Content-Range", "bytes */300000"), ("ETag", "\"1\"")], true),
    ([("Content-Range", "bytes */300000")], true),
    ([("Content-Range", "bytes */300000"), ("ETag", "\"2\"")], false),
    ([("Content-Range", "bytes */299999")], false),
    ([("Content-Range", "bytes 0-299999/300000")], false),
    ([], false),
  ]

  @Test(arguments: notSatisfiable.indices)
  func `a part with all bytes gets its name only if the server still has that version`(
    _ index: Int
  ) async throws {
    let (headers, completes) = Self.notSatisfiable[index]
    let place = try TemporaryDirectory()
    let server = try ScriptedServer { request in
      if request.number == 1 { return [.respond(416, headers: headers, body: "no")] }
      if request.number == 0 { _ = try? place.write("file", "taken") }
      var file = VersionedFile()
      file.cut = nil
      return file.steps(for: request)
    }
    // The name is taken while the bytes arrive, so that the complete part stays.
    let first = try await makeSession().downloadResult(
      of: try downloadRequest(server.url),
      DownloadSettings(.file(place.path("file"), ifTaken: .refuse)))
    #expect(first.outcome == .failed)
    #expect(first.error?.code == .destinationExists)
    #expect(place.bytes("file.part")?.count == 300_000)
    #expect(place.bytes("file") == Array("taken".utf8))
    let second = try await makeSession().downloadResult(
      of: try downloadRequest(server.url), DownloadSettings(.file(place.path("file"))))
    #expect(second.outcome == .ok, "\(String(describing: second.error))")
    #expect(place.bytes("file") == VersionedFile.original)
    #expect(try place.names == ["file"])
    #expect(server.requests.map(\.rangeStart) == [nil, 300_000] + (completes ? [] : [nil]))
    #expect(second.received == (completes ? 0 : 300_000))
  }

  @Test func `attempts that make progress are not counted, and others are`() async throws {
    let place = try TemporaryDirectory()
    let all = VersionedFile.original
    // Ten thousand bytes in each response.
    let server = try ScriptedServer { request in
      let start = request.rangeStart ?? 0
      let range = ("Content-Range", "bytes \(start)-\(all.count - 1)/\(all.count)")
      return [
        .respond(
          start == 0 ? 200 : 206, headers: [("ETag", "\"1\"")] + (start == 0 ? [] : [range]),
          bytes: Array(all[start..<min(start + 10_000, all.count)]),
          framing: .announced(all.count - start)), .close,
      ]
    }
    let result = try await makeSession().downloadResult(
      of: try downloadRequest(server.url, attempts: 2), DownloadSettings(.file(place.path("file"))))
    #expect(result.outcome == .ok)
    #expect(result.transfer.attempts == 30)
    #expect(place.bytes("file") == all)
    // A server that begins anew each time, and never comes to the end.
    let other = try ScriptedServer { _ in
      [.respond(200, bytes: Array(all.prefix(10_000)), framing: .announced(all.count)), .close]
    }
    let failed = try await makeSession().downloadResult(
      of: try downloadRequest(other.url, attempts: 4), DownloadSettings(.file(place.path("other"))))
    #expect(failed.outcome == .retryable)
    #expect(failed.transfer.attempts == 4)
    #expect(failed.restarts == 3)
    #expect(place.bytes("other") == nil)
    #expect(place.bytes("other.part")?.count == 10_000)
    #expect(failed.resumeData == nil)
  }
}
