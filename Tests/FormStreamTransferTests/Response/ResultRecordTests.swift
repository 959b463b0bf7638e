import Foundation
import FormStreamJSON
import FormStreamMultipart
@testable import FormStreamHTTP
import Testing

@Suite struct ResultRecordTests {
  private func result(
    _ url: String, _ method: HTTPMethod = .post, _ response: TransferResponse? = nil,
    attempts: Int = 3, contentLength: Int64? = nil,
    framing: TransferResult.Framing = .chunked, bytesSent: Int64 = 0, totalBytesSent: Int64 = 0,
    duration: Duration = .nanoseconds(2_000_000_400), sha256: SHA256Digest? = nil,
    key: IdempotencyKey? = nil
  ) throws -> TransferResult {
    TransferResult(
      url: try HTTPURL(url), method: method, outcome: response == nil ? .retryable : .ok,
      response: response, idempotencyKey: key, attempts: attempts, redirects: 1,
      contentLength: contentLength, framing: framing, bytesSent: bytesSent,
      totalBytesSent: totalBytesSent,
      duration: duration, sha256: sha256, isServerVerified: nil, metrics: nil,
      newConnections: 0, error: nil)
  }

  private func response(
    _ headers: HTTPHeaders, _ body: [UInt8] = [], isTruncated: Bool = false, version: String = "2"
  ) throws -> TransferResponse {
    TransferResponse(
      status: 201, version: version, url: try HTTPURL("http://h/"), headers: headers,
      body: body, isTruncated: isTruncated)
  }

  @Test func `a success at the second attempt has all members`() throws {
    let headers: HTTPHeaders = [
      "Content-Type": "text/plain", "Set-Cookie": "a=1", "set-cookie": "b=\"2\"",
      "X-Odd": "\u{FFFD}", "X-Empty": "",
    ]
    let result = try result(
      "https://example.com/in?a=1", .post, response(headers, Array("zwölf\n".utf8)), attempts: 2,
      contentLength: 5_000_000_000, framing: .contentLength, bytesSent: 5_000_000_000,
      totalBytesSent: 5_000_065_536, duration: .nanoseconds(12_345_678_900),
      sha256: SHA256Digest(String(repeating: "ba", count: 32)), key: IdempotencyKey("key"))
    let record = result.record(
      at: RequestPlace(index: 7, list: "urls", line: 9), outcome: .ok, received: 7,
      stored: .init(
        path: LocalPath(bytes: [0x61, 0xFF]),
        sha256: SHA256Digest(String(repeating: "ab", count: 32)),
        resumedFrom: 3),
      includesBody: true, showsSetCookie: false, error: nil)
    #expect(
      record.description
        == #"{"schema":"formstream.result/5","index":7,"list":"urls","line":9,"#
        + #""url":"https://example.com/in?a=1","#
        + #""method":"POST","status":201,"outcome":"ok","attempts":2,"redirects":1,"#
        + #""content_length":5000000000,"framing":"content-length","bytes_sent":5000000000,"#
        + #""wire_bytes":5000065536,"seconds":12.345679,"#
        + #""sha256":"\#(String(repeating: "ba", count: 32))","idempotency_key":"key","#
        + #""bytes_received":7,"resumed_from":3,"stored_as":"a\#u{FFFD}","stored_as_b64":"Yf8=","#
        + #""stored_sha256":"\#(String(repeating: "ab", count: 32))","#
        + #""response":{"headers":[["Content-Type","text/plain"],["Set-Cookie","***"],"#
        + #"["set-cookie","***"],["X-Odd","\#u{FFFD}"],["X-Empty",""]],"#
        + #""body":"zwölf\n","body_b64":null,"truncated":false,"end_known":true},"error":null}"#)
  }

  @Test func `a failure has the same keys as a success`() throws {
    let record = try result("http://[::1]:1/").record(
      at: RequestPlace(index: 0), outcome: .retryable, received: 0, stored: nil, includesBody: true, showsSetCookie: false,
      error: .failure(code: "refused", "Nobody listens at [::1]:1."))
    #expect(
      record.description
        == #"{"schema":"formstream.result/5","index":0,"list":null,"line":null,"url":"http://[::1]:1/","#
        + #""method":"POST","status":null,"#
        + #""outcome":"retryable","attempts":3,"redirects":1,"content_length":null,"#
        + #""framing":"chunked","bytes_sent":0,"wire_bytes":0,"seconds":2.0,"sha256":null,"idempotency_key":null,"#
        + #""bytes_received":0,"resumed_from":null,"stored_as":null,"stored_as_b64":null,"stored_sha256":null,"#
        + #""response":null,"error":{"code":"refused","message":"Nobody listens at [::1]:1."}}"#)
    let unsent = RequestPlace(index: 3, list: "urls", line: 4).recordOfUnsent(
      url: nil, method: .get, outcome: "failed", error: .failure(code: "invalid-url", "No URL."))
    #expect(
      unsent.description
        == #"{"schema":"formstream.result/5","index":3,"list":"urls","line":4,"url":null,"method":"GET","status":null,"#
        + #""outcome":"failed","attempts":0,"redirects":0,"content_length":null,"framing":"none","#
        + #""bytes_sent":0,"wire_bytes":0,"seconds":0.0,"sha256":null,"idempotency_key":null,"#
        + #""bytes_received":0,"resumed_from":null,"stored_as":null,"stored_as_b64":null,"stored_sha256":null,"#
        + #""response":null,"error":{"code":"invalid-url","message":"No URL."}}"#)
  }

  @Test(
    arguments: [
      (nil, false, #""body":null,"body_b64":null,"truncated":false"#),
      ([], false, #""body":"","body_b64":null,"truncated":false"#),
      ([0x61], true, #""body":"a","body_b64":null,"truncated":true"#),
      ([0x00, 0x1B], false, #""body":"\u0000\u001b","body_b64":null,"truncated":false"#),
      ([0xFF], false, #""body":null,"body_b64":"/w==","truncated":false"#),
      ([0x61, 0xC3], true, #""body":null,"body_b64":"YcM=","truncated":true"#),
    ] as [([UInt8]?, Bool, String)])
  func `a body is text if the kept bytes are UTF-8, and base 64 otherwise`(
    body: [UInt8]?, isTruncated: Bool, members: String
  ) throws {
    let record = try result("http://h/", .post, response([:], body ?? [], isTruncated: isTruncated))
      .record(
        at: RequestPlace(index: 0), outcome: .ok, received: 0, stored: nil, includesBody: body != nil, showsSetCookie: false,
        error: nil)
    #expect(
      record["response"]?.description == #"{"headers":[],\#(members),"end_known":true}"#)
  }

  @Test func `the end of a body is known, unless the end of the connection is its end`() throws {
    let old = try response([:], version: "1.0")
    for (method, isKnown) in [(HTTPMethod.post, false), (.head, true)] {
      let record = try result("http://h/", method, old).record(
        at: RequestPlace(index: 0), outcome: .ok, received: 0, stored: nil, includesBody: true, showsSetCookie: true,
        error: nil)
      #expect(record["response"]?["end_known"] == .boolean(isKnown))
    }
  }

  @Test func `each outcome and each framing has its raw value`() {
    #expect(
      TransferResult.Outcome.allCases.map(\.rawValue)
        == ["ok", "failed", "retryable", "unknown", "source-changed", "cancelled"])
    let framings: [TransferResult.Framing] = [.contentLength, .chunked, .http2, .noBody]
    #expect(framings.map(\.rawValue) == ["content-length", "chunked", "h2", "none"])
  }
}
