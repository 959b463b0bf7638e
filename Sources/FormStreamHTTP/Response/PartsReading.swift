import FormStreamMultipart
import FormStreamPlatform

/// Reads the parts of a response. The parts and their contents are read from the same chunks, by one task at a time.
final class PartsReading: Sendable {
  private typealias Events = FormEvents<ResponseBody>

  private enum Source {
    case unread
    case open(Events.AsyncIterator)
    /// A task waits for the next event.
    case inUse
    /// The error stays: the rest can't be read.
    case failed(any Error)
  }

  private struct State {
    var source = Source.unread
    /// The number of the part that was returned last, or is being looked for; 0 before the first part.
    var part = 0
    /// Whether a part was returned whose end has not been read.
    var isInPart = false
    /// Whether a call has begun to read the current part.
    var isBegun = false
  }

  let response: OpenResponse
  private let options: FormParser.Options
  private let state = Guarded(State())

  init(_ response: OpenResponse, _ options: FormParser.Options) {
    (self.response, self.options) = (response, options)
  }

  /// Skips what is left of the current part, and waits for the head of the next part.
  func nextPart(isolation actor: isolated (any Actor)?) async throws -> ResponsePart? {
    // From here on, the earlier part can't be read, even if this call throws.
    let number = state.withLock { state in
      state.part += 1
      (state.isInPart, state.isBegun) = (false, false)
      return state.part
    }
    while let event = try await nextEvent(isolation: actor) {
      guard case .partBegan(let head) = event else { continue }
      state.withLock { $0.isInPart = true }
      return ResponsePart(head: head, body: ResponsePartBody(reading: self, number: number))
    }
    return nil
  }

  /// Begins to read a complete part. What was read before is gone: the rest must not be taken for the complete part.
  func begin(part number: Int) throws {
    try state.withLock { state in
      if case .failed(let error) = state.source { throw error }
      guard state.part == number else { throw TransferError.partPassed(response.url) }
      guard !state.isBegun else { throw TransferError.partBegun(response.url) }
      state.isBegun = true
    }
  }

  /// Notes that nothing of a part was read after `begin(part:)`.
  func giveBack(part number: Int) {
    state.withLock { state in if state.part == number { state.isBegun = false } }
  }

  func nextBytes(
    ofPart number: Int, isolation actor: isolated (any Actor)?
  ) async throws -> [UInt8]? {
    let (part, isInPart) = state.withLock { state in
      if state.part == number { state.isBegun = true }
      return (state.part, state.isInPart)
    }
    guard part == number else { throw TransferError.partPassed(response.url) }
    guard isInPart else { return nil }
    if case .partBytes(let bytes) = try await nextEvent(isolation: actor) { return bytes }
    state.withLock { $0.isInPart = false }
    return nil
  }

  private func nextEvent(isolation actor: isolated (any Actor)?) async throws -> Events.Element? {
    let source = try state.withLock { state in
      if case .inUse = state.source { throw TransferError.partsReadTwice(response.url) }
      defer { state.source = .inUse }
      return state.source
    }
    do {
      var events = try events(of: source)
      let event = try await events.next(isolation: actor)
      state.withLock { $0.source = .open(events) }
      return event
    } catch {
      let error = await explained(error)
      state.withLock { $0.source = .failed(error) }
      throw error
    }
  }

  private func events(of source: Source) throws -> Events.AsyncIterator {
    switch source {
    case .open(let events): return events
    case .failed(let error): throw error
    case .unread, .inUse:
      let parser = try FormParser(
        contentType: response.headers["Content-Type"] ?? "", options: options)
      return FormEvents(of: response.body, parser: parser).makeAsyncIterator()
    }
  }

  /// The parser's error as an error about the response. The rest of the response is not received, because it can't be
  /// understood.
  private func explained(_ error: any Error) async -> any Error {
    guard let error = error as? MultipartError else { return error }
    response.task.cancel()
    return TransferError.partsMalformed(response.url, error)
      .ending(
        as: await response.body.reading.outcomeOfHead,
        response.response(with: [], isTruncated: true))
  }
}

/// The file that a part is stored in. Its functions run on worker threads, because the disk may block.
final class StoredPart: Sendable {
  private let target: ResponseTarget
  private let response: OpenResponse
  private let sink = Guarded<ResponseSink?>(nil)

  init(_ target: ResponseTarget, of response: OpenResponse) {
    (self.target, self.response) = (target, response)
  }

  func open() async throws {
    try target.check()
    let head = response.response(with: [], isTruncated: false)
    try await perform { [sink, target] in
      try sink.withLock { $0 = try ResponseSink(target, for: head) }
    }
  }

  func write(_ bytes: [UInt8]) async throws {
    try await perform { [sink] in
      try sink.withLock { sink in try bytes.withUnsafeBytes { try sink?.write($0) } }
    }
  }

  func finish(isComplete: Bool) async throws {
    try await perform { [sink] in
      try sink.withLock { try $0?.finish(isComplete: isComplete) }
    }
  }

  private func perform(_ body: @escaping @Sendable () throws -> Void) async throws {
    do {
      try await response.task.run.engine.workers.perform { Result(catching: body) }.get()
    } catch {
      throw TransferError.responseNotStored(target, from: response.url, error)
    }
  }
}
