import FormStreamDigest
import FormStreamMultipart
import FormStreamRecords
import FormStreamTransfer

extension ResultRecord {
  /// - Parameters:
  ///   - received: how many bytes of the response's body arrived.
  ///   - stored: the file that the response became.
  ///   - includesBody: whether the result holds the response's body.
  ///   - outputFailure: why the response is not where it should be.
  ///   - report: what else the record depends on.
  init(
    _ result: TransferResult, received: Int64, stored: StoredResponse?, includesBody: Bool,
    outputFailure: Failure?, _ report: ResultReport
  ) {
    var error = result.error.map {
      RecordFailure(
        code: $0.code.rawValue, message: report.naming($0.sentence(socket: report.socket)))
    }
    if error == nil, let outputFailure {
      error = RecordFailure(code: outputFailure.code.rawValue, message: outputFailure.message)
    }
    var outcome = Outcome(rawValue: result.outcome.rawValue) ?? .failed
    // A request that only reads has no success without its response.
    if outcome == .ok, outputFailure != nil, result.method == .get { outcome = .failed }
    let (seconds, attoseconds) = result.duration.components
    self.init(
      url: result.url.description, method: result.method.description, status: result.status,
      outcome: outcome, attempts: result.attempts,
      redirects: result.redirects, contentLength: result.contentLength,
      framing: Framing(rawValue: result.framing.rawValue) ?? .noBody, bytesSent: result.bytesSent,
      wireBytes: result.wireBytes, seconds: Double(seconds) + Double(attoseconds) / 1e18,
      sha256: result.sha256.flatMap(SHA256.Digest.init(hexadecimal:)),
      idempotencyKey: result.idempotencyKey?.value, bytesReceived: received,
      resumedFrom: stored?.resumedFrom, storedAs: stored?.path,
      storedSHA256: stored?.sha256.flatMap(SHA256.Digest.init(hexadecimal:)),
      response: result.response.map {
        Response(
          $0, to: result.method, includesBody: includesBody,
          showsSetCookie: report.showsSetCookie)
      }, error: error)
  }
}

extension ResultRecord.Response {
  fileprivate init(
    _ response: TransferResponse, to method: HTTPMethod, includesBody: Bool, showsSetCookie: Bool
  ) {
    self.init(
      // Records are stored and shared, so secrets are masked.
      headers: response.headers.shown(at: response.url, showsSetCookie: showsSetCookie)
        .map(RecordHeader.init),
      body: includesBody ? Array(response.body) : nil, isTruncated: response.isTruncated,
      isEndKnown: method == .head || !response.hasUnknownEnd)
  }
}
