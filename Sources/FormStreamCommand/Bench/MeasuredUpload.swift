import FormStreamPlatform

/// What one upload by a program has cost.
struct MeasuredUpload: Sendable {
  /// The memory at a moment after the start.
  struct Sample: Sendable {
    let time: Duration
    let resident, anonymous: Int64
  }

  let time, processor: Duration
  /// The most memory at once, with files that are mapped, and without; nil if the program ended too soon to see it.
  let peak, anonymous: Int64?
  let samples: [Sample]
  /// When the program ended.
  let end: ContinuousClock.Instant
  /// Why the upload counts for nothing; nil if it was complete.
  var failure: String?

  /// The time between two samples. It begins short, so that programs that end soon have some, too.
  private static func interval(after time: Duration) -> Duration {
    min(max(time / 8, .milliseconds(1)), .milliseconds(20))
  }

  /// Starts a program, and waits for its end.
  ///
  /// - Parameters:
  ///   - errors: the path of a file for its messages.
  ///   - usesProxies: whether it may use the proxies that the environment names.
  ///   - limit: how much memory it may have. If it has more, it is ended.
  ///   - isStopped: asks whether it must be ended early.
  init(
    of words: [String], errors: String, usesProxies: Bool = true, memoryLimit limit: Int64, isStopped: () -> Bool
  ) throws(SystemError) {
    let start = ContinuousClock.now
    let child = try ChildProcess(words, errors: errors, usesProxies: usesProxies)
    // The program has begun with what this process had until now.
    let ownPeak = ProcessMemory(of: "self")?.peak ?? .max
    var samples: [Sample] = []
    var seen: Int64 = 0
    var failure: String?
    var ending: ChildProcess.Ending
    while true {
      if let end = child.wait(atMost: Self.interval(after: start.duration(to: .now))) {
        ending = end
        break
      }
      if let memory = child.memory {
        samples.append(
          Sample(time: start.duration(to: .now), resident: memory.resident, anonymous: memory.anonymous))
        seen = max(seen, memory.peak)
        if memory.resident > limit, failure == nil {
          failure = "it was ended when it had more than \(HumanReadable.size(limit)) of memory"
          child.kill()
        }
      }
      if isStopped(), failure == nil {
        failure = "it was ended"
        child.kill()
      }
    }
    end = ending.moment
    (time, processor) = (start.duration(to: ending.moment), ending.processor)
    // The number for a program begins with what this process had. If it is larger, it is exact. If not, the samples count.
    peak = ending.peak > ownPeak ? ending.peak : seen > 0 ? seen : nil
    anonymous = samples.map(\.anonymous).max()
    self.samples = samples
    if failure == nil, ending.code != 0 {
      let said = String(decoding: ScratchDirectory.lastBytes(of: errors, 64 * 1024), as: UTF8.self)
      var last = said.split(whereSeparator: \.isNewline).last.map { visible(String($0.prefix(300))) } ?? ""
      while last.last == "." { last.removeLast() }
      failure = "it ended with \(ending.code)" + (last.isEmpty ? "" : ": \(last)")
    }
    self.failure = failure
  }
}
