import FormStreamMultipart
import FormStreamPlatform

/// The bytes that arrive at a connection.
final class TestInput {
  private static let pieceSize = 256 * 1024
  /// libcurl sends no longer lines: it refuses longer headers.
  private static let longestLine = 1024 * 1024

  private let connection: LocalConnection
  private var bytes: ArraySlice<UInt8> = []

  init(_ connection: LocalConnection) {
    self.connection = connection
  }

  /// Waits for more bytes; returns false at the end.
  private func fill() -> Bool {
    let more = connection.read(atMost: Self.pieceSize)
    bytes = bytes.isEmpty ? more[...] : bytes + more
    return !more.isEmpty
  }

  /// The next line without its line break; nil at the end.
  func line() -> ArraySlice<UInt8>? {
    while true {
      if let end = bytes.firstIndex(of: 10) {
        let line = bytes[..<end]
        bytes = bytes[(end + 1)...]
        return line.last == 13 ? line.dropLast() : line
      }
      guard bytes.count < Self.longestLine, fill() else { return nil }
    }
  }

  /// The next bytes, at least one; nil at the end.
  func next(atMost count: Int64) -> [UInt8]? {
    guard !bytes.isEmpty || fill() else { return nil }
    let piece = bytes.prefix(Int(clamping: count))
    bytes = bytes.dropFirst(piece.count)
    return Array(piece)
  }
}

/// The body of a request, framed by its length or by chunks (RFC 9112 §6).
final class TestBody {
  private let input: TestInput
  private let isChunked: Bool
  /// The bytes that are left of the body, or of the chunk.
  private var left: Int64
  private(set) var isComplete: Bool
  /// Called before the first byte is read, for a client that waits for 100.
  private var willRead: (() -> Void)?

  init(of headers: HTTPHeaders, from input: TestInput, willRead: @escaping () -> Void) {
    self.input = input
    isChunked = headers.contains("Transfer-Encoding")
    left = isChunked ? 0 : headers["Content-Length"].flatMap { Int64($0) } ?? 0
    isComplete = !isChunked && left == 0
    self.willRead = willRead
  }

  /// The next bytes; nil at the end of the body, and if the request breaks off.
  func next() -> [UInt8]? {
    guard !isComplete else { return nil }
    willRead?()
    willRead = nil
    if isChunked, left == 0, !beginChunk() { return nil }
    guard let piece = input.next(atMost: left) else { return nil }
    left -= Int64(piece.count)
    // The line break after a chunk.
    if isChunked, left == 0, input.line() == nil { return nil }
    if !isChunked, left == 0 { isComplete = true }
    return piece
  }

  /// Reads the line that begins a chunk; returns false if it begins none.
  private func beginChunk() -> Bool {
    guard let line = input.line(), let size = Int64(String(decoding: line, as: UTF8.self), radix: 16)
    else { return false }
    left = size
    guard size == 0 else { return size > 0 }
    while let trailer = input.line() {
      if trailer.isEmpty {
        isComplete = true
        break
      }
    }
    return false
  }
}

/// The server's side of a connection. Only its thread uses it, except for `stop()`.
final class TestConnection: Sendable {
  private let connection: LocalConnection
  private let scheme: String
  private let server: TestServer
  private let state = Guarded(State())

  private struct State {
    /// The exchange of the request that is being answered.
    var exchange: TestExchange?
    var isStopped = false
  }

  init(_ connection: LocalConnection, scheme: String, of server: TestServer) {
    (self.connection, self.scheme, self.server) = (connection, scheme, server)
  }

  /// Ends the connection at any point.
  func stop() {
    state.withLock { state in
      state.isStopped = true
      return state.exchange
    }?.cancel()
    connection.shutDown()
  }

  /// Answers requests until the connection ends.
  func serve() {
    let input = TestInput(connection)
    while answerNext(from: input) {}
    connection.shutDown()
  }

  /// Answers the next request; returns whether another may follow.
  private func answerNext(from input: TestInput) -> Bool {
    guard let line = input.line().map({ String(decoding: $0, as: UTF8.self) }) else { return false }
    let words = line.split(separator: " ", maxSplits: 2).map(String.init)
    var headers = HTTPHeaders()
    while let line = input.line(), !line.isEmpty {
      guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return false }
      headers.append(
        String(decoding: line[..<colon], as: UTF8.self),
        bytes: Array(line[(colon + 1)...].trimmingBlanks()))
    }
    let body = TestBody(of: headers, from: input) { [connection] in
      if headers.contains("Expect") { _ = connection.write("HTTP/1.1 100 Continue\r\n\r\n".utf8) }
    }
    let exchange = TestExchange()
    guard words.count == 3, let method = HTTPMethod(parsing: words[0]),
      let url = try? HTTPURL(withPathAsIs: "\(scheme)://\(headers["Host"] ?? "localhost")\(words[1])")
    else {
      return send(
        .text("The test can't read the request \(line.quoted).\n", status: 400), isToHEAD: false)
    }
    let request = server.note { number in
      TestRequest(number: number, method: method, url: url, headers: headers, exchange: exchange)
    }
    let isStopped = state.withLock { state in
      state.exchange = exchange
      return state.isStopped
    }
    defer {
      state.withLock { $0.exchange = nil }
      exchange.end()
    }
    guard !isStopped else { return false }
    let response = exchange.response(to: request, by: server.answer, reading: body)
    switch response.ending {
    case .lost: return false
    case .silent:
      guard !response.followsBody || exchange.readRest(of: body) else { return false }
      while !connection.waitForEnd(atMost: .seconds(3600)) {}
      return false
    case .complete, .cut:
      guard !response.followsBody || exchange.readRest(of: body) else { return false }
      return send(response, isToHEAD: method == .head) && body.isComplete
    }
  }

  /// Sends a response; returns whether the connection may go on.
  private func send(_ response: TestResponse, isToHEAD: Bool) -> Bool {
    var body = isToHEAD || response.isWithoutBody ? [] : response.body[...]
    var isCut = false
    if case .cut(let count) = response.ending, !isToHEAD {
      (body, isCut) = (body.prefix(count), true)
    }
    guard connection.write(response.head) else { return false }
    let mayGoOn = !isCut && (isToHEAD || response.isFramed)
    guard let rate = response.bytesPerSecond.map({ max($0, 1) }) else {
      return connection.write(body) && mayGoOn
    }
    // A piece every 50 ms, or a byte at a time if the rate is lower.
    let step = Duration.milliseconds(rate < 20 ? 1000 / rate : 50)
    while !body.isEmpty {
      let piece = body.prefix(max(rate / 20, 1))
      body = body.dropFirst(piece.count)
      guard connection.write(piece), !connection.waitForEnd(atMost: step) else { return false }
    }
    return mayGoOn
  }
}
