/// Reads HTTP/1.1 messages, one after another, from bytes that arrive in pieces of any size. This is the only reader
/// of HTTP in the tests: a `ScriptedServer` reads requests with it, and a `RawClient` reads responses.
struct HTTPMessageReader {
  /// The received bytes that are not read yet. The owner of the connection appends to them.
  var unread: [UInt8] = []
  /// The body of the message whose head was read last.
  private(set) var body = HTTPBodyDecoder(.none)
  private var searched = 0
  private var lineIsEmpty = false

  /// Reads a request's head. Returns nil until its last line has arrived.
  mutating func readRequestHead() -> (head: HTTPHead, bytes: [UInt8])? {
    guard let bytes = takeHead() else { return nil }
    let head = HTTPHead(request: bytes)
    body = HTTPBodyDecoder(head.framing)
    return (head, bytes)
  }

  /// Reads a response's head. Returns nil until its last line has arrived.
  mutating func readResponseHead(toHEAD isToHEAD: Bool) -> (head: HTTPHead, bytes: [UInt8])? {
    guard let bytes = takeHead() else { return nil }
    let head = HTTPHead(response: bytes, isToHEAD: isToHEAD)
    body = HTTPBodyDecoder(head.framing)
    return (head, bytes)
  }

  /// Reads the unread bytes that belong to the body, at most `limit` without the framing, and passes those to `handle`.
  mutating func readBody(limit: Int = .max, _ handle: (UnsafeRawBufferPointer) -> Void) {
    if unread.isEmpty || body.isOver { return }
    let count = unread.withUnsafeBytes { body.read($0, limit: limit, body: handle) }
    unread.removeFirst(count)
  }

  /// Regards the body as complete: what arrives next is a message.
  mutating func skipBody() { body = HTTPBodyDecoder(.none) }

  /// Reports that the connection has ended, which completes a body without another framing.
  mutating func connectionEnded() { body.connectionEnded() }

  /// Takes the unread bytes up to the first empty line, with that line.
  private mutating func takeHead() -> [UInt8]? {
    for index in searched..<max(searched, unread.count) {
      if unread[index] == 10 {
        if lineIsEmpty {
          defer {
            unread.removeFirst(index + 1)
            (searched, lineIsEmpty) = (0, false)
          }
          return Array(unread[...index])
        }
        lineIsEmpty = true
      } else if unread[index] != 13 {
        lineIsEmpty = false
      }
    }
    searched = unread.count
    return nil
  }
}
