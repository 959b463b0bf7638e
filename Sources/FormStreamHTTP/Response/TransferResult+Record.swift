package import FormStreamJSON
package import FormStreamMultipart

extension TransferResult {
  /// A file that the response became.
  package struct StoredResponse {
    package var path: LocalPath
    /// The digest of the written bytes; nil if it was not computed.
    package var sha256: SHA256Digest?
    /// How many bytes of the file an earlier run had left.
    package var resumedFrom: Int64

    package init(path: LocalPath, sha256: SHA256Digest? = nil, resumedFrom: Int64 = 0) {
      (self.path, self.sha256, self.resumedFrom) = (path, sha256, resumedFrom)
    }
  }

  /// The record of the request: `formstream.result/4`. A failure has the same members as a success.
  ///
  /// - Parameters:
  ///   - outcome: the outcome of the request, as the caller judges it.
  ///   - received: how many bytes of the response's body arrived.
  ///   - stored: the file that the response became; nil if it became none.
  ///   - includesBody: whether the record has the response's body.
  ///   - showsSetCookie: whether the record has the values of `Set-Cookie`, which are secrets otherwise.
  ///   - error: why the outcome is not `ok`; null if it is.
  package func record(
    outcome: Outcome, received: Int64, stored: StoredResponse?, includesBody: Bool,
    showsSetCookie: Bool, error: JSONValue
  ) -> JSONValue {
    let storedPath = JSONValue.path(stored?.path)
    return [
      "schema": "formstream.result/4",
      "url": .string(url.description),
      "method": .string(method.description),
      "status": .integer(orNull: status.map(Int64.init)),
      "outcome": .string(outcome.rawValue),
      "attempts": .integer(Int64(attempts)),
      "redirects": .integer(Int64(redirects)),
      "content_length": .integer(orNull: contentLength),
      "framing": .string(framing.rawValue),
      "bytes_sent": .integer(bytesSent),
      "wire_bytes": .integer(totalBytesSent),
      "seconds": .fraction(rounding: duration / .seconds(1)),
      "sha256": .string(orNull: sha256?.description),
      "idempotency_key": .string(orNull: idempotencyKey?.value),
      "bytes_received": .integer(received),
      "resumed_from": .integer(orNull: stored?.resumedFrom),
      "stored_as": storedPath.text,
      "stored_as_b64": storedPath.base64,
      "stored_sha256": .string(orNull: stored?.sha256?.description),
      "response": response?.record(to: method, includesBody, showsSetCookie) ?? .null,
      "error": error,
    ]
  }
}

extension TransferResponse {
  fileprivate func record(
    to method: HTTPMethod, _ includesBody: Bool, _ showsSetCookie: Bool
  ) -> JSONValue {
    // Text that was cut inside a character is not UTF-8, and is written in base 64.
    let body = JSONValue.textOrBase64(includesBody ? Array(body) : nil)
    return [
      // Records are stored and shared, so secrets are masked.
      "headers": .pairs(
        headers.shown(at: url, showsSetCookie: showsSetCookie).map { ($0.name, $0.value) }),
      "body": body.text,
      "body_b64": body.base64,
      "truncated": .boolean(isTruncated),
      // RFC 9112 §6.3: a response to HEAD ends with its head.
      "end_known": .boolean(method == .head || !hasUnknownEnd),
    ]
  }
}
