import FormStreamMultipart
import FormStreamReceiver
import FormStreamTestSupport
import Testing

/// URL-encoded bodies, as WHATWG URL §5.1 reads them.
@Suite struct FieldTests {
  private typealias Field = (name: String, value: String)

  private static let cases: [(String, [(String, String)])] = [
    ("", []), ("&", []), ("&&&", []), ("a", [("a", "")]), ("a=", [("a", "")]), ("=b", [("", "b")]),
    ("=", [("", "")]), ("==", [("", "=")]), ("a=b=c", [("a", "b=c")]), ("&a=b", [("a", "b")]),
    ("a=b&", [("a", "b")]), ("a=b&&c=d", [("a", "b"), ("c", "d")]),
    ("a&b", [("a", ""), ("b", "")]),
    ("a+b=c+d", [("a b", "c d")]), ("a%2Bb=%26%3D%25", [("a+b", "&=%")]), ("%61=%62", [("a", "b")]),
    ("%=%", [("%", "%")]), ("%6=%6", [("%6", "%6")]), ("%zz=%%41", [("%zz", "%A")]),
    ("a=%4%41", [("a", "%4A")]), ("a=%%%", [("a", "%%%")]), ("a=%e2%82%ac", [("a", "\u{20AC}")]),
    ("%C3%A9=1", [("\u{E9}", "1")]), ("%FF=1", [("\u{FFFD}", "1")]), ("a=1;b=2", [("a", "1;b=2")]),
    ("a=\r\n&b=\t%00", [("a", "\r\n"), ("b", "\t\u{0}")]), ("a%3Db=c%26d", [("a=b", "c&d")]),
    ("a=b%", [("a", "b%")]), ("a=b%2", [("a", "b%2")]), ("a%&b%2", [("a%", ""), ("b%2", "")]),
    ("+=+", [(" ", " ")]), ("a=%2b+", [("a", "+ ")]), ("test=\u{FEFF}x", [("test", "\u{FEFF}x")]),
  ]

  private static func fields(of reported: ReportedRequest) -> [String] {
    reported.parts.map {
      "\($0.name ?? "-")=\($0.value.map { String(decoding: $0, as: UTF8.self) } ?? "-")"
    }
  }

  /// Each piece is sent as a separate chunk, so that the receiver reads the pieces separately.
  private static func body(_ pieces: [ArraySlice<UInt8>]) -> [UInt8] {
    var bytes = Array(
      ("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n"
        + "Content-Type: application/x-www-form-urlencoded; charset=x\r\n\r\n").utf8)
    for piece in pieces where !piece.isEmpty {
      bytes += Array("\(String(piece.count, radix: 16))\r\n".utf8) + piece + [13, 10]
    }
    return bytes + Array("0\r\n\r\n".utf8)
  }

  @Test func `golden bodies are read the same wherever they are split`() async throws {
    let server = try TestServer()
    var wanted: [[String]] = []
    for (text, fields) in Self.cases {
      let bytes = Array(text.utf8)
      let splits =
        (0...bytes.count).map { [bytes[..<$0], bytes[$0...]] } + [
          bytes.indices.map { bytes[$0...$0] }
        ]
      for pieces in splits {
        #expect(try await server.responses(to: Self.body(pieces)).map(\.status) == [200])
        wanted.append(fields.map { "\($0)=\($1)" })
      }
    }
    #expect(try await server.reportedRequests(wanted.count).map(Self.fields) == wanted)
  }

