import FormStreamMultipart
import FormStreamTestSupport
import FormStreamWire
import Testing

/// When a connection can be used for another request, and what an exchange says at each place where a response can end.
@Suite struct ConnectionUseTests {
  private func receive(_ text: String, _ exchange: inout ClientExchange) throws {
    try Array(text.utf8).withUnsafeBytes { bytes in
      var input = bytes
      while try exchange.receive(&input) != nil {}
    }
  }

  private func begin(
    _ exchange: inout ClientExchange, framing: RequestHead.Framing = .none, headers: HTTPHeaders = ["Host": "h"],
    accepting isAccepted: Bool = true
  ) throws {
    var output: [UInt8] = []
    try exchange.begin(
      RequestHead(method: "POST", target: "/", headers: headers, framing: framing), to: &output)
    if isAccepted { exchange.accepted(output.count) }
  }

  private let empty = "HTTP/1.1 204 No Content\r\n\r\n"

  @Test func `one exchange serves one request after another`() throws {
    var exchange = ClientExchange()
    for size in [3, 0, 70_000, 2] {
      try begin(&exchange)
      #expect(exchange.framing == nil)
      #expect(exchange.bodyReceived == 0)
      #expect(exchange.closingReason == .unfinished)
      let body = String(repeating: "x", count: size)
      try receive("HTTP/1.1 200 OK\r\nKeep-Alive: timeout=\(size)\r\nContent-Length: \(size)\r\n\r\n" + body, &exchange)
      #expect(exchange.framing == .length(Int64(size)))
      #expect(exchange.bodyReceived == Int64(size))
      #expect(exchange.idleSeconds == Int64(size))
      #expect(exchange.closingReason == nil)
    }
  }

  @Test func `a head stays as it is while the exchange reads others`() throws {
    var exchange = ClientExchange()
    var heads: [ResponseHead] = []
    for name in ["One", "Two"] {
      try begin(&exchange)
      try Array("HTTP/1.1 103 Hint\r\nX: \(name)0\r\n\r\nHTTP/1.1 204 None\r\nX: \(name)\r\n\r\n".utf8).withUnsafeBytes {
        var input = $0
        while let event = try exchange.receive(&input) {
          if case .interim(let head) = event { heads.append(head) }
          if case .response(let head) = event { heads.append(head) }
        }
      }
    }
    #expect(heads.map { $0.headers["X"] } == ["One0", "One", "Two0", "Two"])
    #expect(heads.map(\.status) == [103, 204, 103, 204])
  }

  @Test func `a request that asks to close the connection is the last`() throws {
    var exchange = ClientExchange()
    try begin(&exchange, headers: ["Host": "h", "connection": "foo, Close"])
    try receive(empty, &exchange)
    #expect(exchange.closingReason == .requested)
    #expect(throws: RequestFlaw.connectionUsed) { try begin(&exchange) }
  }

  @Test func `a request can't begin before the response to the last one ended`() throws {
    var exchange = ClientExchange()
    try begin(&exchange)
    #expect(throws: RequestFlaw.connectionUsed) { try begin(&exchange) }
    try receive("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nh", &exchange)
    #expect(throws: RequestFlaw.connectionUsed) { try begin(&exchange) }
    try receive("i", &exchange)
    try begin(&exchange)
  }

  @Test func `bytes after a response make its connection useless`() throws {
    var exchange = ClientExchange()
    try begin(&exchange)
    try receive(empty, &exchange)
    #expect(exchange.closingReason == nil)
    try receive("x", &exchange)
    #expect(exchange.closingReason == .surplus)
    #expect(throws: RequestFlaw.connectionUsed) { try begin(&exchange) }
  }

  /// A driver may stop at the end of the response. The rest of its input would be read as the response to the next request.
  @Test func `bytes in the same piece after the end make a connection useless at once`() throws {
    for head in ["HTTP/1.1 204 None\r\n\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"] {
      for rest in ["\n", "HTTP/1.1 200 Forged\r\n\r\n"] {
        var exchange = try ClientExchange.begun()
        try exchange.readToEnd(head + rest)
        #expect(exchange.closingReason == .surplus)
        #expect(throws: RequestFlaw.connectionUsed) { try exchange.beginAndSend() }
      }
    }
  }

  @Test func `one line feed that is read later makes a connection useless`() throws {
    var exchange = try ClientExchange.begun()
    try exchange.read(empty)
    try exchange.read("\n")
    #expect(exchange.closingReason == .surplus)
  }

  @Test(
    arguments: [
      ("timeout=60, timeout=1", 1), ("timeout=1, timeout=60", 1), ("timeout=60\r\nKeep-Alive: timeout=2", 2),
      ("timeout=86400", 86_400), ("timeout=86401", 86_400), ("timeout=9223372036854775807", 86_400), ("timeout=0", 0),
    ] as [(String, Int64)])
  func `the smallest of several idle times is kept, and no more than a day`(value: String, seconds: Int64) throws {
    var exchange = try ClientExchange.begun()
    try exchange.read("HTTP/1.1 204 None\r\nKeep-Alive: \(value)\r\n\r\n")
    #expect(exchange.idleSeconds == seconds)
  }

