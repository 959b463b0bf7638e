import FormStreamBatch
import FormStreamMultipart
import FormStreamPlatform
import FormStreamReceiver

/// The rounds of a measurement.
final class BenchRun {
  private let plan: BenchPlan
  private let isStopped: () -> Bool
  private let scratch: ScratchDirectory
  private let receiver: Receiver?
  /// The URL with its secrets, for the programs.
  private let url: String
  private let received = Guarded<[(size: Int64, moment: ContinuousClock.Instant)]>([])
  /// Signaled for each upload that is received.
  private let arrival = AutoResetEvent()
  private(set) var result: BenchResult
  /// The file of `--from` at the beginning.
  private var identity: FileIdentity?
  /// Half of what is free: a program that holds the body in memory must not take the machine.
  private let memoryLimit = (availableMemory() ?? .max) / 2

  /// If the receiver, or all processors, work for a larger share of the time, they limit the figures.
  private static let busy = 0.9
  /// If other programs use a larger share of the processors before the measurement, the figures are not reliable.
  private static let noisy = 0.1

  init(_ plan: BenchPlan, isStopped: @escaping () -> Bool) throws(Failure) {
    (self.plan, self.isStopped) = (plan, isStopped)
    let parent = String(decoding: temporaryDirectory, as: UTF8.self)
    do throws(SystemError) { scratch = try ScratchDirectory(in: parent) } catch {
      throw Failure(.inputOutput, "No directory can be made in \"\(parent)\": \(error). Name another with TMPDIR.")
    }
    if plan.url == nil {
      let (received, arrival) = (received, arrival)
      var configuration = Receiver.Configuration()
      configuration.makesDigests = false
      do throws(ReceiverError) {
        receiver = try Receiver.start(configuration, handler: DiscardHandler()) { request in
          // What was cut off, or refused, is no upload. Text fields beside the files don't count.
          let files =
            request.parts.contains { $0.filename != nil } ? request.parts.filter { $0.filename != nil } : request.parts
          let size = request.isComplete ? files.reduce(Int64(0)) { $0.addingClamped($1.size) } : -1
          received.withLock { $0.append((size, .now)) }
          arrival.signal()
        }
      } catch {
        throw Failure(.inputOutput, error.description)
      }
    } else {
      receiver = nil
    }
    url = plan.url?.absoluteString ?? receiver?.url ?? ""
    result = BenchResult(plan, url: plan.url?.description ?? url)
  }

  /// Measures all programs.
  ///
  /// - Parameter note: receives what is being done.
  func measure(_ note: (String) -> Void) throws(Failure) {
    checkMachine()
    findMissing()
    for size in try sizes() {
      let files = try files(of: size)
      result.sizes.append(size)
      for round in 0...plan.rounds {
        note(
          (round == 0 ? "Warming up" : "Round \(round) of \(plan.rounds)") + ", \(HumanReadable.size(size))"
            + (plan.count > 1 ? " × \(plan.count)" : ""))
        // In an order of chance, so that no program is always measured after the same other one.
        for index in result.programs.indices.shuffled() where result.programs[index].failure == nil {
          if isStopped() { return }
          do throws(SystemError) {
            let upload = try upload(by: plan.contenders[index], files, size)
            result.programs[index].add(upload, size: size, isFirst: round == 0)
          } catch {
            result.programs[index].failure = "it can't be started: \(error)"
            result.programs[index].isMissing = error.isPathMissing
          }
        }
        try checkFile()
        if result.programs.allSatisfy({ $0.failure != nil }) { return }
      }
    }
  }

  private func upload(
    by contender: Contender, _ files: [String], _ size: Int64
  ) throws(SystemError) -> MeasuredUpload {
    received.withLock { $0 = [] }
    arrival.wait(atMost: .zero)
    let (machine, own) = (processorTicks(), ownProcessorTime())
    var upload = try MeasuredUpload(
      of: contender.words(url, files), errors: "\(scratch.path)/errors", usesProxies: receiver == nil,
      memoryLimit: memoryLimit, isStopped: isStopped)
    // What a program says may have the URL with its secrets.
    upload.failure = upload.failure?.replacing(url, with: result.url)
    if receiver != nil, upload.failure == nil {
      upload.failure = failureOfArrival(of: size * Int64(plan.count), after: upload.end)
    }
    noteLoad(upload, since: machine, own)
    return upload
  }

