import FormStream
import FormStreamPlatform
import FormStreamTestSupport
import Foundation
import FormStreamTransfer
import Testing

/// Responses in gzip, decoded while they arrive.
@Suite struct DecompressionTests {
  /// What gzip makes of bytes.
  static func gzip(_ bytes: [UInt8]) throws -> [UInt8] {
    try run(program: "/bin/gzip", ["-9"], standardInput: bytes).stdout
  }

  /// What zlib makes of bytes: "deflate" (RFC 9110 §8.4.1.2), or what some servers send in its place, without a header.
  private static func deflate(_ bytes: [UInt8], isRaw: Bool) throws -> [UInt8] {
    let program = """
      import sys, zlib
      c = zlib.compressobj(9, zlib.DEFLATED, \(isRaw ? -15 : 15))
      sys.stdout.buffer.write(c.compress(sys.stdin.buffer.read()) + c.flush())
      """
    return try run(program: "/usr/bin/python3", ["-c", program], standardInput: bytes).stdout
  }

  /// Some bytes again and again. `joined()` takes seconds for ten megabytes without optimization.
  private static func repeated(_ bytes: [UInt8], _ count: Int) -> [UInt8] {
    repeatElement(bytes, count: count).reduce(into: []) { $0 += $1 }
  }

  private static let plain = noise(300_000) + [UInt8](repeating: 65, count: 700_000)

  /// The ways to receive a response's body.
  enum Target: CaseIterable { case memory, file, stream, open }

  /// What became of a response.
  private struct Received {
    var body: [UInt8]?
    var result: TransferResult
    var error: TransferError?
  }

  private static func receive(
    _ target: Target, from server: ScriptedServer, method: HTTPMethod = .get,
    limit: Int64 = 1 << 30
  ) async throws -> Received {
    let place = try TemporaryDirectory()
    let streamed = Guarded<[UInt8]>([])
    var request = try makeRequest(method, server.url, method == .get ? nil : .bytes("b".utf8))
    request.options.responseCompression = ResponseCompression(limit: limit)
    switch target {
    case .memory: request.options.responseTarget = .memory(limit: 2 << 20)
    case .file: request.options.responseTarget = .file(place.local("f"))
    case .stream:
      request.options.responseTarget = .stream { bytes in streamed.withLock { $0 += bytes } }
    case .open: break
    }
    let session = try makeSession()
    guard target == .open else {
      let result = await session.result(of: request)
      let body: [UInt8]? =
        switch target {
        case .memory: result.response.map { Array($0.body) }
        case .file: (try? Data(contentsOf: URL(filePath: place.path("f")))).map(Array.init)
        default: streamed.withLock(\.self)
        }
      return Received(body: body, result: result, error: result.error)
    }
    let response = try await session.open(request)
    var body: [UInt8] = []
    var error: TransferError?
    do {
      for try await chunk in response.body { body += chunk }
    } catch let failure as TransferError {
      error = failure
    }
    return Received(body: body, result: await response.result, error: error)
  }

  @Test(arguments: Target.allCases)
  func `a response in gzip is decoded, in whatever pieces it arrives`(target: Target) async throws {
    let coded = try Self.gzip(Self.plain)
    for framing in [
      ScriptedResponse.Framing.contentLength, .close, .chunks(of: 1000, trailers: []),
    ] {
      let server = try ScriptedServer { _ in
        [.respond(200, headers: [("Content-Encoding", "gzip")], bytes: coded, framing: framing)]
      }
      let received = try await Self.receive(target, from: server)
      #expect(received.error == nil)
      #expect(received.result.outcome == .ok)
      #expect(received.body == Self.plain)
      #expect(server.requests.first?.values(of: "Accept-Encoding") == ["deflate, gzip"])
    }
  }

  @Test func `bytes that arrive one by one are decoded`() async throws {
    let coded = try Self.gzip(Array("one by one".utf8))
    let server = try ScriptedServer { _ in
      [
        .send(
          "HTTP/1.1 200 OK\r\nContent-Encoding: x-GZIP\r\nContent-Length: \(coded.count)\r\n\r\n"),
        .sendSlowly(coded, each: .milliseconds(1)),
      ]
    }
    for target in Target.allCases {
      #expect(try await Self.receive(target, from: server).body == Array("one by one".utf8))
    }
  }

