import FormStreamMultipart
import FormStreamWire
import Testing

@Suite struct RequestHeadTests {
  private func written(_ head: RequestHead) throws -> String {
    var exchange = ClientExchange()
    var output = Array("before".utf8)
    try exchange.begin(head, to: &output)
    #expect(output.starts(with: Array("before".utf8)))
    return String(decoding: output.dropFirst(6), as: UTF8.self)
  }

  @Test func `names are written as they are, and in their order`() throws {
    let headers: HTTPHeaders = [
      "Host": "h.example:8080", "x-lower": "1", "X-UPPER": "", "Accept": "a/b", "x-lower": "2",
    ]
    let head = RequestHead(method: "GET", target: "/a?b=c", headers: headers)
    #expect(
      try written(head)
        == "GET /a?b=c HTTP/1.1\r\nHost: h.example:8080\r\nx-lower: 1\r\nX-UPPER:\r\nAccept: a/b\r\nx-lower: 2\r\n\r\n")
  }

  @Test func `the shortest head has a request line, a host and an empty line`() throws {
    let head = RequestHead(method: "M", target: "*", headers: ["Host": ""])
    #expect(try written(head) == "M * HTTP/1.1\r\nHost:\r\n\r\n")
  }

  @Test func `bytes of values and targets that are not ASCII are written as they are`() throws {
    var headers: HTTPHeaders = ["Host": "h"]
    headers.append("A", bytes: [0xE9, 0x09, 0x21])
    var exchange = ClientExchange()
    var output: [UInt8] = []
    try exchange.begin(RequestHead(method: "GET", target: "/é", headers: headers), to: &output)
    #expect(output == Array("GET /é HTTP/1.1\r\nHost: h\r\nA: ".utf8) + [0xE9, 0x09, 0x21] + Array("\r\n\r\n".utf8))
  }

  @Test func `the header about the framing stands where the caller wants it`() throws {
    var head = RequestHead(
      method: "PUT", target: "/", headers: ["Host": "h", "B": "2"], framing: .length(12_345))
    #expect(try written(head) == "PUT / HTTP/1.1\r\nHost: h\r\nB: 2\r\nContent-Length: 12345\r\n\r\n")
    head.framingIndex = 1
    #expect(try written(head) == "PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 12345\r\nB: 2\r\n\r\n")
    head.framingIndex = 0
    head.framing = .chunked
    #expect(try written(head) == "PUT / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nHost: h\r\nB: 2\r\n\r\n")
    head.framingIndex = 2
    #expect(try written(head) == "PUT / HTTP/1.1\r\nHost: h\r\nB: 2\r\nTransfer-Encoding: chunked\r\n\r\n")
  }

  @Test(
    arguments: [
      0, 1, 9, 10, 11, 99, 100, 1_000_000_000, 9_223_372_036_854_775_806, 9_223_372_036_854_775_807,
    ] as [Int64])
  func `a length is written with all its digits`(length: Int64) throws {
    let head = RequestHead(method: "PUT", target: "/", headers: ["Host": "h"], framing: .length(length))
    #expect(try written(head) == "PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: \(length)\r\n\r\n")
  }

  private static func named(_ name: String, _ value: [UInt8] = [0x31]) -> HTTPHeaders {
    var headers: HTTPHeaders = ["Host": "h"]
    headers.append(name, bytes: value)
    return headers
  }

  @Test(arguments: [
    (RequestHead(method: "", target: "/", headers: ["Host": "h"]), RequestFlaw.method("")),
    (RequestHead(method: "GET X", target: "/", headers: ["Host": "h"]), .method("GET X")),
    (RequestHead(method: "GET\r\n", target: "/", headers: ["Host": "h"]), .method("GET\r\n")),
    (RequestHead(method: "GET", target: "", headers: ["Host": "h"]), .target("")),
    (RequestHead(method: "GET", target: "/a b", headers: ["Host": "h"]), .target("/a b")),
    (RequestHead(method: "GET", target: "/\n", headers: ["Host": "h"]), .target("/\n")),
    (RequestHead(method: "GET", target: "/\0", headers: ["Host": "h"]), .target("/\0")),
    (RequestHead(method: "GET", target: "/\u{7F}", headers: ["Host": "h"]), .target("/\u{7F}")),
    (RequestHead(method: "GET", target: "/a#b", headers: ["Host": "h"]), .target("/a#b")),
    (RequestHead(method: "GET", target: "/", headers: [:]), .hosts(0)),
    (RequestHead(method: "GET", target: "/", headers: ["Hosts": "h", "hos": "t"]), .hosts(0)),
    (RequestHead(method: "GET", target: "/", headers: named("HOST")), .hosts(2)),
    (RequestHead(method: "GET", target: "/", headers: ["Host": "h", "host": "h", "A": "b", "hOST": "h"]), .hosts(3)),
    (RequestHead(method: "GET", target: "/", headers: ["Host": "h", "expect": "100-Continue"]), .expectWithoutBody),
    (
      RequestHead(method: "PUT", target: "/", headers: ["Host": "h", "Expect": "100-continue"], framing: .length(0)),
      .expectWithoutBody
    ),
    (RequestHead(method: "GET", target: "/", headers: named("")), .headerName("")),
    (RequestHead(method: "GET", target: "/", headers: named("A B")), .headerName("A B")),
    (RequestHead(method: "GET", target: "/", headers: named("A:")), .headerName("A:")),
    (RequestHead(method: "GET", target: "/", headers: named("é")), .headerName("é")),
    (RequestHead(method: "GET", target: "/", headers: named("A\r\nB")), .headerName("A\r\nB")),
    (RequestHead(method: "GET", target: "/", headers: named("A", [0x31, 0x0D])), .headerValue("A")),
    (RequestHead(method: "GET", target: "/", headers: named("A", [0x0A, 0x31])), .headerValue("A")),
    (RequestHead(method: "GET", target: "/", headers: named("A", [0x00])), .headerValue("A")),
    (
      RequestHead(method: "GET", target: "/", headers: named("A", Array(repeating: 9, count: 20) + [0])),
      .headerValue("A")
    ),
    (RequestHead(method: "GET", target: "/", headers: named("content-length")), .framingHeader("Content-Length")),
    (
      RequestHead(method: "GET", target: "/", headers: named("TRANSFER-ENCODING")),
      .framingHeader("Transfer-Encoding")
    ),
    (RequestHead(method: "GET", target: "/", headers: ["Host": "h"], framing: .length(-1)), .length(-1)),
  ])
  func `a head that can't be written leaves the output and the exchange as they were`(
    head: RequestHead, flaw: RequestFlaw
  ) throws {
    var exchange = ClientExchange()
    var output = Array("before".utf8)
    #expect(throws: flaw) { try exchange.begin(head, to: &output) }
    #expect(output == Array("before".utf8))
    #expect(exchange.closingReason == nil)
    try exchange.begin(RequestHead(method: "GET", target: "/", headers: ["Host": "h"]), to: &output)
    #expect(output == Array("beforeGET / HTTP/1.1\r\nHost: h\r\n\r\n".utf8))
  }
}
