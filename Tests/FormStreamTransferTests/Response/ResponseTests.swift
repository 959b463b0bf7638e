import FormStream
import Foundation
import FormStreamTestSupport
import Testing
import FormStreamTransfer

/// The responses that a server may send, and what they mean.
@Suite struct ResponseTests {
  private func result(
    _ method: HTTPMethod = .post, of steps: [ScriptedStep], attempts: Int = 1,
    change: (inout TransferRequest) -> Void = { _ in }
  ) async throws -> TransferResult {
    let server = try ScriptedServer { _ in [.readBody] + steps }
    var request = try makeRequest(
      method, server.url, method == .post ? .bytes("important".utf8) : nil, attempts: attempts)
    change(&request)
    let result = try await makeSession().result(of: request)
    expectConsistency(result, at: server)
    return result
  }

  @Test(arguments: [1, 7, Int.max])
  func `chunks are joined, and trailers are not headers`(size: Int) async throws {
    let result = try await result(
      of: [
        .respond(
          200, headers: [("Trailer", "X-End")], body: "put together",
          framing: .chunked(of: size, trailers: [("X-End", "1"), ("X-More", "2")]))
      ])
    #expect(result.outcome == .ok)
    #expect(result.response?.text == "put together")
    #expect(result.response?.isTruncated == false)
    // Trailers are not headers (RFC 9110 §6.5.1), and must not be taken for them.
    #expect(result.response?.headers["X-End"] == nil)
  }

  @Test(arguments: [HTTPMethod.post, .get])
  func `an incomplete response is reported as incomplete`(method: HTTPMethod) async throws {
    for steps in [
      [ScriptedStep.respond(200, body: "part", framing: .announced(100)), .close],
      [
        .send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\npart\r\n"), .close,
      ],
      [.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\npart\r\n"), .finish],
      [.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\npart"), .reset],
    ] {
      let result = try await result(method, of: steps)
      #expect(result.status == 200)
      #expect(result.response?.isTruncated == true)
      #expect(result.error != nil)
      // A GET has failed without its response; a POST was carried out. Another attempt doesn't help against malformed chunks.
      let isMalformed = result.error?.code == .malformedResponse
      #expect(
        result.outcome == (method == .post ? .ok : isMalformed ? .failed : .retryable), "\(steps)")
    }
  }

  @Test func `an incomplete response to a GET is requested again`() async throws {
    let server = try ScriptedServer(requests: [
      [.respond(200, body: "part", framing: .announced(8)), .close], .good(body: "part two"),
    ])
    let result = try await makeSession().result(
      of: makeRequest(.get, server.url, nil, attempts: 2))
    #expect(result.outcome == .ok)
    #expect(result.response?.text == "part two")
    expectConsistency(result, at: server)
  }

  @Test func `bytes that arrive with a response are not taken for the next one`() async throws {
    let server = try ScriptedServer { request in
      request.number == 0
        ? [
          .readBody,
          .send(
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
              + "HTTP/1.1 201 Evil\r\nContent-Length: 4\r\n\r\nevil"),
        ] : .good(404)
    }
    let session = try makeSession()
    let first = try await session.result(of: makeRequest(server.url))
    #expect(first.response?.text == "ok")
    #expect(first.response?.isTruncated == false)
    let second = try await session.result(of: makeRequest(server.url))
    #expect(second.outcome == .failed, "\(second.status ?? 0)")
    #expect(second.status == 404)
    #expect(server.faults == [])
  }

  @Test(arguments: [1, 99])
  func `informational responses are skipped`(count: Int) async throws {
    let result = try await result(
      of: [
        .informational(103, headers: [("Link", "</a>")], times: count),
        .respond(200, body: "final"),
      ])
    #expect(result.outcome == .ok)
    #expect(result.status == 200)
    #expect(result.response?.text == "final")
    #expect(result.response?.headers["Link"] == nil)
  }

  @Test func `too many informational responses are refused`() async throws {
    let server = try ScriptedServer { _ in
      [.readBody, .informational(102, times: 10_000), .stall]
    }
    let result = try await makeSession().result(of: makeRequest(server.url))
    #expect(result.outcome == .unknown)
    #expect(result.error?.code == .malformedResponse)
    expectConsistency(result, at: server)
  }

  @Test(arguments: [
    "HTTP/1.1 200 OK\r\nX-Long: \(String(repeating: "a", count: 1 << 20))\r\n\r\n",
    "HTTP/1.1 200 OK\r\n" + String(repeating: "X-Many: abcdefgh\r\n", count: 50_000) + "\r\n",
    "HTTP/1.1 200 OK\r\n"
      + String(repeating: "X: \(String(repeating: "a", count: 90_000))\r\n", count: 3)
      + "\r\n",
  ])
  func `oversized heads are refused`(head: String) async throws {
    let result = try await result(of: [.send(head), .stall])
    #expect(result.outcome == .unknown)
    #expect(result.response == nil)
    #expect(
      [.responseTooLarge, .malformedResponse].contains(result.error?.code),
      "\(result.error?.code.rawValue ?? "")")
  }