  @Test(arguments: Target.allCases, [false, true])
  func `a response in deflate is decoded, with and without zlib's header`(
    target: Target, isRaw: Bool
  ) async throws {
    for plain in [Self.plain, Array("short".utf8), []] {
      let coded = try Self.deflate(plain, isRaw: isRaw)
      for framing in [
        ScriptedResponse.Framing.contentLength, .close, .chunks(of: 1, trailers: []),
      ] where plain.count < 100 || framing != .chunks(of: 1, trailers: []) {
        let server = try ScriptedServer { _ in
          [
            .respond(
              200, headers: [("Content-Encoding", "Deflate")], bytes: coded, framing: framing)
          ]
        }
        let received = try await Self.receive(target, from: server)
        #expect(received.error == nil && received.result.outcome == .ok)
        #expect(received.body == plain)
      }
    }
  }

  @Test(arguments: ["cut", "checksum", "surplus", "one byte", "gzip", "raw cut", "raw surplus"])
  func `damaged deflate is never a success`(damage: String) async throws {
    var coded = try Self.deflate(Self.plain, isRaw: damage.hasPrefix("raw"))
    switch damage {
    case "cut", "raw cut": coded.removeLast(5)
    case "checksum": coded[coded.count - 1] ^= 1
    case "surplus", "raw surplus": coded += [1]
    case "one byte": coded = [0x78]
    default: coded = try Self.gzip(Self.plain)
    }
    let sent = coded
    let server = try ScriptedServer { _ in
      [.respond(200, headers: [("Content-Encoding", "deflate")], bytes: sent)]
    }
    for target in Target.allCases {
      let received = try await Self.receive(target, from: server)
      #expect(received.error?.code == .decompressionFailed, "\(target)")
      if target != .open { #expect(received.result.outcome == .failed, "\(target)") }
      if target == .file { #expect(received.body == nil) }
    }
  }

  /// RFC 9110 §8.4: the codings are listed in the order in which they were applied.
  @Test(arguments: [
    "deflate, gzip", "deflate, identity, gzip", "gzip, gzip", "gzip, x-gzip, deflate",
  ])
  func `a response that was coded several times is decoded`(codings: String) async throws {
    for plain in [Self.plain, []] {
      var coded = plain
      for coding in codings.split(separator: ", ") where coding != "identity" {
        coded =
          coding == "deflate" ? try Self.deflate(coded, isRaw: false) : try Self.gzip(coded)
      }
      let sent = coded
      let server = try ScriptedServer { _ in
        [.respond(200, headers: [("Content-Encoding", codings)], bytes: sent)]
      }
      for target in Target.allCases {
        let received = try await Self.receive(target, from: server)
        #expect(received.error == nil && received.result.outcome == .ok, "\(target)")
        #expect(received.body == plain, "\(target)")
      }
    }
  }

  @Test(arguments: ["inner cut", "inner surplus", "outer cut", "outer surplus"])
  func `damage in either of two codings is never a success`(damage: String) async throws {
    var inner = try Self.gzip(Self.plain)
    if damage == "inner cut" { inner.removeLast(5) }
    if damage == "inner surplus" { inner += [1] }
    var outer = try Self.deflate(inner, isRaw: false)
    if damage == "outer cut" { outer.removeLast(2) }
    if damage == "outer surplus" { outer += [1] }
    let sent = outer
    let server = try ScriptedServer { _ in
      [.respond(200, headers: [("Content-Encoding", "gzip, deflate")], bytes: sent)]
    }
    for target in Target.allCases {
      let received = try await Self.receive(target, from: server)
      #expect(received.error?.code == .decompressionFailed, "\(target)")
      if target == .file { #expect(received.body == nil) }
    }
  }

  /// What is small outside and inside can be large between.
  @Test func `the limit holds for what is between two codings, too`() async throws {
    let member = try Self.gzip([])
    let between = Self.repeated(member, 200_000)
    let sent = try Self.gzip(between)
    let server = try ScriptedServer { _ in
      [.respond(200, headers: [("Content-Encoding", "gzip, gzip")], bytes: sent)]
    }
    let received = try await Self.receive(.stream, from: server, limit: 1 << 20)
    #expect(received.error?.code == .responseTooLarge)
    let allowed = try await Self.receive(.stream, from: server)
    #expect(allowed.error == nil && allowed.body == [])
  }

  @Test func `several members are one body, and a body without a byte is empty`() async throws {
    let members = try Self.gzip(Array("a".utf8)) + Self.gzip([]) + Self.gzip(Array("b".utf8))
    let server = try ScriptedServer { request in
      [
        .respond(
          200, headers: [("Content-Encoding", "gzip")],
          bytes: request.number % 2 == 0 ? members : [])
      ]
    }
    for target in Target.allCases {
      #expect(try await Self.receive(target, from: server).body == Array("ab".utf8))
      let empty = try await Self.receive(target, from: server)
      #expect(empty.body == [])
      #expect(empty.error == nil)
    }
  }

  /// An empty body replaced a good file: a program that fails after its head sends just that, and a server in front of it ends the body.
  @Test(arguments: Target.allCases)
  func `a resource without a byte is no compressed data, unless the server says that it is empty`(target: Target) async throws {
    let head = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n"
    let chunks = [ScriptedStep.readBody, .send(head + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n")]
    let server = try ScriptedServer { request in
      request.number % 2 == 0 ? chunks : [.readBody, .send(head + "Connection: close\r\n\r\n"), .finish]
    }
    for _ in 0..<2 {
      let empty = try await Self.receive(target, from: server)
      #expect(empty.error?.code == .decompressionFailed && (empty.result.outcome == .failed || target == .open))
      if target == .file { #expect(empty.body == nil) }
    }
    // What was carried out need not be told about.
    for _ in 0..<2 {
      let carriedOut = try await Self.receive(target, from: server, method: .post)
      #expect(carriedOut.error == nil && carriedOut.result.outcome == .ok)
    }
    // There is nothing to decode, whatever the coding.
    let empty = try ScriptedServer { _ in [.respond(200, headers: [("Content-Encoding", "br")])] }
    #expect(try await Self.receive(target, from: empty).result.outcome == .ok)
  }

  /// What was carried out was called a failure, because the page was gotten.
  @Test func `the page of a request that was carried out, and an error, may have no byte`() async throws {
    let coded = "Content-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
    let server = try ScriptedServer { request in
      if request.method == "POST" { return [.readBody, .respond(303, headers: [("Location", "/page")])] }
      return [.send("HTTP/1.1 \(request.target == "/page" ? "200 OK" : "404 Not Found")\r\n" + coded)]
    }
    for target in [Target.memory, .file] {
      let posted = try await Self.receive(target, from: server, method: .post)
      #expect(posted.error == nil && posted.result.outcome == .ok && posted.result.redirects == 1)
      let missing = try await Self.receive(target, from: server)
      #expect(missing.result.status == 404 && missing.result.error?.code == .statusRefused)
      #expect(missing.result.response?.isTruncated != true)
    }
  }

  @Test func `a response that is not coded is passed on, and none is asked for without the option`()
    async throws
  {
    let coded = try Self.gzip(Self.plain)
    let server = try ScriptedServer { request in
      request.header("Accept-Encoding") == "deflate, gzip"
        // Some servers write "none", which curl takes as "identity", too.
        ? .good(
          headers: [("Content-Encoding", request.number % 2 == 0 ? "identity" : "None")],
          body: "plain")
        : [.respond(200, headers: [("Content-Encoding", "gzip")], bytes: coded)]
    }
    for target in Target.allCases {
      #expect(try await Self.receive(target, from: server).body == Array("plain".utf8))
    }
    let result = try await makeSession().result(of: try makeRequest(.get, server.url, nil))
    #expect(result.response.map { Array($0.body) } == coded)
    #expect(server.requests.last?.header("Accept-Encoding") == "identity")
  }

  /// Content-Length is right each time, so that the connection shows nothing.
  @Test(arguments: [
    "cut", "cut in trailer", "checksum", "surplus", "text", "br", "gzip, gzip", "gzip, br",
    "gzip, gzip, gzip, gzip, gzip, gzip",
  ])
  func `damaged bytes are never a success`(damage: String) async throws {
    var coded = try Self.gzip(Self.plain)
    var coding = "gzip"
    switch damage {
    case "cut": coded.removeLast(100_000)
    case "cut in trailer": coded.removeLast(4)
    case "checksum": coded[coded.count - 6] ^= 1
    case "surplus": coded += Array("more".utf8)
    case "text": coded = Array("not gzip".utf8)
    default: coding = damage
    }
    let (sent, name) = (coded, coding)
    let server = try ScriptedServer { _ in
      [.readBody, .respond(200, headers: [("Content-Encoding", name)], bytes: sent)]
    }
    for target in Target.allCases {
      if target == .open, damage.contains("br") || damage.count > 20 {
        await #expect(throws: TransferError.self) {
          try await Self.receive(target, from: server)
        }
        continue
      }
      let received = try await Self.receive(target, from: server)
      #expect(received.error?.code == .decompressionFailed, "\(target)")
      if target != .open { #expect(received.result.outcome == .failed, "\(target)") }
      if target == .file { #expect(received.body == nil) }
      // The server has acted on a POST nevertheless.
      if target == .file {
        let posted = try await Self.receive(target, from: server, method: .post)
        #expect(posted.result.outcome == .ok)
        #expect(posted.error?.code == .decompressionFailed)
        #expect(posted.body == nil)
      }
    }
  }

  /// A closure that had received everything before the chunks ended was not asked whether anything was missing.
  @Test(arguments: ["cut in trailer", "surplus"], [HTTPMethod.get, .post])
  func `damage is noticed also if the response ends after it was decoded`(
    damage: String, method: HTTPMethod
  ) async throws {
    let plain = noise(1000)
    let coded = try Self.gzip(plain)
    let sent = damage == "surplus" ? coded + [31, 139] : Array(coded.dropLast(8))
    let (decoded, isDecoded) = (Guarded(0), try Gate())
    let server = try ScriptedServer { _ in
      [
        .readBody,
        .send(
          "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n"
            + "\(String(sent.count, radix: 16))\r\n"), .send(sent + Array("\r\n".utf8)),
        .waitFor(isDecoded), .send("0\r\n\r\n"),
      ]
    }
    var request = try makeRequest(method, server.url, method == .get ? nil : .bytes("b".utf8))
    request.options.responseCompression = ResponseCompression()
    request.options.responseTarget = .stream { bytes in
      let count = decoded.withLock { count in
        count += bytes.count
        return count
      }
      if count == plain.count { isDecoded.open() }
    }
    let result = await (try makeSession()).result(of: request)
    #expect(result.error?.code == .decompressionFailed)
    // The server has acted on a POST nevertheless.
    #expect(result.outcome == (method == .get ? .failed : .ok))
  }

  @Test func `a status that is refused says more than a damaged body`() async throws {
    let coded = try Self.gzip(Array("who?".utf8))
    let server = try ScriptedServer { request in
      [
        .respond(
          404, headers: [("Content-Encoding", "gzip")],
          bytes: request.number == 0 ? coded : Array("damaged".utf8))
      ]
    }
    let refused = try await Self.receive(.file, from: server)
    #expect(refused.error?.code == .statusRefused)
    #expect(refused.result.response?.text == "who?")
    let damaged = try await Self.receive(.file, from: server)
    #expect(damaged.error?.code == .statusRefused)
    #expect(damaged.result.response?.isTruncated == true)
  }

  @Test func `HEAD and 304 have no body to decode`() async throws {
    let server = try ScriptedServer { request in
      [.respond(request.method == "HEAD" ? 200 : 304, headers: [("Content-Encoding", "br")])]
    }
    for method in [HTTPMethod.head, .get] {
      var request = try makeRequest(method, server.url, nil)
      request.options.responseCompression = ResponseCompression()
      request.options.acceptedStatuses = [200, 304]
      let result = try await makeSession().result(of: request)
      #expect(result.outcome == .ok, "\(method): \(String(describing: result.error))")
    }
  }

  /// 10 MB that would be 10 GB: 640 members of 16 MiB of zeros.
  @Test(arguments: [Target.file, .stream, .open])
  func `what grows too much is stopped at the limit`(target: Target) async throws {
    let member = try Self.gzip([UInt8](repeating: 0, count: 16 << 20))
    let bomb = Self.repeated(member, 640)
    #expect(bomb.count < 12_000_000)
    let server = try ScriptedServer { _ in
      [.respond(200, headers: [("Content-Encoding", "gzip")], bytes: bomb)]
    }
    let received = try await Self.receive(target, from: server, limit: 3 << 20)
    #expect(received.error?.code == .responseTooLarge)
    #expect(received.error?.description.contains("3145728 bytes after decompression") == true)
    if target == .file {
      #expect(received.body == nil)
    } else {
      #expect((received.body?.count ?? .max) <= 3 << 20)
    }
  }

  @Test func `memory keeps what it has room for, and decodes no more`() async throws {
    let member = try Self.gzip([UInt8](repeating: 0, count: 16 << 20))
    let bomb = Self.repeated(member, 64)
    let server = try ScriptedServer { _ in
      [.respond(200, headers: [("Content-Encoding", "gzip")], bytes: bomb)]
    }
    let received = try await Self.receive(.memory, from: server, limit: 3 << 20)
    #expect(received.error?.code == .responseTooLarge && received.result.outcome == .ok)
    #expect(received.result.response?.isTruncated == true)
    #expect(received.body == [UInt8](repeating: 0, count: 2 << 20))
  }

  @Test func `the progress counts the bytes that arrive`() async throws {
    let coded = try Self.gzip(Self.plain)
    let server = try ScriptedServer { _ in
      [.respond(200, headers: [("Content-Encoding", "gzip")], bytes: coded)]
    }
    var request = try makeRequest(.get, server.url, nil)
    request.options.responseCompression = ResponseCompression()
    request.options.responseTarget = .stream { _ in }
    let task = try makeSession().start(request)
    #expect(await task.result.outcome == .ok)
    #expect(task.progress.current.received == Int64(coded.count))
    #expect(task.progress.current.responseTotal == Int64(coded.count))
    #expect(task.progress.current.responseFraction == 1)
  }
}

/// A limit for what is received.
@Suite struct ResponseSizeTests {
  @Test(arguments: [true, false], [999, 1000])
  func `a response that is too large is an error`(isAnnounced: Bool, limit: Int64) async throws {
    let place = try TemporaryDirectory()
    let server = try ScriptedServer { _ in
      .good(
        body: String(repeating: "x", count: 1000),
        framing: isAnnounced ? .contentLength : .chunked(of: 100, trailers: []))
    }
    var request = try makeRequest(.get, server.url, nil)
    request.options.responseTarget = .file(place.local("f"))
    request.options.maximumResponseSize = limit
    let result = try await makeSession().result(of: request)
    #expect(result.outcome == (limit == 1000 ? .ok : .failed))
    #expect(result.error?.code == (limit == 1000 ? nil : .responseTooLarge))
    let isThere = FileManager.default.fileExists(atPath: place.path("f"))
    #expect(isThere == (limit == 1000))
  }

  @Test func `a limited rate is that of the response if there is no body to send`() async throws {
    let server = try ScriptedServer { _ in .good(body: String(repeating: "x", count: 240_000)) }
    var request = try makeRequest(.get, server.url, nil)
    request.options.responseTarget = .stream { _ in }
    request.options.maximumRate = 100_000
    let result = try await makeSession().result(of: request)
    #expect(result.outcome == .ok)
    // What is allowed in a second may come at once. However fast the machine is, the rest takes longer than one.
    #expect(result.duration > .seconds(1))
  }
}
