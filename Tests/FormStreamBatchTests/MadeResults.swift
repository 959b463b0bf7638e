import FormStreamMultipart

@testable import FormStreamHTTP

/// A response as a server could have sent it.
func makeResponse(
  _ status: Int, _ body: String, isTruncated: Bool = false
) throws -> TransferResponse {
  TransferResponse(
    status: status, version: "1.1", url: try HTTPURL("http://example.org/"), headers: [:],
    body: Array(body.utf8), isTruncated: isTruncated)
}

/// A result of one request, whose error is a refusal if none is named.
func makeResult(
  _ outcome: TransferResult.Outcome, key: IdempotencyKey? = nil, error: TransferError? = nil,
  body: String = "", length: Int64? = nil, sent: Int64 = 0, mayBeSentAgain: Bool = false,
  mayBeCarriedOut: Bool = false
) throws -> TransferResult {
  let url = try HTTPURL("http://example.org/")
  let refusal = TransferError(.statusRefused, on: "http://example.org/", "It was refused.")
  var result = TransferResult(
    url: url, method: .post, outcome: outcome,
    response: try makeResponse(outcome == .ok ? 200 : 503, body), idempotencyKey: key, attempts: 1,
    redirects: 0, contentLength: length, framing: .contentLength, bytesSent: sent,
    totalBytesSent: sent,
    duration: .zero, sha256: nil, isServerVerified: nil, metrics: nil, newConnections: 1,
    error: outcome == .ok ? nil : error ?? refusal)
  (result.mayBeSentAgain, result.mayBeCarriedOut) = (mayBeSentAgain, mayBeCarriedOut)
  return result
}
