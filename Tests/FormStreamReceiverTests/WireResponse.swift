import FormStreamTestSupport

/// A response as it was received.
struct WireResponse: Sendable, CustomStringConvertible {
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

  /// Whether the response announces that the connection is closed.
  var closes: Bool { headers("Connection").contains { $0.lowercased() == "close" } }
}

/// The received bytes are not a response.
struct InvalidResponse: Error {
  let bytes: String
}

extension RawClient {
  /// All responses until the receiver closes or resets the connection.
  ///
  /// - Parameter mayRepeatHead: whether a response may contain its head twice.
  func responsesToEnd(mayRepeatHead: Bool = false) throws -> [WireResponse] {
    var bytes: [UInt8] = []
    while try receiveMore(into: &bytes) {}
    if mayRepeatHead {
      var rest = bytes
      if let head = try WireResponse.take(from: &rest, withBody: false) {
        let length = bytes.count - rest.count
        if rest.starts(with: bytes[..<length]) { return [head] }
      }
    }
    var responses: [WireResponse] = []
    while let response = try WireResponse.take(from: &bytes) { responses.append(response) }
    guard bytes.isEmpty else {
      throw InvalidResponse(bytes: String(decoding: bytes, as: UTF8.self))
    }
    return responses
  }

  /// The next response; nothing after it is read.
  func response(toHead: Bool = false) throws -> WireResponse {
    var bytes = Array(try receive(upTo: "\r\n\r\n").utf8)
    let head = try WireResponse.take(from: &bytes, withBody: false)
    guard let head else { throw InvalidResponse(bytes: String(decoding: bytes, as: UTF8.self)) }
    let length = toHead ? 0 : head.headers("Content-Length").first.flatMap { Int($0) } ?? 0
    var body: [UInt8] = []
    while body.count < length, try receiveMore(into: &body) {}
    guard body.count == length else {
      throw InvalidResponse(bytes: String(decoding: body, as: UTF8.self))
    }
    return WireResponse(status: head.status, lines: head.lines, body: body)
  }
}

extension WireResponse {
  /// Removes the first response from `bytes`; nil if there are no bytes.
  static func take(from bytes: inout [UInt8], withBody: Bool = true) throws -> WireResponse? {
    if bytes.isEmpty { return nil }
    var end = 0
    while end + 4 <= bytes.count, bytes[end..<end + 4] != [13, 10, 13, 10] { end += 1 }
    let head = String(decoding: bytes[..<end], as: UTF8.self)
    let lines = head.split(separator: "\r\n").map(String.init)
    let words = lines.first?.split(separator: " ") ?? []
    guard end + 4 <= bytes.count, words.count > 1, words[0] == "HTTP/1.1",
      let status = Int(words[1])
    else { throw InvalidResponse(bytes: String(decoding: bytes, as: UTF8.self)) }
    bytes.removeFirst(end + 4)
    let bare = WireResponse(status: status, lines: lines, body: [])
    let length = bare.headers("Content-Length").first.flatMap { Int($0) } ?? 0
    guard withBody, length > 0 else { return bare }
    guard bytes.count >= length else {
      throw InvalidResponse(bytes: head + String(decoding: bytes, as: UTF8.self))
    }
    defer { bytes.removeFirst(length) }
    return WireResponse(status: status, lines: lines, body: Array(bytes[..<length]))
  }
}
