import FormStreamDigest
import FormStreamPlatform
import FormStreamTransfer

/// What a response must be beyond its status. It sees what is written, from one thread at a time.
final class ExpectedResponse: @unchecked Sendable {
  private let expectedDigest: SHA256.Digest?
  private let range: RequestedRange?
  /// The digest of what was written so far; nil if none is expected, or if it is finished.
  private var running: SHA256?
  /// The digest of all that was written; nil before its end, or if none is expected.
  private(set) var digest: SHA256.Digest?

  init(expectedDigest: SHA256.Digest?, range: RequestedRange?) throws(Failure) {
    (self.expectedDigest, self.range) = (expectedDigest, range)
    guard expectedDigest != nil else { return }
    do throws(DigestError) { running = try SHA256() } catch { throw Self.failure(error) }
  }

  /// Whether only some bytes were asked for.
  var hasRange: Bool { range != nil }

  /// Adds the next bytes that are written.
  func update(_ bytes: UnsafeRawBufferPointer) throws(Failure) {
    do throws(DigestError) { try running?.update(bytes) } catch { throw Self.failure(error) }
  }

  /// Checks a complete response whose status is a success.
  func check(_ response: TransferResponse) throws(Failure) {
    let contentRange = response.headers["Content-Range"]
    if let range, response.status == 206, contentRange.map(range.isAnswered) != true {
      throw Failure(
        .failed,
        "The server at \(response.url) sent other bytes than those of --range (Content-Range: "
          + "\((contentRange ?? "").quoted)).", code: .malformedResponse)
    }
    guard let expectedDigest, let running = running.take() else { return }
    do throws(DigestError) { digest = try running.finalize() } catch { throw Self.failure(error) }
    guard digest != expectedDigest else { return }
    throw Failure(
      .failed,
      "The response from \(response.url) has the SHA-256 \(digest?.description ?? ""), and not that of --sha256: "
        + "it is not the expected file, or was changed on the way.",
      code: .digestMismatch)
  }

  /// The same for a response whose body was kept.
  func check(kept response: TransferResponse) throws(Failure) {
    if expectedDigest != nil {
      guard !response.isTruncated else {
        throw Failure(
          .failed,
          "The response from \(response.url) has more bytes than --max-response keeps, so its digest can't be "
            + "checked: store it with -o.", code: .responseTooLarge)
      }
      try update(Array(response.body))
    }
    try check(response)
  }

  private func update(_ bytes: [UInt8]) throws(Failure) {
    var failure: Failure?
    bytes.withUnsafeBytes { bytes in
      do throws(Failure) { try update(bytes) } catch { failure = error }
    }
    if let failure { throw failure }
  }

  private static func failure(_ error: DigestError) -> Failure {
    Failure(.inputOutput, error.description, code: .engineFailed)
  }
}
