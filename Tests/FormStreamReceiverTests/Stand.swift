import FormStreamMultipart
import FormStreamReceiver
import FormStreamTestSupport
import Testing

/// A receiver under test, with all that it told.
final class Stand: Sendable {
  let receiver: Receiver
  let handler: KeepingHandler
  private let log: Guarded<[Told]>

  init(
    _ handler: KeepingHandler = KeepingHandler(),
    _ setUp: (inout Receiver.Configuration) -> Void = { _ in }
  ) throws {
    var configuration = Receiver.Configuration()
    setUp(&configuration)
    let log = Guarded<[Told]>([])
    self.log = log
    self.handler = handler
    receiver = try Receiver.start(configuration, handler: handler) { request in
      log.withLock { $0.append(request) }
    }
  }

  /// What was told of requests, so far.
  var told: [Told] { log.withLock(\.self) }

  /// Waits until so many requests are over.
  func told(_ count: Int) async throws -> [Told] {
    try #require(await eventually { told.count >= count }, "only \(told.count) were told of")
    return told
  }

  func client() throws -> RawClient { try RawClient(.ip("127.0.0.1", port: receiver.port)) }

  /// Sends all at once on one connection, and gives what is answered until the receiver closes.
  func answers(to text: String, repeatsHead: Bool = false) async throws -> [WireAnswer] {
    try await answers(to: Array(text.utf8), repeatsHead: repeatsHead)
  }

  func answers(to bytes: [UInt8], repeatsHead: Bool = false) async throws -> [WireAnswer] {
    try await onNewThread {
      let client = try self.client()
      // Who refuses need not read all of it.
      do { try client.send(bytes) } catch {}
      return try client.answersUpToEnd(repeatsHead: repeatsHead)
    }
  }

  /// The one answer to a request on a connection of its own.
  func answer(to text: String) async throws -> WireAnswer {
    let answers = try await answers(to: text)
    #expect(answers.count == 1, "\(answers)")
    return try #require(answers.first)
  }
}

/// An answer as it came over the wire.
struct WireAnswer: Sendable, CustomStringConvertible {
  let status: Int
  let lines: [String]
  let body: [UInt8]

  var text: String { String(decoding: body, as: UTF8.self) }
  var description: String { "\(lines) \(text.prefix(400))" }

  /// The values of all headers of that name.
  func headers(_ name: String) -> [String] {
    let prefix = name.lowercased() + ":"
    return lines.dropFirst().filter { $0.lowercased().hasPrefix(prefix) }.map { line in
      String(line.dropFirst(prefix.count).drop { $0 == " " })
    }
  }

  /// Whether it says that the connection is closed.
  var closes: Bool { headers("Connection").contains { $0.lowercased() == "close" } }
}

/// What came was no answer.
struct NoAnswer: Error {
  let bytes: String
}

extension RawClient {
  /// All answers until the receiver closes, or resets.
  ///
  /// - Parameter repeatsHead: whether an answer may have its head twice.
  func answersUpToEnd(repeatsHead: Bool = false) throws -> [WireAnswer] {
    var bytes: [UInt8] = []
    while try receiveMore(into: &bytes) {}
    if repeatsHead {
      var rest = bytes
      if let head = try WireAnswer.take(from: &rest, withBody: false) {
        let length = bytes.count - rest.count
        if rest.starts(with: bytes[..<length]) { return [head] }
      }
    }
    var answers: [WireAnswer] = []
    while let answer = try WireAnswer.take(from: &bytes) { answers.append(answer) }
    guard bytes.isEmpty else { throw NoAnswer(bytes: String(decoding: bytes, as: UTF8.self)) }
    return answers
  }

  /// The next answer; nothing is read beyond of it.
  func answer(toHead: Bool = false) throws -> WireAnswer {
    var bytes = Array(try receive(upTo: "\r\n\r\n").utf8)
    let head = try WireAnswer.take(from: &bytes, withBody: false)
    guard let head else { throw NoAnswer(bytes: String(decoding: bytes, as: UTF8.self)) }
    let length = toHead ? 0 : head.headers("Content-Length").first.flatMap { Int($0) } ?? 0
    var body: [UInt8] = []
    while body.count < length, try receiveMore(into: &body) {}
    guard body.count == length else { throw NoAnswer(bytes: String(decoding: body, as: UTF8.self)) }
    return WireAnswer(status: head.status, lines: head.lines, body: body)
  }
}

extension WireAnswer {
  static func take(from bytes: inout [UInt8], withBody: Bool = true) throws -> WireAnswer? {
    if bytes.isEmpty { return nil }
    var end = 0
    while end + 4 <= bytes.count, bytes[end..<end + 4] != [13, 10, 13, 10] { end += 1 }
    let head = String(decoding: bytes[..<end], as: UTF8.self)
    let lines = head.split(separator: "\r\n").map(String.init)
    let words = lines.first?.split(separator: " ") ?? []
    guard end + 4 <= bytes.count, words.count > 1, words[0] == "HTTP/1.1",
      let status = Int(words[1])
    else { throw NoAnswer(bytes: String(decoding: bytes, as: UTF8.self)) }
    bytes.removeFirst(end + 4)
    let bare = WireAnswer(status: status, lines: lines, body: [])
    let length = bare.headers("Content-Length").first.flatMap { Int($0) } ?? 0
    guard withBody, length > 0 else { return bare }
    guard bytes.count >= length else {
      throw NoAnswer(bytes: head + String(decoding: bytes, as: UTF8.self))
    }
    defer { bytes.removeFirst(length) }
    return WireAnswer(status: status, lines: lines, body: Array(bytes[..<length]))
  }
}