  @Test func `a head with many lines is accepted`() async throws {
    let lines = (0..<2000).map { "X-\($0): \($0)\r\n" }.joined()
    let result = try await result(
      of: [.send("HTTP/1.1 200 OK\r\n\(lines)Content-Length: 0\r\n\r\n")])
    #expect(result.outcome == .ok)
    #expect(result.response?.headers.fields.count == 2001)
    #expect(result.response?.headers["x-1999"] == "1999")
  }

  @Test func `a response may arrive byte by byte`() async throws {
    let response =
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\nX-A: b\r\n\r\n"
      + "3;a=b\r\nabc\r\n4\r\ndefg\r\n0\r\nX-End: 1\r\n\r\n"
    let result = try await result(
      of: [.sendSlowly(Array(response.utf8), each: .microseconds(100))])
    #expect(result.outcome == .ok)
    #expect(result.status == 201)
    #expect(result.response?.text == "abcdefg")
    #expect(result.response?.headers["X-A"] == "b")
  }

  @Test(arguments: [
    "SSH-2.0-OpenSSH_9.2\r\n", "\u{0}\u{1}\u{2}\u{3}", "200 OK\r\n\r\nfine", "<html>fine</html>",
    "HTTP/1.1\r\n\r\n", "HTTP/1.1 OK\r\n\r\n", "HTTP/1.1 20 OK\r\n\r\n", "HTTP/9.9 200 OK\r\n\r\n",
    "HTTP/1.1 099 Low\r\nContent-Length: 0\r\n\r\n",
    "HTTP/1.1 000 None\r\nContent-Length: 0\r\n\r\n",
    "HTTP/1.1 -200 OK\r\nContent-Length: 0\r\n\r\n",
    "HTTP/1.1 2000 OK\r\nContent-Length: 0\r\n\r\n",
    "ICY 200 OK\r\nContent-Length: 0\r\n\r\n", "RTSP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n",
    "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
    "HTTP/1.1 200 OK\r\nContent-Length: ab\r\n\r\n",
    "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
    "HTTP/1.1 101 Switching\r\nUpgrade: other\r\nConnection: Upgrade\r\n\r\nfine",
    "HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nX-A: b", "\r\n", "",
  ])
  func `a response that is not valid HTTP is not a success`(response: String) async throws {
    for steps in [[ScriptedStep.send(response), .close], [.send(response), .finish]] {
      let result = try await result(of: steps)
      #expect(result.outcome == .unknown, "\(response.debugDescription): \(result.status ?? 0)")
      #expect(result.error != nil)
      #expect(result.error?.code == .malformedResponse || result.error?.code == .connectionLost)
    }
  }

  /// RFC 9110 §15: such a status is processed as one of 500 to 599.
  @Test(arguments: [600, 999], [HTTPMethod.get, .post])
  func `a status from 600 to 999 refuses the request`(
    status: Int, method: HTTPMethod
  ) async throws {
    let result = try await result(method, of: [.respond(status, body: "no")], attempts: 3)
    #expect(result.outcome == .failed)
    #expect(result.error?.code == .statusRefused)
    #expect((result.status, result.response?.text) == (status, "no"))
    #expect(result.attempts == 1)
  }