  /// curl's --data-binary and wget's --post-file announce any file as URL-encoded. Such a file was once recorded as a
  /// field without a value.
  @Test(arguments: [
    ("\u{89}PNG\r\n\u{1A}\n", 7), ("\u{0}", 0), ("a=b\u{7F}", 3), ("a=b&\u{1F}", 4),
    ("abc\u{8}=", 3),
  ])
  func `a body that is not text is refused as a URL-encoded body`(_ body: String, _ place: Int)
    async throws
  {
    let server = try TestServer()
    let bytes = Array(body.utf8)
    let responses = try await server.responses(to: Self.body([bytes[...]]))
    #expect(responses.map(\.status) == [400])
    #expect(
      responses.first?.text.contains(
        "\"code\":\"malformed-body\",\"message\":\"Byte \(place) is not text")
        == true)
  }

  @Test func `a body sent by PUT is a file, whatever its type`() async throws {
    let server = try TestServer()
    let bytes = Array("a=\u{0}b&%41".utf8)
    let head =
      "PUT /d%C3%A9/x%20y HTTP/1.1\r\nHost: h\r\nContent-Type: application/x-www-form-urlencoded\r\n"
      + "Connection: close\r\nContent-Length: \(bytes.count)\r\n\r\n"
    #expect(try await server.responses(to: Array(head.utf8) + bytes).map(\.status) == [200])
    #expect(server.handler.parts == [.init(name: nil, filename: "dé/x y", bytes: bytes)])
    #expect(server.handler.state.withLock { $0.begun.map(\.path) } == ["/dé/x y"])
  }

  @Test func `a handler receives the text fields before it accepts the upload`() async throws {
    let server = try TestServer()
    let responses = try await server.responses(
      to: Self.body([Array("album=2&a=&b".utf8)[...]]))
    #expect(responses.first?.status == 200)
    let fields = server.handler.state.withLock(\.fields)
    #expect(fields == ["album=2", "a=", "b="])
  }

  @Test func `a name that exceeds the limit is refused`() async throws {
    let server = try TestServer { $0.limits.form.headerBlock = 10 }
    for (name, status) in [("0123456789", 200), ("0123456789a", 413), ("%30123456789", 200)] {
      let responses = try await server.responses(
        to: Self.body([Array("x=1&\(name)=2".utf8)[...]]))
      #expect(responses.first?.status == status)
    }
    let endless = try await server.responses(
      to: Self.body([ArraySlice(repeating: 0x78, count: 1 << 20)]))
    #expect(endless.map(\.status) == [413])
    #expect(endless.first?.text.contains("at byte 11") == true)
  }

  /// Regression: one request with 9,999 long names used a gigabyte.
  @Test func `names that together exceed the limit are refused`() async throws {
    let server = try TestServer {
      $0.limits.form.headerBlock = 10
      $0.limits.form.allHeaders = 25
    }
    for (body, status) in [
      ("0123456789&0123456789&01234", 200), ("0123456789&0123456789&012345", 413),
    ] {
      let responses = try await server.responses(
        to: Self.body([Array(body.utf8)[...]]))
      #expect(responses.first?.status == status)
    }
  }

  @Test func `a value that exceeds the limit of a part is refused`() async throws {
    let server = try TestServer { $0.limits.form.partBytes = 3 }
    for (body, status, place) in [
      ("a=123&bcdef=%31%32%33", 200, ""), ("a=1&b=1234", 413, "at byte 10"),
      ("a=%31%32%33%34", 413, "at byte 14"),
      ("a=123%", 413, "at byte 6"), ("a=%4%4", 413, "at byte 6"),
    ] {
      for pieces in [[Array(body.utf8)[...]], Array(body.utf8).map { [$0][...] }] {
        let response = try await server.response(
          to: String(decoding: Self.body(pieces), as: UTF8.self))
        #expect(response.status == status, "\(body)")
        #expect(response.text.contains(place), "\(response)")
      }
    }
  }

  @Test func `a URL-encoded body that exceeds its own limit is refused`() async throws {
    #expect(Receiver.Limits().urlEncodedBody == 16 * 1024 * 1024)
    let server = try TestServer { $0.limits.urlEncodedBody = 5 }
    for (body, status) in [("a=123", 200), ("a=1234", 413)] {
      #expect(
        try await server.response(
          to: String(decoding: Self.body([Array(body.utf8)[...]]), as: UTF8.self)
        ).status
          == status)
    }
    let announced = try await server.response(
      to: "POST / HTTP/1.1\r\nHost: h\r\nContent-Type: application/x-www-form-urlencoded\r\n"
        + "Content-Length: 6\r\nExpect: 100-continue\r\n\r\n")
    #expect(announced.status == 413)
    let file = try await server.response(
      to: "POST / HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: 6\r\n\r\na=1234")
    #expect(file.status == 200)
  }

  @Test func `one field above the limit is refused`() async throws {
    let server = try TestServer()
    let limit = Receiver.Limits().form.parts
    for (count, status) in [(limit, 200), (limit + 1, 413)] {
      let body = [UInt8](repeating: UInt8(ascii: "a"), count: 2 * count).enumerated().map {
        $0.offset % 2 == 0 ? $0.element : UInt8(ascii: "&")
      }
      let responses = try await server.responses(
        to: Self.body([body[...]]))
      #expect(responses.first?.status == status)
    }
  }
}
