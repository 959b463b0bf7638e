import FormStreamMultipart
import FormStreamPlatform

/// Passes the response to one request of a download to the partial file, if it is the response that was asked for.
///
/// Functions that may block are called on a worker thread, one after the other.
final class DownloadSink: Sendable {
  /// What has become of the response.
  enum State: Sendable {
    /// No head of a response that could be stored has arrived.
    case waiting
    /// The response's bytes go to the partial file.
    ///
    /// - Parameter end: the size that the partial file has at the end of the response; nil if it isn't known.
    case storing(end: Int64?)
    /// The response doesn't continue the partial file, for this reason. The complete file must be requested.
    case mismatched(String)
    /// The response was not received, because an earlier download has left its beginning: the rest must be requested.
    case begunBefore
    /// There is nothing to store: the server says that the file has not changed (304).
    case unchanged
    case failed(TransferError)
  }

  let demand: ResumableFile.Demand
  private let partial: ResumableFile
  /// The most bytes that the file may have; nil for any number.
  private let limit: Int64?
  private let contents = Guarded((state: State.waiting, received: Int64(0)))

  init(_ partial: ResumableFile, limit: Int64?) {
    (self.partial, self.limit) = (partial, limit)
    demand = partial.demand
  }

  var state: State { contents.withLock(\.state) }
  /// How many bytes of the response were stored.
  var received: Int64 { contents.withLock(\.received) }

  /// Prepares the partial file for a response. If the preparation fails, storing the response's first bytes fails.
  func open(_ head: TransferResponse) {
    do {
      // The request's own limit applies to the response, which may have only a part of the file.
      if head.status == 206, let limit, let range = ContentRange(head.headers),
        max(range.total ?? 0, range.bytes?.upperBound ?? 0) > limit
      {
        throw TransferError.responseTooLarge(head.url, limit)
      }
      let state: State =
        try head.status == 304 ? .unchanged : partial.begin(head, to: demand, for: self)
      contents.withLock { $0.state = state }
    } catch {
      fail(error)
    }
  }

  func write(_ bytes: UnsafeRawBufferPointer) throws {
    let state = state
    guard case .storing(let end) = state else { throw Refusal() }
    if let end, end - partial.size < Int64(bytes.count) {
      contents.withLock { $0.state = .mismatched("the response has more bytes than it announces") }
      throw Refusal()
    }
    do {
      try partial.append(bytes, from: self)
      contents.withLock { $0.received += Int64(bytes.count) }
    } catch {
      fail(error)
      throw Refusal()
    }
  }

  func finish(isComplete: Bool) throws {
    guard isComplete else { return }
    switch state {
    case .storing, .unchanged: break
    case .waiting, .mismatched, .begunBefore, .failed: throw Refusal()
    }
  }

  private func fail(_ error: any Error) {
    let failure =
      error as? TransferError
      ?? .downloadNotStored(partial.partialFile ?? partial.destination, from: partial.url, error)
    contents.withLock { $0.state = .failed(failure) }
  }

  /// Ends the response; ``state`` says why.
  private struct Refusal: Error {}
}

extension TransferResponse {
  /// The length that the head announces for the body; nil if it announces none.
  var announcedLength: Int64? {
    if status == 204 || status == 304 { return 0 }
    // RFC 9112 §6.3: Transfer-Encoding overrides Content-Length. "identity" is no transfer coding.
    return isChunked ? nil : headers["Content-Length"].flatMap { Int64($0) }
  }

  private var isChunked: Bool {
    headers.joined("Transfer-Encoding")?.lowercased() == "chunked"
  }

  /// Whether only the end of an unencrypted connection shows the end of the body (RFC 9112 §6.3). A broken connection looks the
  /// same. A response with a part of a resource says how many bytes it has (RFC 9110 §14.4).
  package var hasUnknownEnd: Bool {
    url.origin.scheme == "http" && version.hasPrefix("1.") && status != 204 && status != 304
      && !headers.contains("Content-Length") && !isChunked
      && !(status == 206 && ContentRange(headers)?.bytes != nil)
  }
}
