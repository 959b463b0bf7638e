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

  private static func fields(of told: Told) -> [String] {
    told.parts.map {
      "\($0.name ?? "-")=\($0.value.map { String(decoding: $0, as: UTF8.self) } ?? "-")"
    }
  }

  /// Each piece is a chunk of its own, so that no two come in one.
  private static func body(_ pieces: [ArraySlice<UInt8>]) -> [UInt8] {
    var bytes = Array(
      ("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n"
        + "Content-Type: application/x-www-form-urlencoded; charset=x\r\n\r\n").utf8)
    for piece in pieces where !piece.isEmpty {
      bytes += Array("\(String(piece.count, radix: 16))\r\n".utf8) + piece + [13, 10]
    }
    return bytes + Array("0\r\n\r\n".utf8)
  }

  @Test func `golden bodies, cut anywhere`() async throws {
    let stand = try Stand()
    var requests: [UInt8] = []
    var wanted: [[String]] = []
    for (text, fields) in Self.cases {
      let bytes = Array(text.utf8)
      let expected = fields.map { "\($0)=\($1)" }
      for place in 0...bytes.count {
        requests += Self.body([bytes[..<place], bytes[place...]])
        wanted.append(expected)
      }
      requests += Self.body(bytes.indices.map { bytes[$0...$0] })
      wanted.append(expected)
    }
    let answers = try await stand.answers(to: requests + Array("GET / HTTP/1.0\r\n\r\n".utf8))
    #expect(answers.count == wanted.count + 1)
    #expect(stand.told.map(Self.fields) == wanted)
  }

  /// curl's --data-binary and wget's --post-file say so of whatever file they are given, and it was taken for a
  /// field without a value.
  @Test(arguments: [
    ("\u{89}PNG\r\n\u{1A}\n", 7), ("\u{0}", 0), ("a=b\u{7F}", 3), ("a=b&\u{1F}", 4),
    ("abc\u{8}=", 3),
  ])
  func `what is no text is no URL-encoded body`(_ body: String, _ place: Int) async throws {
    let stand = try Stand()
    let bytes = Array(body.utf8)
    let answers = try await stand.answers(to: Self.body([bytes[...]]))
    #expect(answers.map(\.status) == [400])
    #expect(
      answers.first?.text.contains(
        "\"code\":\"malformed-body\",\"message\":\"Byte \(place) is no text")
        == true)
  }

  @Test func `what is put is a file, whatever its type is said to be`() async throws {
    let stand = try Stand()
    let bytes = Array("a=\u{0}b&%41".utf8)
    let head =
      "PUT /d%C3%A9/x%20y HTTP/1.1\r\nHost: h\r\nContent-Type: application/x-www-form-urlencoded\r\n"
      + "Connection: close\r\nContent-Length: \(bytes.count)\r\n\r\n"
    #expect(try await stand.answers(to: Array(head.utf8) + bytes).map(\.status) == [200])
    #expect(stand.handler.kept == [.init(name: nil, filename: "dé/x y", bytes: bytes)])
    #expect(stand.handler.state.withLock { $0.begun.map(\.path) } == ["/dé/x y"])
  }

  @Test func `a handler has the text fields before it has to say yes`() async throws {
    let stand = try Stand()
    let answers = try await stand.answers(
      to: Self.body([Array("album=2&a=&b".utf8)[...]]) + Array("GET / HTTP/1.0\r\n\r\n".utf8))
    #expect(answers.first?.status == 200)
    let fields = stand.handler.state.withLock(\.fields)
    #expect(fields == ["album=2", "a=", "b="])
  }

  @Test func `names are held up to a limit`() async throws {
    let stand = try Stand { $0.limits.form.headerBlock = 10 }
    for (name, status) in [("0123456789", 200), ("0123456789a", 413), ("%30123456789", 200)] {
      let answers = try await stand.answers(
        to: Self.body([Array("x=1&\(name)=2".utf8)[...]]) + Array("GET / HTTP/1.0\r\n\r\n".utf8))
      #expect(answers.first?.status == status)
    }
    let endless = try await stand.answers(
      to: Self.body([ArraySlice(repeating: 0x78, count: 1 << 20)]))
    #expect(endless.map(\.status) == [413])
    #expect(endless.first?.text.contains("at byte 11") == true)
  }

  /// One request of 9,999 long names took a gigabyte.
  @Test func `the names of all fields are held up to a limit, too`() async throws {
    let stand = try Stand {
      $0.limits.form.headerBlock = 10
      $0.limits.form.allHeaders = 25
    }
    for (body, status) in [
      ("0123456789&0123456789&01234", 200), ("0123456789&0123456789&012345", 413),
    ] {
      let answers = try await stand.answers(
        to: Self.body([Array(body.utf8)[...]]) + Array("GET / HTTP/1.0\r\n\r\n".utf8))
      #expect(answers.first?.status == status)
    }
  }

  @Test func `so many fields and no more`() async throws {
    let stand = try Stand()
    let limit = Receiver.Limits().form.parts
    for (count, status) in [(limit, 200), (limit + 1, 413)] {
      let body = [UInt8](repeating: UInt8(ascii: "a"), count: 2 * count).enumerated().map {
        $0.offset % 2 == 0 ? $0.element : UInt8(ascii: "&")
      }
      let answers = try await stand.answers(
        to: Self.body([body[...]]) + Array("GET / HTTP/1.0\r\n\r\n".utf8))
      #expect(answers.first?.status == status)
    }
  }
}
