public import FormStreamMultipart
import FormStreamPlatform

/// A response whose head has arrived, and whose body is read as it arrives; see ``TransferSession/open(_:progress:)``.
///
/// A body that is not read makes the server wait: up to half a megabyte is received, and no more. Until its end, the
/// response counts as a connection to its host; see ``TransferSession/Configuration/maximumConnectionsPerHost``. When
/// this value and its body are released before the end of the response, the request is cancelled.
public struct OpenResponse: Sendable {
  /// The status, such as 200.
  public let status: Int
  /// The HTTP version of the response, such as `1.1` or `2`.
  public let version: String
  /// The URL that the response came from, after all redirects.
  public let url: HTTPURL
  /// The headers.
  public let headers: HTTPHeaders
  /// The body. It can be read once.
  public let body: ResponseBody

  init(_ head: TransferResponse, _ reading: ResponseReading) {
    (status, version, url, headers) = (head.status, head.version, head.url, head.headers)
    body = ResponseBody(reading: reading)
  }

  /// The task of the request: pauses and cancels the request, and has its progress.
  public var task: TransferTask<TransferResult> { body.reading.task }

  /// The result of the request, after the response has ended. Reading this value waits until the body is read, or the request
  /// is cancelled. If the waiting task is cancelled, so is the request.
  public var result: TransferResult {
    get async { await task.result }
  }

  /// Whether the status is a success: one of ``TransferOptions/acceptedStatuses``.
  public var isAccepted: Bool { body.reading.options.accepts(status) }

  /// This response, if its status is a success.
  ///
  /// - Throws: `statusRefused` if the status is no success, with the response and up to 1 MiB of its body in
  ///   ``TransferError/response``. `CancellationError` if the task is cancelled.
  public func accepted() async throws -> OpenResponse {
    if isAccepted { return self }
    let limit = ResponseTarget.defaultLimit
    var bytes: [UInt8] = []
    var isTruncated = false
    do {
      for try await chunk in body {
        isTruncated = chunk.count > limit - bytes.count
        bytes.append(contentsOf: chunk.prefix(limit - bytes.count))
        if isTruncated { break }
      }
    } catch is TransferError {
      // The status says more than the missing end of the body, which only explains it.
      isTruncated = true
    }
    task.cancel()
    // The server has refused the request, whether or not the rest of the response is read.
    let outcome = await body.reading.outcomeOfHead
    throw TransferError.statusRefused(url, status)
      .ending(as: outcome, response(with: bytes, isTruncated: isTruncated))
  }

  /// The complete body.
  ///
  /// - Throws: `responseTooLarge` if it has more than `limit` bytes; the request is then cancelled. Also the errors that
  ///   reading the body throws.
  public func collect(upTo limit: Int = ResponseTarget.defaultLimit) async throws -> [UInt8] {
    var bytes: [UInt8] = []
    for try await chunk in body {
      guard chunk.count <= limit - bytes.count else {
        task.cancel()
        throw TransferError.responseTooLarge(url, toCollect: limit)
          .ending(as: await outcomeWithoutRest, response(with: bytes, isTruncated: true))
      }
      bytes.append(contentsOf: chunk)
    }
    return bytes
  }

  /// The complete body as text, with malformed UTF-8 replaced.
  ///
  /// - Throws: as ``collect(upTo:)``.
  public func text(upTo limit: Int = ResponseTarget.defaultLimit) async throws -> String {
    String(decoding: try await collect(upTo: limit), as: UTF8.self)
  }

  /// The outcome after reading was given up. The head's meaning stays the same, but only the result shows whether the request's
  /// body was sent completely.
  private var outcomeWithoutRest: TransferResult.Outcome {
    get async {
      let outcome = await result.outcome
      return isAccepted && task.request.body != nil ? outcome : await body.reading.outcomeOfHead
    }
  }

  package func response(with body: [UInt8], isTruncated: Bool) -> TransferResponse {
    TransferResponse(
      status: status, version: version, url: url, headers: headers, body: body,
      isTruncated: isTruncated, tag: task.request.tag)
  }
}
