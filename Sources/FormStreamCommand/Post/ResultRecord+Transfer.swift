import FormStreamDigest
import FormStreamMultipart
import FormStreamRecords
import FormStreamTransfer

extension ResultRecord {
  /// - Parameters:
  ///   - keepsBody: whether the answer's body is in the result.
  ///   - storing: why the answer could not be stored, where that came out at the end.
  ///   - socket: the one that all went to, where it was one.
  init(_ result: TransferResult, keepsBody: Bool, storing: Failure?, socket: LocalPath?) {
    var error = result.error.map {
      RecordFailure(code: $0.code.rawValue, message: $0.sentence(socket: socket))
    }
    if error == nil, let storing {
      error = RecordFailure(
        code: TransferError.Code.responseNotStored.rawValue, message: storing.message)
    }
    let (seconds, attoseconds) = result.duration.components
    self.init(
      url: result.url.description, method: result.method.description, status: result.status,
      outcome: Outcome(rawValue: result.outcome.rawValue) ?? .failed, attempts: result.attempts,
      redirects: result.redirects, contentLength: result.contentLength,
      framing: Framing(rawValue: result.framing.rawValue) ?? .noBody, bytesSent: result.bytesSent,
      wireBytes: result.wireBytes, seconds: Double(seconds) + Double(attoseconds) / 1e18,
      sha256: result.sha256.flatMap(SHA256.Digest.init(hexadecimal:)),
      response: result.response.map { Response($0, keepsBody: keepsBody) }, error: error)
  }
}

extension ResultRecord.Response {
  fileprivate init(_ response: TransferResponse, keepsBody: Bool) {
    self.init(
      // A record is kept, and shown to others.
      headers: response.headers.fields.map {
        RecordHeader($0.name, $0.isSecret ? "***" : $0.value)
      },
      body: keepsBody ? Array(response.body) : nil, isTruncated: response.isTruncated)
  }
}
