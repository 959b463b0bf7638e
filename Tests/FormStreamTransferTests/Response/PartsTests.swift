import FormStream
import FormStreamTestSupport
import FormStreamTransfer
import Foundation
import Testing

/// Multipart responses, read part by part.
@Suite struct PartsTests {
  private let session: TransferSession
  private let place: TemporaryDirectory

  init() throws {
    (session, place) = (try makeSession(), try TemporaryDirectory())
  }

  private func open(
    _ server: ScriptedServer
  ) async throws -> OpenResponse {
    try await session.open(makeRequest(.get, server.url, nil)).accepted()
  }

  private func server(
    _ type: String, _ bytes: [UInt8], status: Int = 200,
    framing: ScriptedResponse.Framing = .contentLength
  ) throws -> ScriptedServer {
    try ScriptedServer { _ in
      [.readBody, .respond(status, headers: [("Content-Type", type)], bytes: bytes, framing: framing)]
    }
  }

  private static let mixed =
    "--B\r\nContent-Type: text/plain\r\n\r\none\r\n--B\r\n\r\n\r\n--B\r\nX-A: b\r\n\r\n\r\n--no\r\n--B--\r\n"
  /// Its first part arrives in many chunks.
  private static let large =
    [UInt8]("--B\r\n\r\n".utf8) + noise(3_000_000) + [UInt8]("\r\n--B\r\n\r\ntwo\r\n--B--".utf8)

  @Test(arguments: [ScriptedResponse.Framing.contentLength, .chunks(of: 1, trailers: [])])
  func `the parts are what the server sent, however it is divided`(_ framing: ScriptedResponse.Framing) async throws {
    let server = try server("multipart/mixed; boundary=B", Array(Self.mixed.utf8), framing: framing)
    var found: [String] = []
    let response = try await open(server)
    for try await part in response.parts {
      let type = part.head.contentType ?? part.head["X-A"] ?? "none"
      found.append("\(type): \(try await part.text())")
    }
    #expect(found == ["text/plain: one", "none: ", "b: \r\n--no"])
    #expect(await response.result.outcome == .ok)
  }

