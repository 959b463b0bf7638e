import FormStreamMultipart
import FormStreamDigest
import FormStreamPlatform
import FormStreamHTTP

/// The requirements for a response besides its status. One thread at a time passes all written bytes to it.
final class ExpectedResponse: @unchecked Sendable {
  private let expectedDigest: SHA256Digest?
  private let range: RequestedRange?
  /// Whether the range is the rest of a file that the user has in part (`-C N`). Only this rest may be written.
  let isRest: Bool
  /// Whether a refusal can mean that there is no rest. With `-f`, a refusal is always a failure.
  private let looksAtRefusals: Bool
  /// The digest of the bytes written so far; nil if no digest is expected, or if it is finished.
  private var running: SHA256?
  /// The digest of all written bytes; nil before it is finished, or if no digest is expected.
  private(set) var digest: SHA256Digest?
  /// How many bytes were written.
  private var written: Int64 = 0

  init(
    expectedDigest: SHA256Digest?, range: RequestedRange?, isRest: Bool = false,
    hidesRefused: Bool = false
  ) throws(Failure) {
    (self.expectedDigest, self.range, self.isRest) = (expectedDigest, range, isRest)
    looksAtRefusals = !hidesRefused
    guard expectedDigest != nil else { return }
    do throws(DigestError) { running = try SHA256() } catch { throw Self.failure(error) }
  }

  /// Whether only some bytes were asked for.
  var hasRange: Bool { range != nil }

  /// Whether a response says that the resource ends where the rest would begin, so that there is no rest.
  ///
  /// RFC 9110 §15.5.17: a 416 "SHOULD" have a `Content-Range` with the length. Some servers send the complete resource
  /// in place of a 416.
  func isEmptyRest(_ response: TransferResponse) -> Bool {
    guard isRest, expectedDigest == nil, case .from(let first, _)? = range, first > 0 else {
      return false
    }
    switch response.status {
    case 416 where looksAtRefusals:
      return ContentRange(response.headers).map { $0.bytes == nil && $0.total == first } ?? false
    case 200:
      return !response.headers.contains("Content-Encoding")
        && !response.headers.contains("Transfer-Encoding")
        && response.headers["Content-Length"].flatMap { Int64($0) } == first
    default: return false
    }
  }

  /// Adds the next bytes that are written.
  func update(_ bytes: UnsafeRawBufferPointer) throws(Failure) {
    written += Int64(bytes.count)
    do throws(DigestError) { try running?.update(bytes) } catch { throw Self.failure(error) }
  }

  /// Checks a complete response whose status is a success, after its complete body was written.
  func check(_ response: TransferResponse) throws(Failure) {
    try checkRange(of: response, written)
    try checkDigest(of: response)
  }

  private func checkDigest(of response: TransferResponse) throws(Failure) {
    guard let expectedDigest, let running = running.take() else { return }
    do throws(DigestError) { digest = try running.finalize() } catch { throw Self.failure(error) }
    guard digest != expectedDigest else { return }
    throw Failure(
      .failed,
      "The response from \(response.url) has the SHA-256 \(digest?.description ?? ""), and not that of --sha256: "
        + "it is not the expected file, or was changed on the way.",
      code: .digestMismatch)
  }

  /// - Parameter count: how many bytes the body has.
  private func checkRange(of response: TransferResponse, _ count: Int64) throws(Failure) {
    guard let range, response.status == 206 else { return }
    // Several ranges are printed as the server sends them, in parts.
    if response.headers.isOfSeveralRanges {
      if range.isSeveral { return }
      throw Failure(
        .failed,
        "The server at \(response.url) sent the range in parts (multipart/byteranges), which is only for several ranges.",
        code: .malformedResponse)
    }
    let header = "Content-Range: \((response.headers["Content-Range"] ?? "").quoted)"
    guard let content = ContentRange(response.headers), let bytes = content.bytes,
      range.isAnswered(by: bytes, of: content.total)
    else {
      throw Failure(
        .failed,
        "The server at \(response.url) sent other bytes than it was asked for (\(header)).",
        code: .malformedResponse)
    }
    // A response without a length ends with the connection, which may be too early.
    guard count == bytes.upperBound - bytes.lowerBound else {
      throw Failure(
        .failed,
        "The server at \(response.url) sent \(counted(count, "byte", "bytes")) in place of those that it announced (\(header)).",
        code: .malformedResponse)
    }
  }

  /// Checks a response whose body was kept.
  ///
  /// - Parameter received: how many bytes the body has. The response keeps at most as many as --max-response allows.
  func check(kept response: TransferResponse, received: Int64) throws(Failure) {
    try checkRange(of: response, received)
    if expectedDigest != nil {
      guard !response.isTruncated else {
        throw Failure(
          .failed,
          "The response from \(response.url) has more bytes than --max-response keeps, so its digest can't be "
            + "checked: store it with -o.", code: .responseTooLarge)
      }
      try update(Array(response.body))
    }
    try checkDigest(of: response)
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
