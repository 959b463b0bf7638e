import FormStreamDigest
import FormStreamMultipart
import FormStreamRecords
import FormStreamTransfer

extension ResultRecord {
  /// - Parameters:
  ///   - includesBody: whether the result holds the response's body.
  ///   - storageFailure: why the response could not be stored at the end.
  ///   - socket: the socket of `--unix-socket`.
  init(
    _ result: TransferResult, includesBody: Bool, storageFailure: Failure?, socket: LocalPath?
  ) {
    var error = result.error.map {
      RecordFailure(code: $0.code.rawValue, message: $0.sentence(socket: socket))
    }
    if error == nil, let storageFailure {
      error = RecordFailure(
        code: TransferError.Code.responseNotStored.rawValue, message: storageFailure.message)
    }
    let (seconds, attoseconds) = result.duration.components
    self.init(
      url: result.url.description, method: result.method.description, status: result.status,
      outcome: Outcome(rawValue: result.outcome.rawValue) ?? .failed, attempts: result.attempts,
      redirects: result.redirects, contentLength: result.contentLength,
      framing: Framing(rawValue: result.framing.rawValue) ?? .noBody, bytesSent: result.bytesSent,
      wireBytes: result.wireBytes, seconds: Double(seconds) + Double(attoseconds) / 1e18,
      sha256: result.sha256.flatMap(SHA256.Digest.init(hexadecimal:)),
      idempotencyKey: result.idempotencyKey?.value,
      response: result.response.map { Response($0, includesBody: includesBody) }, error: error)
  }
}

extension ResultRecord.Response {
  fileprivate init(_ response: TransferResponse, includesBody: Bool) {
    self.init(
      // Records are stored and shared, so secrets are masked.
      headers: response.headers.shown(at: response.url).map(RecordHeader.init),
      body: includesBody ? Array(response.body) : nil, isTruncated: response.isTruncated)
  }
}