  /// Why what the receiver got is not the upload; nil if it is.
  private func failureOfArrival(of expected: Int64, after end: ContinuousClock.Instant) -> String? {
    // The receiver reports an upload after it has responded.
    while received.withLock(\.isEmpty), end.duration(to: .now) < .seconds(5), !isStopped() {
      arrival.wait(atMost: .milliseconds(50))
    }
    let arrived = received.withLock(\.self)
    guard arrived.map(\.size) == [expected] else {
      return "it ended with 0, and the receiver got "
        + (arrived.isEmpty
          ? "nothing"
          : arrived.map { $0.size < 0 ? "a broken upload" : counted(Int($0.size), "byte", "bytes") }.joined(separator: ", "))
        + ", not \(counted(Int(expected), "byte", "bytes"))"
    }
    return arrived[0].moment > end + .milliseconds(500) ? "it ended before its upload" : nil
  }

  /// Fails if the file of `--from` is not what it was.
  private func checkFile() throws(Failure) {
    guard let file = plan.file, let identity else { return }
    guard (try? FileStatus(of: file, followsSymlinks: true))?.identity == identity else {
      throw Failure(.inputOutput, "The file \"\(file)\" has changed during the measurement: measure again.")
    }
  }

  private func sizes() throws(Failure) -> [Int64] {
    guard let file = plan.file else { return plan.sizes }
    let status: FileStatus
    do throws(SystemError) { status = try FileStatus(of: file, followsSymlinks: true) } catch {
      throw Failure(.noInput, "The file \"\(file)\" of --from can't be read: \(error).")
    }
    guard status.kind == .regular else {
      throw Failure(.noInput, "--from names \"\(file)\", which is no regular file: name one.")
    }
    identity = status.identity
    guard !status.identity.size.multipliedReportingOverflow(by: Int64(plan.count)).overflow else {
      throw Failure(.usage, "\"\(file)\" is too large for --count \(plan.count): nothing has so many bytes.")
    }
    return [status.identity.size]
  }

  /// The paths of the files that are uploaded together.
  private func files(of size: Int64) throws(Failure) -> [String] {
    if let file = plan.file {
      // Programs would take a hyphen for standard input.
      let name = file.description
      return Array(repeating: name.hasPrefix("-") ? "./\(name)" : name, count: plan.count)
    }
    do throws(SystemError) {
      return Array(repeating: try scratch.makeSparse("\(size)", size: size), count: plan.count)
    } catch {
      throw Failure(.inputOutput, "A file of \(HumanReadable.size(size)) can't be made in \"\(scratch.path)\": \(error).")
    }
  }

  /// Notes which programs are not installed.
  private func findMissing() {
    for (index, contender) in plan.contenders.enumerated() {
      guard let test = contender.test else { continue }
      let ending = try? MeasuredUpload(
        of: test, errors: "\(scratch.path)/errors", memoryLimit: .max, isStopped: isStopped)
      guard ending?.failure != nil || ending == nil else { continue }
      result.programs[index].failure = "it is not installed"
      result.programs[index].isMissing = true
    }
  }

  // MARK: What the figures depend on

  /// Notes whether other programs work.
  private func checkMachine() {
    let (before, own) = (processorTicks(), ownProcessorTime())
    _ = AutoResetEvent().wait(atMost: .milliseconds(300))
    guard let before, let after = processorTicks(), after.all > before.all else { return }
    let ownShare = (ownProcessorTime() - own) / .milliseconds(300) / Double(processorCount)
    let share = Double(after.busy - before.busy) / Double(after.all - before.all) - ownShare
    if share > Self.noisy {
      result.note(
        "Other programs use \(percent(share)) of the processors: the figures depend on what they do meanwhile.")
    }
  }

  private func noteLoad(_ upload: MeasuredUpload, since machine: (busy: Int, all: Int)?, _ own: Duration) {
    guard upload.time > .milliseconds(100) else { return }
    if receiver != nil, (ownProcessorTime() - own) / upload.time > Self.busy {
      result.note(
        "The receiver was busy nearly all the time: a faster server may show larger differences.")
    }
    if let machine, let now = processorTicks(), now.all > machine.all,
      Double(now.busy - machine.busy) / Double(now.all - machine.all) > Self.busy
    {
      result.note("All processors were busy: more of them may show larger differences.")
    }
  }
}

private func percent(_ share: Double) -> String { "\(Int((share * 100).rounded())) %" }
