import FormStreamPlatform

/// Lines for an output, written by one thread: lines of several threads never mix, and only the writing thread waits
/// for a slow reader.
///
/// If the disk under the output is full, the lines that fit into the queue wait until there is room, and further lines are lost: who
/// fills the disk must not end the receiver for everybody. When there is room, a line says how many were lost.
final class LogQueue: Sendable {
  /// How many bytes may be in the queue. If it is full, `add(_:)` waits as long as the reader goes on reading.
  private static let maximumSize = 16 * 1024 * 1024
  /// How many bytes may wait in the queue while the output has no room.
  private static let maximumWaiting = 256 * 1024
  /// How often it is tried whether there is room again, if no line is added.
  private static let retryInterval = Duration.seconds(1)
  /// How long a reader may read nothing before it counts as gone.
  private static let patience = Duration.seconds(5)
  /// A line is written in pieces, so that the reader of one long line makes visible progress.
  private static let pieceSize = 64 * 1024

  private struct State {
    /// The lines in the queue; the first `written` of them are written already.
    var lines: [Line] = []
    var written = 0
    var size = 0
    var isClosed = false
    var failure: Failure?
    /// How many of the first lines are not written yet. Without them, nobody knows where the receiver listens.
    var required = 0
    /// Why the output has no room now; nil if it has.
    var shortage: Failure?
    /// How many lines are lost since there is no room.
    var lost = 0
    /// How many lines are lost in all, and why.
    var allLost = 0
    var reasonOfLoss: Failure?
    /// When the reader last read something, or when a line was added to an empty queue.
    var lastProgress = ContinuousClock.now

    var isEmpty: Bool { written == lines.count }
    /// Whether the next line must wait. While the output has no room, no line waits for the queue.
    var isFull: Bool { size >= LogQueue.maximumSize && shortage == nil }
    /// Whether lines wait, and the reader has read nothing for too long.
    var isStalled: Bool {
      !isEmpty && shortage == nil && ContinuousClock.now - lastProgress >= LogQueue.patience
    }

    mutating func append(_ line: Line) {
      // Once a line is lost, so are those after it: the line that counts them comes last. Lines for standard error only wait for
      // the thread that writes.
      let hasRoom =
        line.isOutput
        ? lost == 0 && size + line.size <= LogQueue.maximumWaiting : size < LogQueue.maximumSize
      if shortage != nil, !hasRoom {
        lost += line.count
        allLost += line.count
        return
      }
      lines.append(line)
      size += line.size
    }
  }

  /// What is written, and where.
  enum Line {
    case output([UInt8])
    /// A message for people, which goes to standard error.
    case note(String)
    /// Lines about a request for `-v`, which go to standard error as they are.
    case trace([String])

    fileprivate var size: Int {
      switch self {
      case .output(let bytes): bytes.count
      case .note(let message): message.utf8.count
      case .trace(let lines): lines.reduce(0) { $0 + $1.utf8.count }
      }
    }

    fileprivate var isOutput: Bool { if case .output = self { true } else { false } }

    /// How many lines it is.
    fileprivate var count: Int {
      switch self {
      case .output, .note: 1
      case .trace(let lines): lines.count
      }
    }
  }

  private let output: OutputFile
  private let lineAboutLoss: @Sendable (Int) -> [UInt8]
  private let onFailure: @Sendable (Failure) -> Void
  private let state = Guarded(State())
  private let lineAdded = AutoResetEvent()
  private let roomFreed = AutoResetEvent()

  /// - Parameters:
  ///   - lineAboutLoss: makes the line that says how many lines are lost.
  ///   - onFailure: called once, if the output can't be written for another reason than want of room. Lines are lost from then on.
  init(
    to output: OutputFile, lineAboutLoss: @escaping @Sendable (Int) -> [UInt8],
    onFailure: @escaping @Sendable (Failure) -> Void
  ) {
    self.output = output
    self.lineAboutLoss = lineAboutLoss
    self.onFailure = onFailure
  }

  /// Puts lines before all lines that were added, and starts to write. Returns false if no thread can be started.
  func start(with first: [Line]) -> Bool {
    state.withLock { state in
      state.lines.insert(contentsOf: first, at: 0)
      state.required = first.count
      state.size += first.reduce(0) { $0 + $1.size }
    }
    return startThread("formstream-log") { self.run() }
  }

  /// Whether the queue is full and not read.
  var isStalled: Bool { state.withLock { $0.isFull && $0.isStalled } }

  /// Adds a line. If the queue is full, this waits while the reader reads.
  func add(_ line: Line) {
    while true {
      let isAdded = state.withLock { state in
        guard !state.isFull || state.isStalled || state.isClosed else { return false }
        if state.isEmpty { state.lastProgress = .now }
        if state.failure == nil { state.append(line) }
        return true
      }
      if isAdded { break }
      roomFreed.wait(atMost: .milliseconds(50))
    }
    lineAdded.signal()
  }