  @Test(arguments: ["timeout = 5", "timeout=", "timeout", "time=5", "timeout=5s", "timeout=-1"])
  func `an idle time that isn't a number says nothing`(value: String) throws {
    var exchange = try ClientExchange.begun()
    try exchange.read("HTTP/1.1 204 None\r\nKeep-Alive: \(value)\r\n\r\n")
    #expect(exchange.idleSeconds == nil)
  }

  @Test func `a connection is used again after interim heads and trailers`() throws {
    var exchange = try ClientExchange.begun()
    for _ in 0..<2 {
      try exchange.read("HTTP/1.1 103 Hint\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nA: b\r\n\r\n")
      #expect(exchange.closingReason == nil)
      try exchange.beginAndSend()
    }
  }

  @Test func `a connection is kept for a second less than the server says`() throws {
    for (said, kept) in [(0, 0), (1, 0), (2, 1), (86_400, 86_399), (9_000_000, 86_399)] as [(Int64, Int64)] {
      var exchange = try ClientExchange.begun()
      #expect(exchange.reuseSeconds == nil)
      try exchange.read("HTTP/1.1 204 None\r\nKeep-Alive: timeout=\(said)\r\n\r\n")
      #expect(exchange.reuseSeconds == kept)
    }
  }

  /// The reason alone doesn't say it: another one may have come before.
  @Test(arguments: [["Host": "h"], ["Host": "h", "Connection": "close"]] as [HTTPHeaders])
  func `a tunnel and bytes that came before ours are facts of their own`(headers: HTTPHeaders) throws {
    for rest in ["", "x"] {
      var exchange = try ClientExchange.begun(method: "CONNECT", headers: headers)
      try exchange.readToEnd("HTTP/1.1 200 Established\r\n\r\n" + rest)
      #expect(exchange.isTunnel == true)
      #expect(exchange.hasSurplus == !rest.isEmpty)
      #expect(exchange.closingReason == (headers.count == 1 ? .tunnel : .requested))
      try exchange.read("later")
      #expect(exchange.hasSurplus == true)
    }
  }

  @Test func `a refused tunnel is none`() throws {
    var exchange = try ClientExchange.begun(method: "CONNECT")
    try exchange.readToEnd("HTTP/1.1 407 No\r\nContent-Length: 0\r\n\r\n")
    #expect(exchange.isTunnel == false)
    #expect(exchange.hasSurplus == false)
    #expect(exchange.closingReason == nil)
  }

  /// A caller that asks for events only while it has input would wait for more.
  @Test func `a response is complete with its last byte, before its last event`() throws {
    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    for (response, isLastEvent) in [
      ("HTTP/1.1 204 None\r\n\r\n", 1), ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", 2),
      (chunked + "0\r\nA: b\r\n\r\n", 2), (chunked + "0\r\n\r\n", 2), (chunked + "1\r\nx\r\n0\r\n\r\n", 3),
    ] {
      var exchange = try ClientExchange.begun()
      #expect(exchange.isResponseComplete == false)
      var completeness: [Bool] = []
      try exchange.read(response) { exchange, _ in completeness.append(exchange.isResponseComplete) }
      #expect(completeness.firstIndex(of: true) == isLastEvent - 1)
    }
    for beginning in [chunked, chunked + "0\r\n", chunked + "0\r\nA: b\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nh"] {
      var exchange = try ClientExchange.begun()
      try exchange.read(beginning)
      #expect(exchange.isResponseComplete == false)
    }
    var endless = try ClientExchange.begun()
    try endless.read("HTTP/1.1 200 OK\r\n\r\nhi")
    #expect(endless.isResponseComplete == false)
    while try endless.endInput(isOrderly: true) != nil {}
    #expect(endless.isResponseComplete == true)
  }

