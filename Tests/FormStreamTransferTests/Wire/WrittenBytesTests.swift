import FormStreamTestSupport
import Testing

@testable import FormStreamHTTP

/// What the system says about the bytes on their way.
@Suite struct WrittenBytesTests {
  @Test func `the bytes that were written lie between both numbers, while they are acknowledged`()
    throws
  {
    let server = try ScriptedServer { _ in .good() }
    let client = try RawClient(server)
    let start = try #require(writtenBytes(of: client.descriptor))
    #expect(start.lowerBound == start.upperBound)
    let piece = [UInt8](repeating: 0x61, count: 8 * 1024)
    let count = 4096
    let head = "PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: \(piece.count * count)\r\n\r\n"
    try client.send(head)
    for number in 1...count {
      try client.send(piece)
      let sent = Int64(head.utf8.count + number * piece.count)
      let written = try #require(writtenBytes(of: client.descriptor))
      let isRight = written.contains(start.lowerBound + sent)
      #expect(isRight, "\(sent) bytes were sent, and these were counted: \(written)")
    }
    #expect(try client.receive(upTo: "\r\n\r\n").hasPrefix("HTTP/1.1 200"))
  }
}
