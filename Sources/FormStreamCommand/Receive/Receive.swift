import Multipart
import Receiver
import Records

/// Carries out `receive`: listens until it is ended, and tells of each request.
func receive(_ plan: ReceivePlan) throws(Failure) {
  guard canOpenEnough() else {
    throw Failure(
      .inputOutput,
      "Too few files can be open at once to receive anything: allow 32 or more with ulimit -n.")
  }
  let output = try OutputFile(.standardOutput)
  let ending = Ending()
  // What is in flight gets 10 seconds of these.
  tellSignals(grace: 12) { ending.tell(.signal($0)) }
  let log = RequestLog(to: output, asRecords: plan.printsJSON)
  let receiver = try start(plan) { request in
    do throws(Failure) { try log.tell(request) } catch { ending.tell(.failure(error)) }
    if plan.isOnce, request.isComplete { ending.tell(.once) }
  }
  if !plan.isQuiet {
    for note in plan.notes { StandardError.write("formstream: \(note)") }
    let place = plan.directory.map { ", storing files in \"\($0)\"" } ?? ""
    StandardError.write("formstream: Listening at \(receiver.url)\(place). Ctrl-C ends it.")
  }
  do throws(Failure) {
    if plan.printsJSON {
      try output.write(
        ListeningRecord(url: receiver.url, directory: plan.directory).json.line())
    }
  } catch {
    ending.tell(.failure(error))
  }
  let reason = ending.wait()
  try waiting { () async throws(Failure) in await receiver.stop() }
  switch reason {
  case .once: return
  case .failure(let failure): throw failure
  case .signal(let number):
    throw Failure(
      number == 2 ? .interrupted : .terminated, "Ended by a signal; all that was in flight is over."
    )
  }
}

private func start(
  _ plan: ReceivePlan, onRequest: @escaping @Sendable (ReceivedRequest) -> Void
) throws(Failure) -> Receiver {
  do throws(ReceiverError) {
    guard let directory = plan.directory else {
      return try .start(plan.configuration, handler: DiscardHandler(), onRequest: onRequest)
    }
    let handler = try DirectoryHandler(
      directory, keepsPaths: plan.keepsPaths, overwrites: plan.overwrites)
    return try .start(plan.configuration, handler: handler, onRequest: onRequest)
  } catch {
    throw Failure(ExitCode(error.code), error.description)
  }
}

extension ExitCode {
  init(_ code: ReceiverError.Code) {
    switch code {
    case .addressUnusable, .certificateUnusable: self = .usage
    default: self = .inputOutput
    }
  }
}

/// Why a receiver ends; what is told first counts.
private final class Ending: Sendable {
  enum Reason {
    case signal(Int32)
    case once
    case failure(Failure)
  }

  private let reason = Guarded<Reason?>(nil)
  private let isTold = Turns(0)

  func tell(_ reason: Reason) {
    let isFirst = self.reason.withLock { first in
      guard first == nil else { return false }
      first = reason
      return true
    }
    if isFirst { isTold.giveBack() }
  }

  func wait() -> Reason {
    isTold.take()
    return reason.withLock { $0 } ?? .once
  }
}