  /// They were all taken for `chunked`, whose end libcurl knows: so a part of such a body was a success.
  @Test(arguments: [
    "identity, chunked", "gzip", "gzip, chunked", "deflate, chunked",
    "gzip\r\nTransfer-Encoding: chunked", "chunked, chunked", "chunked, gzip", "x", "",
    "chunked;a=b",
  ])
  func `a transfer coding that was not asked for is not a success`(coding: String) async throws {
    let coded = try DecompressionTests.gzip(noise(1000))
    let body =
      coding.hasSuffix("chunked") ? Array("4\r\nabcd\r\n0\r\n\r\n".utf8) : Array("part".utf8)
    let gzipped =
      Array("\(String(coded.count / 2, radix: 16))\r\n".utf8)
      + coded.prefix(coded.count / 2) + Array("\r\n0\r\n\r\n".utf8)
    let server = try ScriptedServer { _ in
      [
        .readBody, .send("HTTP/1.1 200 OK\r\nTransfer-Encoding: \(coding)\r\n\r\n"),
        .send(coding.hasPrefix("gzip") ? gzipped : body), .close,
      ]
    }
    let place = try TemporaryDirectory()
    for target in [ResponseTarget.memory(), .file(place.local("f")), .stream { _ in }] {
      for method in [HTTPMethod.get, .post] {
        var request = try makeRequest(method, server.url, method == .get ? nil : .bytes("b".utf8))
        request.options.responseTarget = target
        let result = await (try makeSession()).result(of: request)
        #expect(result.outcome == (method == .get ? .failed : .unknown))
        #expect(result.error?.code == .malformedResponse)
      }
    }
    let download = await (try makeSession()).downloadResult(
      of: try makeRequest(.get, server.url, nil), DownloadSettings(.file(place.local("f"))))
    #expect(download.outcome == .failed)
    #expect(download.error?.code == .malformedResponse)
    #expect(try place.names == [])
  }

  /// libcurl doesn't see these lengths, and the framing became the body of a success.
  @Test(arguments: [
    "Transfer-Encoding : chunked", "Transfer-Encoding\t: chunked", "Content-Length : 2",
    "content-length\t: 2", "Transfer-Encoding:\r\n chunked", "Content-Length:\r\n 2",
    "Transfer-Encoding\u{c}: chunked", "Content-Length: 2\r\n ", "Transfer-Encoding: chunked\r\n\t",
  ])
  func `a length that is written in another way is malformed`(line: String) async throws {
    let place = try TemporaryDirectory()
    let server = try ScriptedServer { _ in
      [.readBody, .send("HTTP/1.1 200 OK\r\n\(line)\r\n\r\n2\r\nab\r\n0\r\n\r\n"), .close]
    }
    for target in [ResponseTarget.memory(), .file(place.local("f"))] {
      for method in [HTTPMethod.get, .post] {
        var request = try makeRequest(
          method, server.url, method == .get ? nil : .bytes("b".utf8), attempts: 3)
        request.options.responseTarget = target
        let result = await (try makeSession()).result(of: request)
        #expect(result.outcome == (method == .get ? .failed : .unknown))
        #expect(result.error?.code == .malformedResponse, "\(String(describing: result.error))")
        #expect(result.attempts == 1)
      }
    }
    #expect(try place.names == [])
  }

  /// Other names with white space behind them are none that mean something here.
  @Test func `another header with white space before its colon does no harm`() async throws {
    let result = try await result(
      of: [.send("HTTP/1.1 200 OK\r\nX-Other : 1\r\nContent-Length: 2\r\n\r\nab")])
    #expect(result.outcome == .ok)
    #expect(result.response?.text == "ab")
  }

