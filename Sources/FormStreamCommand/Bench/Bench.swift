import FormStreamBatch
import FormStreamJSON
import FormStreamMultipart
import FormStreamPlatform
import FormStreamReceiver

/// Runs `bench`: uploads the same bytes by each program in turn, and says what that has cost.
func bench(_ plan: BenchPlan) throws(Failure) {
  guard canOpenDescriptors(wanting: 256, needing: 32, free: 24) else {
    throw Failure(
      .inputOutput, "Too few files can be open at once to measure anything: allow 32 or more with ulimit -n.")
  }
  let plot = try plan.plot.map { target throws(Failure) in try OutputFile(target, of: "--plot") }
  let output = try OutputFile(.standardOutput)
  let interruption = Interruption(gracePeriod: 2, cleanup: 1)
  let isStopped = Guarded(false)
  interruption.onSignal { _ in isStopped.withLock { $0 = true } }
  let run = try BenchRun(plan, isStopped: { isStopped.withLock(\.self) })
  try run.measure { text in
    if !plan.isQuiet { StandardError.note(text) }
  }
  if let signal = interruption.end() { throw Failure(ExitCode(signal: signal), "The measurement was ended.") }
  let result = run.result
  if plan.printsRecord { try output.write(result.record.line()) } else { try output.write(result.table) }
  if let plot {
    try plot.write(BenchPlot(result).text)
    try plot.commit()
  }
  guard let failed = result.programs.first(where: { $0.failure != nil }), let reason = failed.failure else { return }
  throw Failure(failed.isMissing ? .noInput : .failed, "\(failed.name): \(reason).")
}

/// The rounds of a measurement.
final class BenchRun {
  private let plan: BenchPlan
  private let isStopped: () -> Bool
  private let scratch: ScratchDirectory
  private let receiver: Receiver?
  /// The URL with its secrets, for the programs.
  private let url: String
  private let received = Guarded<[Int64]>([])
  /// Signalled for each upload that is received.
  private let arrival = AutoResetEvent()
  private(set) var result: BenchResult

  /// How much of the time the receiver, or all processors, may work before the figures are those of the machine.
  private static let busy = 0.9
  /// How much other programs may work before the measurement.
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
          // What was cut off, or refused, is no upload.
          let size = request.isComplete ? request.parts.reduce(Int64(0)) { $0.addingClamped($1.size) } : -1
          received.withLock { $0.append(size) }
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
    try findMissing()
    for size in try sizes() {
      let files = try files(of: size)
      result.sizes.append(size)
      for round in 0...plan.rounds {
        note(
          (round == 0 ? "Warming up" : "Round \(round) of \(plan.rounds)") + ", \(HumanReadable.size(size))"
            + (plan.count > 1 ? " × \(plan.count)" : ""))
        for turn in result.programs.indices {
          // Who begins changes, so that no program is always measured after the same other one.
          let index = (turn + round) % result.programs.count
          if isStopped() { return }
          guard result.programs[index].failure == nil else { continue }
          let upload = try upload(by: plan.contenders[index], files, size)
          result.programs[index].add(upload, size: size, isFirst: round == 0)
        }
      }
    }
  }

  private func upload(
    by contender: Contender, _ files: [String], _ size: Int64
  ) throws(Failure) -> MeasuredUpload {
    received.withLock { $0 = [] }
    arrival.wait(atMost: .zero)
    let (machine, own) = (processorTicks(), ownProcessorTime())
    var upload: MeasuredUpload
    do throws(SystemError) {
      upload = try MeasuredUpload(
        of: contender.words(url, files), errors: "\(scratch.path)/errors", memoryLimit: memoryLimit,
        isStopped: isStopped)
    } catch {
      throw Failure(.inputOutput, "\(contender.name) can't be started: \(error).")
    }
    if receiver != nil, upload.failure == nil {
      // The receiver reports an upload after it has responded.
      if received.withLock(\.isEmpty) { arrival.wait(atMost: .seconds(5)) }
      let (expected, arrived) = (
        size.multipliedReportingOverflow(by: Int64(plan.count)).partialValue, received.withLock(\.self)
      )
      if arrived != [expected] {
        upload.failure =
          "it ended with 0, and the receiver got "
          + (arrived.isEmpty ? "nothing" : arrived.map { $0 < 0 ? "a broken upload" : counted($0) }.joined(separator: ", "))
          + ", not \(counted(expected))"
      }
    }
    noteLoad(upload, since: machine, own)
    return upload
  }

  /// Half of what is free: a program that holds the body in memory must not take the machine.
  private lazy var memoryLimit = (availableMemory() ?? .max) / 2

  private func sizes() throws(Failure) -> [Int64] {
    guard let file = plan.file else { return plan.sizes }
    let status: FileStatus
    do throws(SystemError) { status = try FileStatus(of: file, followsSymlinks: true) } catch {
      throw Failure(.noInput, "The file \"\(file)\" of --from can't be read: \(error).")
    }
    guard status.kind == .regular else {
      throw Failure(.noInput, "--from names \"\(file)\", which is no regular file: name one.")
    }
    return [status.identity.size]
  }

  /// The paths of the files that are uploaded together.
  private func files(of size: Int64) throws(Failure) -> [String] {
    if let file = plan.file { return Array(repeating: file.description, count: plan.count) }
    do throws(SystemError) {
      return Array(repeating: try scratch.makeSparse("\(size)", size: size), count: plan.count)
    } catch {
      throw Failure(.inputOutput, "A file of \(HumanReadable.size(size)) can't be made in \"\(scratch.path)\": \(error).")
    }
  }

  /// Notes which programs are not installed.
  private func findMissing() throws(Failure) {
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
      result.notes.append(
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

private func counted(_ bytes: Int64) -> String { "\(bytes) \(bytes == 1 ? "byte" : "bytes")" }

private func percent(_ share: Double) -> String { "\(Int((share * 100).rounded())) %" }
