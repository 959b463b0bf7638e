import FormStreamMultipart
import FormStreamReceiver
import FormStreamRecords

/// Carries out `receive`: listens until it is ended, and tells of each request.
func receive(_ plan: ReceivePlan) throws(Failure) {
  // A connection has a socket, and a file of what it sends.
  guard canOpenEnough(wanting: 1024) else {
    throw Failure(
      .inputOutput,
      "Too few files can be open at once to receive anything: allow 32 or more with ulimit -n.")
  }
  let output = try OutputFile(.standardOutput)
  let ending = Ending()
  // What is in flight gets 10 seconds of these; with a second signal, none: but what is half stored is removed.
  tellSignals(grace: 12, isHangupTold: true, toldAgain: { ending.hurry() }) {
    ending.tell(.signal($0))
  }
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
  ending.wait(for: receiver)
  if case .signal = ending.reason, !plan.isQuiet {
    StandardError.write("formstream: Ending: what is in flight gets 10 s; once more ends at once.")
  }
  try waiting { () async throws(Failure) in await receiver.stop() }
  switch ending.reason {
  case .once: return
  case .failure(let failure): throw failure
  case .signal(let number):
    let code = ExitCode(rawValue: 128 + number) ?? .terminated
    throw Failure(code, plan.isQuiet ? "" : "\(code.meaning).")
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
    if let directory = plan.directory, error.code == .directoryUnusable {
      throw .unusable(directory, error.underlying, said: error.description)
    }
    throw Failure(ExitCode(error), error.description)
  }
}

extension ExitCode {
  fileprivate init(_ error: ReceiverError) {
    switch error.code {
    // As with those of `post`.
    case .certificateUnusable: self = .noInput
    // What is no address; the rest is the system's word, which may be another at another time.
    case .addressUnusable where error.underlying == nil: self = .usage
    default: self = .inputOutput
    }
  }
}

/// Why a receiver ends: a failure, or else what was told first.
private final class Ending: Sendable {
  enum Reason {
    case signal(Int32)
    case once
    case failure(Failure)
  }

  private struct State {
    var reason: Reason?
    var isHurried = false
    /// The one that is to end.
    var receiver: Receiver?
  }

  private let state = Guarded(State())

  var reason: Reason { state.withLock { $0.reason } ?? .once }

  func tell(_ reason: Reason) {
    state.withLock { state in
      switch (state.reason, reason) {
      case (nil, _): state.reason = reason
      // What is not written down of what was in flight must not end as if all were well.
      case (.once, .failure), (.signal, .failure): state.reason = reason
      default: break
      }
    }
  }

  /// Has what is in flight cut off.
  func hurry() {
    let receiver = state.withLock { state in
      state.isHurried = true
      return state.receiver
    }
    if let receiver { Task { await receiver.stop(grace: .zero) } }
  }

  /// Waits until something is told; from then on ``hurry()`` knows the receiver.
  func wait(for receiver: Receiver) {
    let isHurried = state.waitUntil({ $0.reason != nil }) { state in
      state.receiver = receiver
      return state.isHurried
    }
    if isHurried { hurry() }
  }
}