  @Test(arguments: [
    ("identity\r\nConnection: close", [ScriptedStep.close], true),
    ("identity\r\nContent-Length: 4", [.close], true),
    ("Identity\r\nContent-Length: 4", [.stall], true),
    ("identity\r\nContent-Length: 100", [.close], false),
  ])
  func `identity is no transfer coding`(
    lines: String, end: [ScriptedStep], isComplete: Bool
  ) async throws {
    let place = try TemporaryDirectory()
    for target in [ResponseTarget.memory(), .file(place.local("f"))] {
      let result = try await result(
        .get, of: [.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: \(lines)\r\n\r\npart")] + end
      ) { $0.options.responseTarget = target }
      #expect(result.outcome == (isComplete ? .ok : .retryable), "\(result)")
      #expect(result.response?.isTruncated == !isComplete)
    }
    #expect(try place.names == (isComplete ? ["f"] : []))
  }

  /// libcurl counts no bytes of a body that ends with the connection, so that the file had 4 bytes, or 1, whatever was
  /// announced.
  @Test(arguments: ["identity", "Identity", " IDENTITY "], [0, 1, 3])
  func `a response with more bytes than it announces is malformed, also with identity`(
    _ coding: String, _ length: Int
  ) async throws {
    let place = try TemporaryDirectory()
    let head =
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: \(coding)\r\nContent-Length: \(length)\r\n\r\n"
    for target in [ResponseTarget.memory(), .file(place.local("f"))] {
      for steps in [
        [ScriptedStep.send(head + "part"), .close], [.send(head), .send("part"), .close],
      ] {
        let result = try await result(.get, of: steps) { $0.options.responseTarget = target }
        // A client may end the response where it is complete.
        if result.outcome == .ok, steps.count == 3 {
          #expect(result.response?.isTruncated == false)
          continue
        }
        #expect(result.outcome == .failed, "\(result)")
        #expect(result.error?.code == .malformedResponse)
        #expect(result.error?.description.contains("more bytes than the \(length)") == true)
      }
    }
  }

  /// Some servers claim HTTP/2 on a connection of HTTP/1.1, which turned off what is checked of HTTP/1.1.
  @Test(arguments: ["HTTP/2", "HTTP/2.0", "HTTP/2 200 OK\r\nX-A: b"])
  func `a status line that claims HTTP 2 is one of HTTP 1_1`(_ claim: String) async throws {
    let line = claim.contains(" ") ? claim : claim + " 200 OK"
    let post = try await result(of: [.send("\(line)\r\nContent-Length: 3\r\n\r\nold")])
    #expect(post.outcome == .ok, "\(post)")
    #expect(post.framing == .contentLength)
    #expect(post.response?.version == "1.1")
    // What ends with the connection may lack its end, and what is announced must be there.
    let open = try await result(.get, of: [.send("\(line)\r\n\r\nold"), .close])
    #expect(open.outcome == .ok && open.response?.hasUnknownEnd == true)
    let identity = "\(line)\r\nTransfer-Encoding: identity\r\nContent-Length: "
    let short = try await result(.get, of: [.send(identity + "100\r\n\r\nold"), .close])
    #expect(short.outcome == .retryable, "\(short)")
    let long = try await result(.get, of: [.send(identity + "2\r\n\r\nold"), .close])
    #expect(long.error?.code == .malformedResponse, "\(long)")
  }

  /// A letter and an accent after it are one `Character`, and not the letter: such a name was no length, and none that looked
  /// like one.
  @Test(arguments: [
    "Content-Length\u{301}: 2", "Conte\u{301}nt-Length: 2", "Content-\u{301}Length: 2",
    "Transfer-Encoding\u{301}: chunked", "T\u{308}ransfer-Encoding: chunked",
    "Transfer-Encoding\u{200D}: chunked", "\u{FEFF}Content-Length: 2",
  ])
  func `a length with an accent in its name is malformed`(_ line: String) async throws {
    for method in [HTTPMethod.get, .post] {
      let result = try await result(
        method, of: [.send("HTTP/1.1 200 OK\r\n\(line)\r\n\r\n2\r\nab\r\n0\r\n\r\n"), .close])
      #expect(result.outcome == (method == .get ? .failed : .unknown), "\(result)")
      #expect(result.error?.code == .malformedResponse)
    }
  }

  /// The reasons of libcurl and the libraries below it name functions and numbers.
  @Test(arguments: [
    ("HTTP/1.1 200 OK\r\n X-A: b\r\n\r\n", "first header begins with white space"),
    ("SSH-2.0-OpenSSH_9.2\r\n", "it doesn't begin with HTTP/"),
    ("HTTP/9.9 200 OK\r\n\r\n", "its version of HTTP is not supported"),
    ("HTTP/1.1 200 OK\r\nX\r\n\r\n", "a header has no colon"),
    ("HTTP/1.1 200 OK\r\nX: \u{0}\r\n\r\n", "a header has a NUL"),
    ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n", "its chunks are not valid"),
  ])
  func `a response that can't be read is explained, and not asked for again`(
    response: String, words: String
  ) async throws {
    let server = try ScriptedServer { _ in [.readBody, .send(response), .finish] }
    let result = try await makeSession().result(
      of: makeRequest(.get, server.url, nil, attempts: 3))
    #expect(result.outcome == .failed)
    #expect(result.error?.code == .malformedResponse)
    #expect(
      result.error?.description.contains(words) == true, "\(String(describing: result.error))")
    #expect(result.attempts == 1)
  }

  /// RFC 9112 §6.3: they end with their heads "regardless of the header fields present in the message".
  @Test func `a response without a body may name any transfer coding`() async throws {
    let server = try ScriptedServer { request in
      let status = request.method == "HEAD" ? "200 OK" : "204 No Content"
      return [.readBody, .send("HTTP/1.1 \(status)\r\nTransfer-Encoding: identity\r\n\r\n")]
    }
    for method in [HTTPMethod.head, .get] {
      let result = await (try makeSession()).result(of: try makeRequest(method, server.url, nil))
      #expect(result.outcome == .ok, "\(method): \(String(describing: result.error))")
    }
  }

