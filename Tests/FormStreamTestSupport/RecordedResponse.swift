/// A response that a `RawClient` received.
public struct RecordedResponse: Sendable, CustomStringConvertible {
  /// The status.
  public let status: Int
  /// All bytes of the head, with the empty line at its end.
  public let head: [UInt8]
  /// The header lines in their order.
  public let headers: [RecordedHeader]
  /// The body without its framing.
  public let body: [UInt8]

  /// The body as text.
  public var text: String { String(decoding: body, as: UTF8.self) }
  /// The head, and the beginning of the body.
  public var description: String { "\(String(decoding: head, as: UTF8.self))\(text.prefix(400))" }

  /// The values of all headers of that name, in any case.
  public func values(of name: String) -> [String] {
    headers.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
  }

  /// Whether the server says that it closes the connection.
  public var closes: Bool { values(of: "Connection").contains { $0.lowercased() == "close" } }

  /// Reads all responses in bytes that were received on one connection, up to its end.
  ///
  /// - Parameter mayRepeatHead: whether the body of the only response may be its head once more, as libmicrohttpd
  ///   writes its own refusals.
  /// - Throws: `UnreadableResponse`.
  public static func all(in bytes: [UInt8], mayRepeatHead: Bool = false) throws
    -> [RecordedResponse]
  {
    var reader = HTTPMessageReader()
    reader.unread = bytes
    if mayRepeatHead, let (head, bytes) = reader.readResponseHead(toHEAD: true) {
      if reader.unread.starts(with: bytes) {
        return [RecordedResponse(status: head.status, head: bytes, headers: head.headers, body: [])]
      }
      reader.unread = bytes + reader.unread
    }
    var responses: [RecordedResponse] = []
    while let response = try RecordedResponse(&reader, receive: { _, _ in false }) {
      responses.append(response)
    }
    return responses
  }

  private init(status: Int, head: [UInt8], headers: [RecordedHeader], body: [UInt8]) {
    (self.status, self.head, self.headers, self.body) = (status, head, headers, body)
  }

  /// Reads a response. Returns nil if the connection ends before its first byte.
  ///
  /// - Parameter receive: appends at most `limit` bytes to the array; returns false at the end.
  init?(
    _ reader: inout HTTPMessageReader, toHEAD isToHEAD: Bool = false,
    receive: (inout [UInt8], _ limit: Int) throws -> Bool
  ) throws {
    var received: (head: HTTPHead, bytes: [UInt8])?
    while received == nil {
      received = reader.readResponseHead(toHEAD: isToHEAD)
      if received != nil { break }
      // One byte at a time: none after this response may be received.
      if try receive(&reader.unread, 1) { continue }
      if reader.unread.isEmpty { return nil }
      throw UnreadableResponse(what: "its head is not complete", bytes: reader.unread)
    }
    guard let (head, bytes) = received else { return nil }
    if let fault = head.faults.first { throw UnreadableResponse(what: fault.what, bytes: bytes) }
    var body: [UInt8] = []
    while !reader.body.isOver {
      reader.readBody { body.append(contentsOf: $0) }
      if reader.body.isOver { break }
      if try !receive(&reader.unread, reader.body.missing) { reader.connectionEnded() }
      if !reader.body.isOver, reader.unread.isEmpty {
        throw UnreadableResponse(what: "its body is not complete", bytes: bytes + body)
      }
    }
    if let fault = reader.body.faults.first {
      throw UnreadableResponse(what: fault, bytes: bytes + body)
    }
    (status, self.head, headers, self.body) = (head.status, bytes, head.headers, body)
  }
}

/// What a server sent is not a response, or not a complete one.
public struct UnreadableResponse: Error, CustomStringConvertible {
  /// What is wrong with it.
  public let what: String
  /// The received bytes.
  public let bytes: [UInt8]

  /// All of it in one line.
  public var description: String { "\(what): \(String(decoding: bytes, as: UTF8.self))" }
}