  @Test func `a form and several ranges are read by the same calls`() async throws {
    let form = "--B\r\nContent-Disposition: form-data; name=\"a\"; filename=\"../a.txt\"\r\n\r\none\r\n--B--"
    let ofForm = try server("multipart/form-data; boundary=\"B\"", Array(form.utf8))
    for try await part in try await open(ofForm).parts {
      #expect(part.head.name == "a" && part.head.filename == "../a.txt")
      #expect(try await part.collect() == Array("one".utf8))
    }
    let ranges =
      "--B\r\nContent-Range: bytes 0-1/9\r\n\r\nab\r\n--B\r\nContent-Range: bytes 7-8/9\r\n\r\nhi\r\n--B--\r\n"
    let ofRanges = try server("multipart/byteranges; boundary=B", Array(ranges.utf8), status: 206)
    var found: [String] = []
    for try await part in try await open(ofRanges).parts {
      found.append("\(part.head["Content-Range"] ?? "") \(try await part.text())")
    }
    #expect(found == ["bytes 0-1/9 ab", "bytes 7-8/9 hi"])
    // A form must have names, as it must for the parser.
    let nameless = try server("multipart/form-data; boundary=B", Array("--B\r\n\r\none\r\n--B--".utf8))
    let error = await #expect(throws: TransferError.self) {
      for try await _ in try await open(nameless).parts {}
    }
    #expect(error?.code == .malformedResponse)
  }

  @Test func `what is not read of a part is skipped, and can't be read later`() async throws {
    let server = try server("multipart/mixed; boundary=B", Self.large)
    let response = try await open(server)
    var parts = response.parts.makeAsyncIterator()
    let first = try #require(try await parts.next())
    var begun = first.body.makeAsyncIterator()
    #expect(try await begun.next()?.isEmpty == false)
    let second = try #require(try await parts.next())
    let error = await #expect(throws: TransferError.self) { try await begun.next() }
    #expect(error?.code.rawValue == "parser-used")
    #expect(try await second.text() == "two")
    let again = await #expect(throws: TransferError.self) { try await second.text() }
    #expect(again?.code.rawValue == "parser-used")
    #expect(try await parts.next() == nil)
    #expect(try await parts.next() == nil)
    #expect(await response.result.outcome == .ok)
  }

  @Test(arguments: [2, 1_000_000])
  func `a part longer than the limit is an error, and the next part can still be read`(limit: Int) async throws {
    let server = try server("multipart/mixed; boundary=B", limit == 2 ? Array(Self.mixed.utf8) : Self.large)
    let response = try await open(server)
    var parts = response.parts.makeAsyncIterator()
    let first = try #require(try await parts.next())
    let error = await #expect(throws: TransferError.self) { _ = try await first.collect(upTo: limit) }
    #expect(error?.code == .responseTooLarge)
    #expect(error?.description.contains("a part of more than \(limit) bytes") == true)
    #expect(try await parts.next() != nil)
  }

  /// Otherwise, the file would be replaced by the rest of the part, or by nothing.
  @Test func `a part that was read, even in part, is neither stored nor collected`() async throws {
    try place.write("part", "before")
    let server = try server("multipart/mixed; boundary=B", Array(Self.mixed.utf8))
    func code(_ read: @escaping @Sendable () async throws -> Void) async -> String? {
      let error = await #expect(throws: TransferError.self) { try await read() }
      return error?.code.rawValue
    }
    var parts = try await open(server).parts.makeAsyncIterator()
    let first = try #require(try await parts.next())
    #expect(await code { _ = try await first.collect(upTo: 2) } == "response-too-large")
    #expect(await code { try await first.store(at: place.path("part")) } == "parser-used")
    #expect(await code { _ = try await first.collect() } == "parser-used")
    let empty = try #require(try await parts.next())
    #expect(try await empty.text() == "")
    #expect(await code { try await empty.store(at: place.path("part")) } == "parser-used")
    var others = try await open(server).parts.makeAsyncIterator()
    let begun = try #require(try await others.next())
    var chunks = begun.body.makeAsyncIterator()
    #expect(try await chunks.next() != nil)
    #expect(await code { _ = try await begun.collect() } == "parser-used")
    let last = try #require(try await parts.next())
    // Nothing is read if the file can't be opened.
    #expect(await code { try await last.store(at: place.path("nowhere/part")) } == "response-not-stored")
    #expect(try await last.store(at: place.path("other")) == 6)
    #expect(await code { try await last.store(at: place.path("part")) } == "parser-used")
    #expect(place.bytes("part") == Array("before".utf8))
    #expect(try await parts.next() == nil)
  }

  /// All of the part would be 16 MB. The server waits until it is read.
  @Test func `memory does not grow with a part`() async throws {
    let contents = noise(16 << 20)
    let bytes = [UInt8]("--B\r\n\r\n".utf8) + contents + [UInt8]("\r\n--B--".utf8)
    let server = try server("multipart/mixed; boundary=B", bytes)
    let response = try await open(server)
    var parts = response.parts.makeAsyncIterator()
    let part = try #require(try await parts.next())
    let other = try ScriptedServer { _ in .good() }
    for _ in 0..<20 { _ = try await session.get(other.url) }
    #expect(response.task.progress.current.received < 2 << 20)
    let size = try await part.store(at: place.path("part"))
    #expect(size == contents.count)
    // A comparison in the expectation would look for the differences, which takes a minute.
    let isWhole = place.bytes("part") == contents
    #expect(isWhole)
    #expect(try await parts.next() == nil)
    #expect(try place.names == ["part"])
    #expect(server.faults.isEmpty)
  }

  @Test func `a file is stored only if the part is complete`() async throws {
    try place.write("part", "before")
    let cutServer = try server("multipart/mixed; boundary=B", Array("--B\r\n\r\ncut".utf8))
    var cut = try await open(cutServer).parts.makeAsyncIterator()
    let incomplete = try #require(try await cut.next())
    let cutError = await #expect(throws: TransferError.self) {
      try await incomplete.store(at: place.path("part"))
    }
    #expect(cutError?.code == .malformedResponse)
    #expect(place.bytes("part") == Array("before".utf8))
    let server = try server("multipart/mixed; boundary=B", Array(Self.mixed.utf8))
    let whole = try await open(server)
    var parts = whole.parts.makeAsyncIterator()
    let first = try #require(try await parts.next())
    let error = await #expect(throws: TransferError.self) { try await first.store(at: place.path("nowhere/part")) }
    #expect(error?.code == .responseNotStored)
    #expect(error?.description.contains("nowhere/part") == true)
    #expect(try await parts.next()?.store(at: place.path("part")) == 0)
    #expect(place.bytes("part") == [])
    #expect(try place.names == ["part"])
  }

  struct Hostile: Sendable, CustomTestStringConvertible {
    let testDescription: String
    var type = "multipart/mixed; boundary=B"
    let body: String
    var framing = ScriptedResponse.Framing.contentLength
    let code: TransferError.Code
    let reason: String
    /// How many complete parts come before the error.
    var parts = 0
  }

  private static let hostile = [
    Hostile(
      testDescription: "no boundary", type: "multipart/mixed", body: "--B\r\n\r\na\r\n--B--", code: .malformedResponse,
      reason: "has no boundary"),
    Hostile(
      testDescription: "no multipart", type: "text/plain; boundary=B", body: "--B\r\n\r\na\r\n--B--",
      code: .malformedResponse, reason: "has no boundary"),
    Hostile(
      testDescription: "boundary too long", type: "multipart/mixed; boundary=" + String(repeating: "b", count: 71),
      body: "", code: .malformedResponse, reason: "is not valid"),
    Hostile(testDescription: "empty", body: "", code: .malformedResponse, reason: "without its last delimiter"),
    Hostile(
      testDescription: "another boundary", body: "--C\r\n\r\na\r\n--C--", code: .malformedResponse,
      reason: "without its last delimiter"),
    Hostile(
      testDescription: "cut in a part", body: "--B\r\n\r\na\r\n--B\r\n\r\nb", code: .malformedResponse,
      reason: "without its last delimiter", parts: 1),
    Hostile(
      testDescription: "cut in headers", body: "--B\r\n\r\na\r\n--B\r\nX-A: b", code: .malformedResponse,
      reason: "without its last delimiter", parts: 1),
    Hostile(
      testDescription: "cut in a part by the connection", body: "--B\r\n\r\na\r\n--B\r\n\r\nb", framing: .announced(99),
      code: .connectionLost, reason: "is incomplete", parts: 1),
    Hostile(
      testDescription: "cut after the last delimiter", body: "--B\r\n\r\na\r\n--B--\r\n", framing: .announced(99),
      code: .connectionLost, reason: "is incomplete", parts: 1),
    Hostile(
      testDescription: "a part after the last delimiter",
      body: "--B\r\n\r\na\r\n--B--\r\n--B\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nb\r\n--B--",
      code: .malformedResponse, reason: "after the last one", parts: 1),
    Hostile(
      testDescription: "much after the last delimiter",
      body: "--B\r\n\r\na\r\n--B--\r\n" + String(repeating: "x", count: 65_537), code: .responseTooLarge,
      reason: "FormParser.Limits.epilogue", parts: 1),
    Hostile(
      testDescription: "long headers", body: "--B\r\nX-A: " + String(repeating: "x", count: 100_000),
      code: .responseTooLarge, reason: "FormParser.Limits.headerBlock"),
    Hostile(
      testDescription: "no header", body: "--B\r\nno header\r\n\r\na\r\n--B--", code: .malformedResponse, reason: "at byte"),
  ]

  @Test(arguments: hostile) func `what is wrong with the parts is an error, after the parts that came before it`(
    _ hostile: Hostile
  ) async throws {
    let server = try ScriptedServer { _ in
      [
        .readBody,
        .respond(
          200, headers: [("Content-Type", hostile.type)], bytes: Array(hostile.body.utf8), framing: hostile.framing),
        .close,
      ]
    }
    let parts = try await open(server).parts
    var complete = 0
    let error = await #expect(throws: TransferError.self) {
      for try await part in parts {
        _ = try await part.collect()
        complete += 1
      }
    }
    #expect(error?.code == hostile.code)
    #expect(error?.description.contains(hostile.reason) == true, "\(error?.description ?? "")")
    #expect(error?.outcome != nil && error?.outcome != .unknown)
    #expect(complete == hostile.parts)
    // The error stays.
    await #expect(throws: TransferError.self) { for try await _ in parts {} }
  }

  /// The server waits until somebody reads, so a request that is not ended goes on without an end.
  @Test(.timeLimit(.minutes(1))) func `a limit of the caller ends the request`() async throws {
    let body = "--B\r\n\r\n" + String(repeating: "x", count: 5_000_000)
    let server = try server("multipart/mixed; boundary=B", Array(body.utf8))
    var options = FormParser.Options()
    options.limits.partBytes = 1000
    let response = try await open(server)
    let parts = response.parts(options: options)
    let error = await #expect(throws: TransferError.self) {
      for try await part in parts { for try await chunk in part.body { #expect(chunk.count <= 1000) } }
    }
    #expect(error?.code == .responseTooLarge)
    #expect(await response.result.error != nil)
    #expect(response.task.state == .done)
  }

  @Test func `two tasks can't read at the same time`() async throws {
    let goOn = try Gate()
    let server = try ScriptedServer { _ in
      [
        .send("HTTP/1.1 200 OK\r\nContent-Type: multipart/mixed; boundary=B\r\nContent-Length: 15\r\n\r\n"),
        .send("--B\r\n\r\na"), .waitFor(goOn), .send("\r\n--B--"),
      ]
    }
    let response = try await open(server)
    let parts = response.parts
    var begun = parts.makeAsyncIterator()
    let part = try #require(try await begun.next())
    let codes = await withTaskGroup(of: TransferError.Code?.self) { group in
      group.addTask { await code { for try await _ in part.body {} } }
      group.addTask { await code { for try await _ in parts {} } }
      // One of them waits for the server, so the other one ends first.
      let first = await group.next() ?? nil
      goOn.open()
      return await [first, group.next() ?? nil]
    }
    #expect(codes.first??.rawValue == "parser-used")
  }
}

/// The code of the error that a function throws; nil if it throws none.
private func code(_ body: () async throws -> Void) async -> TransferError.Code? {
  do { try await body() } catch { return (error as? TransferError)?.code }
  return nil
}