  @Test(arguments: [
    "HTTP/1.0 200 OK\r\n\r\nold", "HTTP/1.0 200 OK\r\nContent-Length: 3\r\n\r\nold",
    "HTTP/1.0 200 OK\r\nConnection: close\r\nContent-Length: 3\r\n\r\nold",
    "HTTP/1.1 200\r\nContent-Length: 3\r\n\r\nold", "HTTP/1.1 200 \r\nContent-Length: 3\r\n\r\nold",
    "HTTP/1.1 200 OK\nContent-Length: 3\n\nold", "HTTP/1.1 200 OK\r\ncontent-length:3\r\n\r\nold",
    "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\nold",
    "HTTP/1.1 200 Ünïcode \u{1F600}\r\nContent-Length: 3\r\n\r\nold",
  ])
  func `the responses of old and careless servers are read`(response: String) async throws {
    let result = try await result(of: [.send(response), .close])
    #expect(result.outcome == .ok, "\(String(describing: result.error))")
    #expect(result.response?.text == "old")
    #expect(result.response?.isTruncated == false)
  }

  @Test func `an HTTP 1.0 connection is kept only if the response says so`() async throws {
    for (line, count) in [("", 2), ("Connection: keep-alive\r\n", 1)] {
      let server = try ScriptedServer { _ in
        [.readBody, .send("HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\(line)\r\nok")]
      }
      let session = try makeSession()
      for _ in 0..<2 {
        let result = try await session.result(of: makeRequest(server.url))
        #expect(result.outcome == .ok)
        #expect(result.response?.version == "1.0")
      }
      #expect(server.connections.count == count)
      #expect(server.completeBodyCount == 2)
      // On a kept connection libcurl uses the server's version, which our server records as a fault.
      #expect(server.faults.allSatisfy { $0.what.hasSuffix("POST / HTTP/1.0") })
    }
  }

  @Test(arguments: [204, 205, 304])
  func `responses without a body have none`(status: Int) async throws {
    let server = try ScriptedServer { _ in
      [
        .readBody,
        .send(
          "HTTP/1.1 \(status) None\r\nX-A: b\(status == 205 ? "\r\nContent-Length: 0" : "")\r\n\r\n"
        ),
      ]
    }
    let session = try makeSession()
    for _ in 0..<2 {
      var request = try makeRequest(server.url)
      if status == 304 { request.options.acceptedStatuses = [304] }
      let result = await session.result(of: request)
      #expect(result.outcome == .ok)
      #expect(result.response?.body.isEmpty == true)
    }
    #expect(server.connections.count == 1)
    #expect(server.faults == [])
  }

  @Test(
    arguments: [
      ([200], 200, true), ([200], 201, false), ([404], 404, true), ([404], 200, false),
      ([], 200, false),
      ([302], 302, true), ([503], 503, true),
    ] as [(Set<Int>, Int, Bool)])
  func `the accepted statuses can be set`(wanted: Set<Int>, status: Int, isOK: Bool)
    async throws
  {
    let result = try await result(
      of: [.respond(status, headers: [("Location", "/elsewhere")], body: "b")], attempts: 2
    ) { $0.options.acceptedStatuses = wanted }
    #expect((result.outcome == .ok) == isOK)
    #expect(result.attempts == 1)
    #expect(result.response?.text == "b")
  }

  @Test func `a JSON response is decoded, or the error says why not`() async throws {
    struct Place: Codable, Equatable {
      var name: String
      var size: Int
    }
    let good = try #require(
      try await result(of: [.respond(200, body: #"{"name":"ä","size":3}"#)]).response)
    #expect(try good.decoded(as: Place.self) == Place(name: "ä", size: 3))
    let bad = try #require(try await result(of: [.respond(200, body: #"{"name":"#)]).response)
    #expect(throws: TransferError.self) { try bad.decoded(as: Place.self) }
    let cut = try #require(
      try await result(of: [.respond(200, body: #"{"name":"ä","size":3}"#)]) {
        $0.options.responseTarget = .memory(limit: 5)
      }.response)
    let error = #expect(throws: TransferError.self) { try cut.decoded(as: Place.self) }
    #expect(error?.code == .responseTooLarge)
  }
}
