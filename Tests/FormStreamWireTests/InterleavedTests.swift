import FormStreamTestSupport
import FormStreamWire
import Testing

/// Bytes of the request leave between pieces and between events of the response. A plain count says what had left when the response
/// arrived.
@Suite struct InterleavedTests {
  private static let heads = [
    "HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 103 Hint\r\nA: b\r\n\r\n",
    "HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\nno",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\nA: b\r\n\r\n", "HTTP/1.1 204 None\r\n\r\n",
  ]

  private func choose(below limit: Int, _ sequence: inout SeededSequence) -> Int {
    Int(sequence.next() % UInt64(limit))
  }

  @Test(arguments: 0..<20) func `what had left when the response arrived is counted when its bytes arrive`(
    seed: UInt64
  ) throws {
    var sequence = SeededSequence(seed: seed)
    for _ in 0..<200 {
      var response: [UInt8] = []
      for _ in 0..<choose(below: 4, &sequence) {
        response += Array(Self.heads[choose(below: 2, &sequence)].utf8)
      }
      response += Array(Self.heads[2 + choose(below: 3, &sequence)].utf8)
      let cuts = (0..<choose(below: 5, &sequence)).map { _ in choose(below: response.count + 1, &sequence) }.sorted()
      let chunks = (0..<choose(below: 4, &sequence)).map { _ in choose(below: 18, &sequence) }
      let isChunked = sequence.next() & 1 == 1
      let most = 1 + choose(below: 60, &sequence)
      let isKept = sequence.next() & 1 == 1
      let fault = try InterleavedExchange.fault(
        of: response, chunks: chunks, isChunked: isChunked, cuts: cuts, isKept: isKept
      ) {
        Int(sequence.next() % UInt64(most))
      }
      if let fault { Issue.record("\(fault): \(String(decoding: response, as: UTF8.self)), cut at \(cuts), chunks \(chunks)") }
    }
  }

  /// Each number of bytes that left before an interim head and a final head in one piece, and after each event.
  @Test(arguments: [true, false], [true, false])
  func `each byte of a small request leaves before, between and after the heads`(isChunked: Bool, isKept: Bool) throws {
    let response = Array((Self.heads[0] + Self.heads[2]).utf8)
    for before in 0..<60 {
      for between in [0, 1, 2, 5, 60] {
        for cuts in [[], [1], [25], [26]] {
          var counts = [before, between][...]
          let fault = try InterleavedExchange.fault(
            of: response, chunks: [3], isChunked: isChunked, cuts: cuts, isKept: isKept
          ) {
            counts.popFirst() ?? 1
          }
          if let fault { Issue.record("\(fault): \(before), \(between), \(cuts)") }
        }
      }
    }
  }
}