  /// Waits until all lines are written, or nothing reads them any more. Nothing is written after that.
  ///
  /// - Returns: how many lines were not written completely, since the beginning, and why if there was no room for them.
  func close() -> (lost: Int, reason: Failure?) {
    state.withLock { $0.isClosed = true }
    lineAdded.signal()
    while state.withLock({ !$0.isEmpty && !$0.isStalled && $0.failure == nil }) {
      roomFreed.wait(atMost: .milliseconds(50))
    }
    return state.withLock { state in
      let rest = state.lines[state.written...].reduce(0) { $0 + $1.count }
      state.failure = state.failure ?? Failure(.inputOutput, "")
      return (state.allLost + rest, state.reasonOfLoss)
    }
  }

  private func run() {
    // How many bytes of the next line are written.
    var written = 0
    while true {
      let (next, isOver, isClosed): (Line?, Bool, Bool) = state.withLock { state in
        if state.failure != nil { return (nil, true, true) }
        let next = state.isEmpty ? nil : state.lines[state.written]
        return (next, next == nil && state.isClosed, state.isClosed)
      }
      if isOver { return }
      guard let next else {
        lineAdded.wait(atMost: nil)
        continue
      }
      let shortage: Failure?
      do throws(Failure) {
        shortage = try write(next, &written)
      } catch {
        return fail(error)
      }
      if let shortage {
        guard mayWait(for: shortage, isClosed: isClosed) else { return }
        lineAdded.wait(atMost: Self.retryInterval)
      } else {
        written = 0
        finish(next)
      }
    }
  }

  /// Writes the rest of a line. Returns why there is no room for all of it; nil if it is written.
  private func write(_ line: Line, _ written: inout Int) throws(Failure) -> Failure? {
    switch line {
    case .note(let message): StandardError.note(message)
    case .trace(let lines): for line in lines { StandardError.write(line) }
    case .output(let bytes):
      while written < bytes.count {
        let piece = Array(bytes.dropFirst(written).prefix(Self.pieceSize))
        var count = 0
        defer { written += count }
        if let shortage = try output.write(piece, written: &count) { return shortage }
        state.withLock { $0.lastProgress = .now }
      }
    }
    return nil
  }

  /// Notes that there is no room for a line. Returns false if nothing can be written any more.
  private func mayWait(for shortage: Failure, isClosed: Bool) -> Bool {
    let (isRequired, isNew) = state.withLock { state in
      let isNew = state.shortage == nil
      (state.shortage, state.reasonOfLoss) = (shortage, shortage)
      return (state.required > 0, isNew)
    }
    if isRequired {
      fail(shortage)
      return false
    }
    if isNew, !isClosed {
      StandardError.note(
        "\(output.name) has no room for lines about requests: they wait until there is room, and are lost if they are too many. "
          + "Uploads go on.")
    }
    writeMessages()
    // The lines that are left are lost.
    if isClosed { state.withLock { $0.failure = shortage } }
    roomFreed.signal()
    return !isClosed
  }

  /// Writes the lines for standard error, which don't wait for room in the output.
  private func writeMessages() {
    let messages: [Line] = state.withLock { state in
      let rest = state.lines[state.written...]
      let messages = rest.filter { !$0.isOutput }
      (state.lines, state.written) = (rest.filter(\.isOutput), 0)
      state.size -= messages.reduce(0) { $0 + $1.size }
      return messages
    }
    for message in messages {
      var written = 0
      _ = try? write(message, &written)
    }
  }

  private func finish(_ line: Line) {
    let (hadShortage, lost) = state.withLock { state in
      guard state.failure == nil else { return (false, 0) }
      if state.allLost == 0 { state.reasonOfLoss = nil }
      state.required = max(0, state.required - 1)
      // The line's memory is released at once; its place in the list is removed later, with many others.
      state.lines[state.written] = .output([])
      state.written += 1
      state.size -= line.size
      state.lastProgress = .now
      if state.isEmpty || state.written >= 1024 {
        state.lines.removeFirst(state.written)
        state.written = 0
      }
      guard state.shortage.take() != nil else { return (false, 0) }
      let lost = state.lost
      state.lost = 0
      if lost > 0 { state.append(.output(lineAboutLoss(lost))) }
      return (true, lost)
    }
    roomFreed.signal()
    if hadShortage {
      let lines = counted(lost, "line about a request is", "lines about requests are")
      StandardError.note(
        "\(output.name) has room again.\(lost > 0 ? " \(lines) lost." : " No line is lost.")")
    }
  }

  private func fail(_ failure: Failure) {
    state.withLock { state in
      state.failure = failure
      state.lines = []
      state.written = 0
      state.size = 0
    }
    roomFreed.signal()
    onFailure(failure)
  }
}