  @Test func `a refused framing keeps the status`() throws {
    var exchange = try ClientExchange.begun()
    #expect(throws: WireError.transferEncoding(Array("gzip, chunked".utf8))) {
      try exchange.read("HTTP/1.1 413 No\r\nTransfer-Encoding: gzip, chunked\r\n\r\n")
    }
    #expect(exchange.unreadableStatus == 413)
    #expect(exchange.framing == nil)
    var readable = try ClientExchange.begun()
    try readable.read(empty)
    #expect(readable.unreadableStatus == nil)
  }

  @Test(arguments: [
    ("\u{15}\u{03}", ", but as TLS does", 1), ("\0\0\u{12}\u{04}", ", but as HTTP/2 does", 1), ("HTSP", "", 3),
    ("SSH-2.0", "", 1),
  ])
  func `what isn't HTTP is kept up to its first odd byte`(start: String, name: String, kept: Int) throws {
    var exchange = try ClientExchange.begun()
    let error = #expect(throws: WireError.self) { try exchange.read(start) }
    #expect(error == .notHTTP(Array(start.utf8.prefix(kept))))
    #expect(error?.description == "it doesn't begin with \"HTTP/\"" + name)
  }

  @Test func `limits of trailers are named as such`() throws {
    #expect(WireError.inTrailers(.overLimit(.line, 9)).description == "a line of its trailers has more than 9 bytes")
    #expect(WireError.inTrailers(.overLimit(.head, 9)).description == "its trailers have more than 9 bytes")
    #expect(WireError.inTrailers(.overLimit(.headers, 1)).description == "its trailers have more than 1 header")
    #expect(WireError.overLimit(.head, 9).description == "its head has more than 9 bytes")
  }

  @Test func `the end of the connection after a response makes it useless`() throws {
    var exchange = ClientExchange()
    try begin(&exchange)
    try receive(empty, &exchange)
    #expect(try exchange.endInput(isOrderly: true) == nil)
    #expect(exchange.closingReason == .ended)
    var unused = ClientExchange()
    #expect(try unused.endInput(isOrderly: true) == nil)
    #expect(throws: RequestFlaw.connectionUsed) { try begin(&unused) }
  }

  @Test func `bytes before the request are no response to it`() throws {
    var unused = ClientExchange()
    #expect(throws: WireError.unasked) { try receive(empty, &unused) }
    var begun = ClientExchange()
    try begin(&begun, accepting: false)
    #expect(throws: WireError.unasked) { try receive(empty, &begun) }
    #expect(begun.stage == .notSent)
    #expect(throws: WireError.unasked) { try receive("", &begun) }
  }

  @Test func `a response before the end of the request leaves the rest of the request on the connection`() throws {
    for sent in 0...3 {
      var exchange = ClientExchange()
      try begin(&exchange, framing: .length(3))
      var output: [UInt8] = []
      _ = try exchange.beginBytes(3, to: &output)
      exchange.accepted(sent)
      try receive("HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n", &exchange)
      #expect(exchange.bodySentAtResponse == Int64(sent))
      #expect(exchange.isResponseToCompleteRequest == (sent == 3))
      exchange.accepted(3 - sent)
      #expect(exchange.closingReason == (sent == 3 ? nil : .earlyResponse))
      #expect(exchange.bodySentAtResponse == Int64(sent))
    }
  }

  @Test(arguments: [true, false])
  func `the first byte of the final head decides what had left, or its last piece over a new connection, and no interim head`(
    isKept: Bool
  ) throws {
    var exchange = ClientExchange()
    if isKept { try exchange.serveFirstRequest() }
    try begin(&exchange, framing: .length(3))
    var output: [UInt8] = []
    try receive("HTTP/1.1 100 Continue\r\n\r\n", &exchange)
    #expect(exchange.bodySentAtResponse == nil)
    #expect(exchange.isResponseToCompleteRequest == false)
    _ = try exchange.beginBytes(3, to: &output)
    exchange.accepted(1)
    #expect(exchange.marksNextInput == true)
    try receive("H", &exchange)
    #expect(exchange.marksNextInput == !isKept)
    exchange.accepted(2)
    try receive("TTP/1.1 204 Done\r\n\r\n", &exchange)
    #expect(exchange.marksNextInput == false)
    #expect(exchange.bodySentAtResponse == (isKept ? 1 : 3))
    #expect(exchange.isResponseToCompleteRequest == !isKept)
    #expect(exchange.closingReason == (isKept ? .earlyResponse : nil))
  }

  /// Each prefix of a response, and what is said of it if the connection ends there.
  @Test func `a cut is named for the place where it is`() throws {
    let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    let response = Array(("HTTP/1.1 100 \r\n\r\n" + head + "2\r\nhi\r\n0\r\nA: b\r\n\r\n").utf8)
    for size in 0..<response.count {
      let cut = try ExchangeRun(Array(response.prefix(size)), ending: .broken).error
      let expected: WireError.Place =
        switch size {
        case 0: .beforeResponse(afterInterim: false)
        case 1..<17: .head(afterInterim: false)
        case 17: .beforeResponse(afterInterim: true)
        case 18..<(17 + head.utf8.count): .head(afterInterim: true)
        case ..<(20 + head.utf8.count + 1): .chunks(received: 0)
        case 20 + head.utf8.count + 1: .chunks(received: 1)
        case ..<(response.count - 8): .chunks(received: 2)
        default: .trailers
        }
      #expect(cut == .cutOff(expected), "\(size) bytes")
    }
    #expect(try ExchangeRun(response, ending: .broken).isComplete)
  }

  @Test func `a cut in a body of known length says how much of it came`() throws {
    let head = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n"
    for size in 0..<3 {
      let run = try ExchangeRun(head + String(repeating: "x", count: size))
      #expect(run.error == .cutOff(.body(received: Int64(size), of: 3)))
      #expect(run.closingReason == .unfinished)
    }
    #expect(try ExchangeRun(head + "xxx").isComplete)
  }
}
