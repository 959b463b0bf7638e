import FormStreamPlatform

/// Lines for an output, written by one thread: lines of several threads never mix, and only the writing thread waits
/// for a slow reader.
final class LogQueue: Sendable {
  /// How many bytes may be in the queue. If it is full, `add(_:)` waits as long as the reader goes on reading.
  private static let maximumSize = 16 * 1024 * 1024
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
    /// When the reader last read something, or when a line was added to an empty queue.
    var lastProgress = ContinuousClock.now

    var isEmpty: Bool { written == lines.count }
    var isFull: Bool { size >= LogQueue.maximumSize }
    /// Whether lines wait, and the reader has read nothing for too long.
    var isStalled: Bool { !isEmpty && ContinuousClock.now - lastProgress >= LogQueue.patience }
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
  }

  private let output: OutputFile
  private let onFailure: @Sendable (Failure) -> Void
  private let state = Guarded(State())
  private let lineAdded = AutoResetEvent()
  private let roomFreed = AutoResetEvent()

  /// - Parameter onFailure: called once, if the output can't be written. Lines are lost from then on.
  init(to output: OutputFile, onFailure: @escaping @Sendable (Failure) -> Void) {
    self.output = output
    self.onFailure = onFailure
  }

  /// Puts lines before all lines that were added, and starts to write. Returns false if no thread can be started.
  func start(with first: [Line]) -> Bool {
    state.withLock { state in
      state.lines.insert(contentsOf: first, at: 0)
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
        if state.failure == nil {
          state.lines.append(line)
          state.size += line.size
        }
        return true
      }
      if isAdded { break }
      roomFreed.wait(atMost: .milliseconds(50))
    }
    lineAdded.signal()
  }

  /// Waits until all lines are written, or nothing reads them any more. Nothing is written after that.
  ///
  /// - Returns: how many lines were not written completely.
  func close() -> Int {
    state.withLock { $0.isClosed = true }
    lineAdded.signal()
    while state.withLock({ !$0.isEmpty && !$0.isStalled && $0.failure == nil }) {
      roomFreed.wait(atMost: .milliseconds(50))
    }
    return state.withLock { state in
      let count = state.lines.count - state.written
      state.failure = state.failure ?? Failure(.inputOutput, "")
      return count
    }
  }

  private func run() {
    while true {
      let (next, isOver): (Line?, Bool) = state.withLock { state in
        if state.failure != nil { return (nil, true) }
        return state.isEmpty ? (nil, state.isClosed) : (state.lines[state.written], false)
      }
      if isOver { return }
      if let next {
        do throws(Failure) { try write(next) } catch { return fail(error) }
        finish(next)
      } else {
        lineAdded.wait(atMost: nil)
      }
    }
  }

  private func write(_ line: Line) throws(Failure) {
    switch line {
    case .note(let message): StandardError.note(message)
    case .trace(let lines): for line in lines { StandardError.write(line) }
    case .output(let bytes):
      var rest = bytes[...]
      while !rest.isEmpty {
        try output.write(Array(rest.prefix(Self.pieceSize)))
        rest = rest.dropFirst(Self.pieceSize)
        state.withLock { $0.lastProgress = .now }
      }
    }
  }

  private func finish(_ line: Line) {
    state.withLock { state in
      guard state.failure == nil else { return }
      // The line's memory is released at once; its place in the list is removed later, with many others.
      state.lines[state.written] = .output([])
      state.written += 1
      state.size -= line.size
      state.lastProgress = .now
      if state.isEmpty || state.written >= 1024 {
        state.lines.removeFirst(state.written)
        state.written = 0
      }
    }
    roomFreed.signal()
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
