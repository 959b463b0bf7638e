import FormStreamPlatform

/// A body that was written to a file.
public struct BodyFile: Sendable, Hashable {
  /// The path of the file.
  public let path: LocalPath
  /// The size in bytes.
  public let size: Int64
  /// The type of the file, with the form's boundary: the `Content-Type` of a request that sends the file as its body.
  public let type: MediaType
}

/// How much of a body is written to its file.
public struct BodyFileProgress: Sendable, Hashable {
  /// How many bytes are written.
  public internal(set) var written: Int64 = 0
  /// How many bytes the body has; nil if this is not known before its end.
  public internal(set) var total: Int64?
  /// Whether the file is complete and has its name.
  public internal(set) var isComplete = false

  init(total: Int64?) { self.total = total }
}

extension BodyLayout {
  /// Writes the body to a file, for example to send it later, or from another process.
  ///
  /// ```swift
  /// let file = try await form.layout().write(to: "body.bin") { step in
  ///   print(step.written, "of", step.total ?? 0)
  /// }
  /// ```
  ///
  /// A file of that name is replaced when the new one is complete, and not before: see ``startWriting(to:)``.
  ///
  /// - Parameters:
  ///   - file: the path of the file. Its directory must exist.
  ///   - progress: called for steps of the work, at most 20 times a second and at the end.
  /// - Throws: ``MultipartError``; `CancellationError` if the task is cancelled. There is no file then.
  @discardableResult
  nonisolated(nonsending) public func write(
    to file: some LocalPathConvertible, progress: (@Sendable (BodyFileProgress) -> Void)? = nil
  ) async throws -> BodyFile {
    let task = startWriting(to: file)
    return try await withTaskCancellationHandler {
      if let progress { for await step in task.progress { progress(step) } }
      return try await task.file
    } onCancel: {
      task.cancel()
    }
  }

  /// Starts writing the body to a file, and returns at once.
  ///
  /// The body is read and written on a thread of its own, so that slow files and streams hold up nothing else. The file gets its
  /// name when it is complete; after an error, or if the task is cancelled, nothing is left of it.
  ///
  /// - Parameter file: the path of the file. Its directory must exist.
  public func startWriting(to file: some LocalPathConvertible) -> BodyFileTask {
    let path = Result { () throws(MultipartError) in try file.localPath() }
    let task = BodyFileTask(of: self, to: path)
    task.start()
    return task
  }
}

/// A task that writes a body to a file; see ``BodyLayout/startWriting(to:)``.
public final class BodyFileTask: Sendable {
  private struct State {
    var progress: BodyFileProgress
    var result: Result<BodyFile, any Error>?
    var isCancelled = false
    /// When the progress was reported last.
    var reported: ContinuousClock.Instant?
    /// The sequences of progress that somebody still reads, by their numbers.
    var listeners: [Int: AsyncStream<BodyFileProgress>.Continuation] = [:]
    var listenerCount = 0
    var waiting: [CheckedContinuation<BodyFile, any Error>] = []
  }

  private static let reportInterval = Duration.milliseconds(50)

  private let path: Result<LocalPath, MultipartError>
  private let state: Guarded<State>
  /// Only the thread of this task reads. Any thread may interrupt it.
  nonisolated(unsafe) private let reader: BodyReader

  fileprivate init(of layout: BodyLayout, to path: Result<LocalPath, MultipartError>) {
    self.path = path
    reader = layout.makeReader()
    state = Guarded(State(progress: BodyFileProgress(total: layout.contentLength)))
  }

  /// The complete file, as soon as there is one.
  ///
  /// - Throws: ``MultipartError``, or `CancellationError` if this task was cancelled. If only the waiting task is cancelled, the
  ///   file is written nevertheless.
  public var file: BodyFile {
    get async throws {
      try await withCheckedThrowingContinuation { continuation in
        let result = state.withLock { state in
          if state.result == nil { state.waiting.append(continuation) }
          return state.result
        }
        if let result { continuation.resume(with: result) }
      }
    }
  }

  /// The progress. Each sequence begins with the current step, and ends with the last one; a slow loop gets only the newest.
  public var progress: AsyncStream<BodyFileProgress> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: BodyFileProgress.self, bufferingPolicy: .bufferingNewest(1))
    let number = state.withLock { state in
      state.listenerCount &+= 1
      continuation.yield(state.progress)
      if state.result == nil { state.listeners[state.listenerCount] = continuation } else { continuation.finish() }
      return state.listenerCount
    }
    continuation.onTermination = { [weak self] _ in self?.state.withLock { $0.listeners[number] = nil } }
    return stream
  }

  /// The current step.
  public var currentProgress: BodyFileProgress { state.withLock(\.progress) }

  /// How many sequences of progress somebody still reads.
  package var openSequences: Int { state.withLock(\.listeners.count) }

  /// Ends the task. A file that is complete stays.
  public func cancel() {
    state.withLock { $0.isCancelled = true }
    reader.interrupt()
  }

  // MARK: The thread

  fileprivate func start() {
    let isStarted = startThread("formstream-file") { [self] in end(Result { try write() }) }
    guard !isStarted else { return }
    end(
      .failure(
        MultipartError(
          .writeFailed, on: "the body",
          "The body can't be written to a file: the system has no threads left. Allow more with ulimit -u.")))
  }

  private func write() throws -> BodyFile {
    defer { reader.close() }
    let path = try path.get()
    do {
      let output = try AtomicFile(for: path)
      try output.setPermissions(replacing: path.name)
      // If there is not enough room, this is known before anything is read.
      if let total = reader.layout.contentLength { try output.reserve(total) }
      try copy(to: output)
      try output.replace(path.name)
    } catch let error as SystemError {
      if state.withLock(\.isCancelled) { throw CancellationError() }
      throw MultipartError(
        .writeFailed, on: path.description,
        "The body could not be written to the file \(path.description.quoted): \(error). Choose another file, or make room.",
        file: path, underlying: error)
    } catch {
      // What was interrupted has no other reason.
      throw state.withLock(\.isCancelled) ? CancellationError() : error
    }
    return BodyFile(
      path: path, size: reader.position, type: MediaType(unchecked: reader.layout.contentType))
  }

  private func copy(to output: AtomicFile) throws {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 * 1024, alignment: 4096)
    defer { buffer.deallocate() }
    while true {
      if state.withLock(\.isCancelled) { throw CancellationError() }
      let count = try reader.read(into: buffer)
      if count == 0 { return }
      try output.write(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
      note(written: reader.position)
    }
  }

  private func note(written: Int64) {
    state.withLock { state in
      // The last bytes are shown when the file is complete and has its name, which may still fail.
      if written == state.progress.total { return }
      state.progress.written = written
      let now = ContinuousClock.now
      if let reported = state.reported, now - reported < Self.reportInterval { return }
      state.reported = now
      for listener in state.listeners.values { listener.yield(state.progress) }
    }
  }

  private func end(_ result: Result<BodyFile, any Error>) {
    let (listeners, waiting, last) = state.withLock { state in
      defer { (state.listeners, state.waiting) = ([:], []) }
      state.result = result
      if case .success(let file) = result { (state.progress.written, state.progress.isComplete) = (file.size, true) }
      return (state.listeners, state.waiting, state.progress)
    }
    for listener in listeners.values {
      listener.yield(last)
      listener.finish()
    }
    for continuation in waiting { continuation.resume(with: result) }
  }
}
