import FormStreamDigest
import FormStreamMultipart
import FormStreamRecords
import Testing

@Suite struct ResultRecordTests {
  /// A request without a response: each member that can be null is null.
  private let refused = ResultRecord(
    url: "http://[::1]:1/", method: "POST", status: nil, outcome: .retryable, attempts: 3,
    redirects: 0, contentLength: nil, framing: .chunked, bytesSent: 0, wireBytes: 0,
    seconds: 2.000_000_4, sha256: nil, idempotencyKey: nil, bytesReceived: 0, resumedFrom: nil,
    storedAs: nil, storedSHA256: nil, response: nil,
    error: RecordFailure(code: "refused", message: "Nobody listens at [::1]:1."))

  @Test func `a success at the second attempt has all members`() throws {
    var digest = try SHA256()
    try Array("abc".utf8).withUnsafeBytes { try digest.update($0) }
    let record = ResultRecord(
      url: "https://example.com/in?a=\"1\"", method: "POST", status: 201, outcome: .ok, attempts: 2,
      redirects: 1, contentLength: 5_000_000_000, framing: .contentLength,
      bytesSent: 5_000_000_000, wireBytes: 5_000_065_536, seconds: 12.3456789,
      sha256: try digest.finalize(), idempotencyKey: "a \"key\"", bytesReceived: 7,
      resumedFrom: 3, storedAs: LocalPath(bytes: [0x61, 0xFF]),
      storedSHA256: SHA256.Digest([UInt8](repeating: 0xAB, count: 32)),
      response: .init(
        headers: [
          .init("Content-Type", "text/plain"), .init("Set-Cookie", "a=1"),
          .init("set-cookie", "b=\"2\""), .init("X-Odd", "\u{FFFD}"), .init("X-Empty", ""),
        ], body: Array("zwölf\n".utf8), isTruncated: false, isEndKnown: false),
      error: nil)
    #expect(
      record.json.description
        == #"{"schema":"formstream.result/4","url":"https://example.com/in?a=\"1\"","#
        + #""method":"POST","status":201,"outcome":"ok","attempts":2,"redirects":1,"#
        + #""content_length":5000000000,"framing":"content-length","bytes_sent":5000000000,"#
        + #""wire_bytes":5000065536,"seconds":12.345679,"#
        + #""sha256":"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad","idempotency_key":"a \"key\"","#
        + #""bytes_received":7,"resumed_from":3,"stored_as":"a\#u{FFFD}","stored_as_b64":"Yf8=","#
        + #""stored_sha256":"\#(String(repeating: "ab", count: 32))","#
        + #""response":{"headers":[["Content-Type","text/plain"],["Set-Cookie","a=1"],"#
        + #"["set-cookie","b=\"2\""],["X-Odd","\#u{FFFD}"],["X-Empty",""]],"#
        + #""body":"zwölf\n","body_b64":null,"truncated":false,"end_known":false},"error":null}"#)
  }

  @Test func `a failure has the same keys as a success`() {
    #expect(
      refused.json.description
        == #"{"schema":"formstream.result/4","url":"http://[::1]:1/","method":"POST","status":null,"#
        + #""outcome":"retryable","attempts":3,"redirects":0,"content_length":null,"#
        + #""framing":"chunked","bytes_sent":0,"wire_bytes":0,"seconds":2.0,"sha256":null,"idempotency_key":null,"#
        + #""bytes_received":0,"resumed_from":null,"stored_as":null,"stored_as_b64":null,"stored_sha256":null,"#
        + #""response":null,"error":{"code":"refused","message":"Nobody listens at [::1]:1."}}"#)
  }

  @Test func `a response may have no headers and an empty body`() {
    var record = refused
    record.status = 500
    record.response = .init(headers: [], body: [], isTruncated: false, isEndKnown: true)
    let json = record.json.description
    #expect(json.contains(#""status":500,"#), "\(json)")
    #expect(
      json.contains(
        #""response":{"headers":[],"body":"","body_b64":null,"truncated":false,"end_known":true},"#),
      "\(json)")
  }

  @Test(
    arguments: [
      (nil, false, #""body":null,"body_b64":null,"truncated":false"#),
      ([0x61], true, #""body":"a","body_b64":null,"truncated":true"#),
      ([0x00, 0x1B], false, #""body":"\u0000\u001b","body_b64":null,"truncated":false"#),
      ([0xFF], false, #""body":null,"body_b64":"/w==","truncated":false"#),
      ([0x61, 0xC3], true, #""body":null,"body_b64":"YcM=","truncated":true"#),
    ] as [([UInt8]?, Bool, String)])
  func `a body is text if the kept bytes are UTF-8, and base 64 otherwise`(
    body: [UInt8]?, isTruncated: Bool, members: String
  ) {
    let response = ResultRecord.Response(
      headers: [], body: body, isTruncated: isTruncated, isEndKnown: true)
    #expect(response.json.description == #"{"headers":[],\#(members),"end_known":true}"#)
  }

  @Test func `each outcome and each framing has its raw value`() {
    #expect(
      ResultRecord.Outcome.allCases.map(\.rawValue)
        == ["ok", "failed", "retryable", "unknown", "source-changed", "cancelled"])
    #expect(
      ResultRecord.Framing.allCases.map(\.rawValue) == ["content-length", "chunked", "h2", "none"])
  }

  @Test(arguments: [Double.nan, .infinity, -.infinity])
  func `a time that is not finite is null`(seconds: Double) {
    var record = refused
    record.seconds = seconds
    #expect(record.json.description.contains(#""wire_bytes":0,"seconds":null,"sha256":null,"#))
  }
}
