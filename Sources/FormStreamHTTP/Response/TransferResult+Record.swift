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

  /// The record of the request: `formstream.result/5`. A failure has the same members as a success.
  ///
  /// - Parameters:
  ///   - place: which request of the command it is.
  ///   - outcome: the outcome of the request, as the caller judges it.
  ///   - received: how many bytes of the response's body arrived.
  ///   - stored: the file that the response became; nil if it became none.
  ///   - includesBody: whether the record has the response's body.
  ///   - showsSetCookie: whether the record has the values of `Set-Cookie`, which are secrets otherwise.
  ///   - error: why the outcome is not `ok`; null if it is.
  package func record(
    at place: RequestPlace, outcome: Outcome, received: Int64, stored: StoredResponse?, includesBody: Bool,
    showsSetCookie: Bool, error: JSONValue
  ) -> JSONValue {
    requestRecord(
      at: place, url: url, method, self, outcome: outcome.rawValue, received: received, stored: stored,
      response: response?.record(to: method, includesBody, showsSetCookie), error: error)
  }
}

/// Which request of a command a record is about.
package struct RequestPlace: Sendable {
  /// The number of the request in the command, from 0.
  package var index: Int
  /// The list that the URL is from; nil if it is from none.
  package var list: String?
  /// The number of the line in its list, from 1.
  package var line: Int?

  package init(index: Int, list: String? = nil, line: Int? = nil) {
    (self.index, self.list, self.line) = (index, list, line)
  }

  /// The record of a request that was not sent. It has the members of every record of a request.
  ///
  /// - Parameters:
  ///   - url: nil if the line is no URL.
  ///   - outcome: why there was no request: `failed`, or `skipped`.
  package func recordOfUnsent(
    url: HTTPURL?, method: HTTPMethod, outcome: String, error: JSONValue
  ) -> JSONValue {
    requestRecord(
      at: self, url: url, method, nil, outcome: outcome, received: 0, stored: nil, response: nil,
      error: error)
  }
}

/// - Parameter result: nil if the request was not sent.
private func requestRecord(
  at place: RequestPlace, url: HTTPURL?, _ method: HTTPMethod, _ result: TransferResult?,
  outcome: String, received: Int64, stored: TransferResult.StoredResponse?, response: JSONValue?,
  error: JSONValue
) -> JSONValue {
  let storedPath = JSONValue.path(stored?.path)
  return [
    "schema": "formstream.result/5",
    "index": .integer(Int64(place.index)),
    "list": .string(orNull: place.list),
    "line": .integer(orNull: place.line.map(Int64.init)),
    "url": .string(orNull: url?.description),
    "method": .string(method.description),
    "status": .integer(orNull: result?.status.map(Int64.init)),
    "outcome": .string(outcome),
    "attempts": .integer(Int64(result?.attempts ?? 0)),
    "redirects": .integer(Int64(result?.redirects ?? 0)),
    "content_length": .integer(orNull: result?.contentLength),
    "framing": .string((result?.framing ?? .noBody).rawValue),
    "bytes_sent": .integer(result?.bytesSent ?? 0),
    "wire_bytes": .integer(result?.totalBytesSent ?? 0),
    "seconds": .fraction(rounding: result.map { $0.duration / .seconds(1) } ?? 0),
    "sha256": .string(orNull: result?.sha256?.description),
    "idempotency_key": .string(orNull: result?.idempotencyKey?.value),
    "bytes_received": .integer(received),
    "resumed_from": .integer(orNull: stored?.resumedFrom),
    "stored_as": storedPath.text,
    "stored_as_b64": storedPath.base64,
    "stored_sha256": .string(orNull: stored?.sha256?.description),
    "response": response ?? .null,
    "error": error,
  ]
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
