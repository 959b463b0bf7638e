import FormStreamPlatform

/// The body of a response, in chunks of any size, as they arrive.
///
/// A body that ends without an error is complete. Otherwise, reading throws a ``TransferError`` after the bytes that arrived.
/// Reading also throws if the body is complete and the status is a success, but the request has not succeeded. If the task that
/// reads is cancelled, the request is cancelled. If the request was cancelled, reading throws `CancellationError`.
public struct ResponseBody: AsyncSequence, Sendable {
  let reading: ResponseReading

  /// Continues where reading has stopped: the body can be read only once.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(reading: reading) }

  /// The lines of the body, as they arrive, each of at most 1 MiB. See ``lines(upTo:)``.
  public var lines: ResponseLines { lines(upTo: ResponseTarget.defaultLimit) }

  /// The lines of the body, as they arrive, without their LF or CRLF. Malformed UTF-8 is replaced.
  ///
  /// - Parameter limit: the maximum number of bytes in a line. A longer line is an error, `responseTooLarge`.
  public func lines(upTo limit: Int) -> ResponseLines { ResponseLines(body: self, limit: limit) }

  /// Waits for the chunks.
  public struct AsyncIterator: AsyncIteratorProtocol {
    let reading: ResponseReading

    /// The next chunk, with at least one byte; nil after the last chunk. The call stays on the caller's actor, except to
    /// decompress.
    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async throws -> [UInt8]? {
      try await reading.next(isolation: actor)
    }
  }
}

/// The lines of a response's body; see ``ResponseBody/lines(upTo:)``.
public struct ResponseLines: AsyncSequence, Sendable {
  let body: ResponseBody
  let limit: Int

  /// Continues where reading the body has stopped.
  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(chunks: body.makeAsyncIterator(), limit: limit)
  }

  /// Waits for the lines.
  public struct AsyncIterator: AsyncIteratorProtocol {
    private var chunks: ResponseBody.AsyncIterator
    private let limit: Int
    /// The bytes that have arrived after the last line.
    private var rest: ArraySlice<UInt8> = []
    private var line: [UInt8] = []

    init(chunks: ResponseBody.AsyncIterator, limit: Int) {
      (self.chunks, self.limit) = (chunks, limit)
    }

    /// The next line; nil after the last line. The last line needs no line break. The call stays on the caller's actor, except
    /// to decompress.
    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async throws -> String? {
      while true {
        if let end = rest.firstIndex(of: 0x0A) {
          try append(rest[..<end])
          rest = rest[(end + 1)...]
          if line.last == 0x0D { line.removeLast() }
          return takeLine()
        }
        try append(rest)
        guard let chunk = try await chunks.next(isolation: actor) else {
          rest = []
          return line.isEmpty ? nil : takeLine()
        }
        rest = chunk[...]
      }
    }

    private mutating func append(_ bytes: ArraySlice<UInt8>) throws {
      guard bytes.count <= limit - line.count else {
        throw TransferError.lineTooLong(chunks.reading.url, limit: limit)
      }
      line += bytes
    }

    private mutating func takeLine() -> String {
      defer { line = [] }
      return String(decoding: line, as: UTF8.self)
    }
  }
}

/// Reads a response, and cancels its request if nothing can read it any more.
final class ResponseReading: Sendable {
  let task: TransferTask<TransferResult>
  private let response: ArrivingResponse
  let options: TransferOptions
  /// The URL of the request.
  let url: HTTPURL

  init(
    _ task: TransferTask<TransferResult>, _ response: ArrivingResponse, _ request: TransferRequest
  ) {
    (self.task, self.response) = (task, response)
    (options, url) = (request.options, request.url)
  }

  deinit { task.cancel() }

  /// What the head of the response means for the request.
  var outcomeOfHead: TransferResult.Outcome {
    get async {
      if let outcome = response.outcomeOfHead { return outcome }
      return await task.result.outcome
    }
  }

  func next(isolation actor: isolated (any Actor)?) async throws -> [UInt8]? {
    let (task, response) = (task, response)
    let piece = await withTaskCancellationHandler {
      await response.next(isolation: actor)
    } onCancel: {
      task.cancel()
    }
    try Task.checkCancellation()
    switch piece {
    case .bytes(let bytes): return bytes
    case .failure(let error):
      task.cancel()
      throw error
    case .end(let result):
      if let error = failure(of: result) {
        if error.code == .cancelled { throw CancellationError() }
        throw error
      }
      return nil
    }
  }

  /// The error that reading throws at the end of a response; nil if reading ends without an error.
  private func failure(of result: TransferResult) -> TransferError? {
    guard let response = result.response else { return result.error }
    if response.isTruncated {
      return result.error
        ?? .onlyBeginningKept(response.url)
    }
    return options.accepts(response.status) ? result.error : nil
  }
}
