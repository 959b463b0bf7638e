import FormStreamMultipart
import FormStreamPlatform
import FormStreamReceiver
import FormStreamJSON

/// Runs `receive`: listens until a signal or `--once` ends it, and reports each request.
func receive(_ plan: ReceivePlan) throws(Failure) {
  // Each connection needs a socket, and a file for its upload.
  let connections = UInt(plan.configuration.limits.connections)
  guard canOpenDescriptors(wanting: max(1024, 2 * connections + 64)) else {
    throw Failure(
      .inputOutput,
      "Too few files can be open at once to receive anything: allow 24 or more with ulimit -n.")
  }
  let output = try OutputFile(.standardOutput)
  let end = ReceiverEnd()
  // The receiver gives uploads 10 seconds of the 12; the cleanup second is for removing half-stored files.
  let interruption = Interruption(gracePeriod: 12, cleanup: 1, includesQuit: true)
  interruption.onSignal { end.addReason(.signal($0)) }
  let queue = LogQueue(
    to: output, lineAboutLoss: { RequestLog.line(aboutLossOf: $0, asRecord: plan.printsJSON) },
    onFailure: { end.addReason(.failure($0)) })
  let log = RequestLog(to: queue, asRecords: plan.printsJSON, isVerbose: plan.isVerbose)
  let receiver = try start(plan, queue, until: end, log) { request in
    log.report(request)
    guard plan.isOnce, request.isComplete else { return }
    if request.holdsSomething {
      end.addReason(.once)
    } else if !plan.isQuiet {
      queue.add(.note("That upload holds nothing: --once waits for another."))
    }
  }
  interruption.onGracePeriodEnd { receiver.beginStopping(grace: .zero) }
  guard queue.start(with: firstLines(plan, receiver)) else {
    throw Failure(.inputOutput, "No thread can be started to write the output.")
  }
  if case .signal = end.wait(), !plan.isQuiet {
    queue.add(
      .note("Ending: uploads in progress get 10 s to finish. A second signal ends them at once."))
  }
  receiver.beginStopping(grace: .seconds(10))
  receiver.blockUntilStopped()
  let (unwritten, reason) = queue.close()
  let lost = unwritten + log.omitted
  if lost > 0 {
    let lines = "\(counted(lost, "line about a request is", "lines about requests are")) lost."
    // If standard error is the same pipe, writing the message would block, because nothing reads the pipe.
    let message =
      reason.map { "\($0.message) \(lines)" } ?? "\(output.name) was not read: \(lines)"
    let isSeen = OutputDescriptor.standardError.isReady
    end.addReason(.failure(Failure(.inputOutput, isSeen ? message : "")))
  }
  // This asks for the reason again, because a failure in the meantime takes precedence.
  try finish(plan, after: end.wait(), interruption)
}

extension ReceivedRequest {
  /// Whether there is anything in the upload: a byte, or an empty file that has a name or was stored. If no file was
  /// chosen, a form has a part with an empty file name (HTML §4.10.21.4). A field that was left blank is an empty text.
  fileprivate var holdsSomething: Bool {
    parts.contains { $0.size > 0 || $0.filename?.isEmpty == false || $0.storedAs != nil }
  }
}

/// Ends the command after the receiver was stopped.
private func finish(
  _ plan: ReceivePlan, after reason: ReceiverEnd.Reason, _ interruption: Interruption
) throws(Failure) {
  let exit = interruption.end().map(ExitCode.init(signal:))
  switch reason {
  case .failure(let failure):
    throw exit.map { Failure($0 == .terminated ? failure.exit : $0, failure.message) } ?? failure
  case .once where exit == nil || exit == .terminated: return
  case .once, .signal:
    let exit = exit ?? .terminated
    let message = plan.isQuiet ? "" : "\(exit.meaning)."
    // Service managers end a server with SIGTERM, so it is a success unless a second signal cut off uploads in
    // progress. With --once, SIGTERM is no success, because a success would mean that an upload was accepted. After
    // Ctrl-C, the signal ends the process, because otherwise a shell would go on with its loop.
    guard exit == .terminated, !plan.isOnce, !interruption.isGracePeriodOver else {
      throw Failure(exit, message)
    }
    if !message.isEmpty { StandardError.note(message) }
  }
}

/// The lines that are written before the lines about requests.
private func firstLines(_ plan: ReceivePlan, _ receiver: Receiver) -> [LogQueue.Line] {
  var lines: [LogQueue.Line] = []
  let urls = plan.isQuiet && !plan.printsJSON ? [] : receiver.urlsForOthers()
  if !plan.isQuiet {
    let storageNote = plan.directory.map { ", storing files in \"\($0)\"" } ?? ""
    lines = plan.notes.map { .note($0) }
    lines.append(.note("Listening at \(receiver.url)\(storageNote). Ctrl-C ends it."))
    if !plan.configuration.isLoopbackOnly, urls != [receiver.url] {
      lines.append(.note(placesForOthers(urls)))
    }
  }
  if plan.printsJSON {
    let directory = JSONValue.path(plan.directory)
    let record: JSONValue = [
      "schema": "formstream.listening/1",
      "url": .string(receiver.url),
      "urls": .array(urls.map(JSONValue.string)),
      "directory": directory.text,
      "directory_b64": directory.base64,
    ]
    lines.append(.output(record.line()))
  }
  return lines
}

/// A sentence with the URLs that people on other machines can type.
private func placesForOthers(_ urls: [String]) -> String {
  /// A machine with containers may have hundreds of addresses.
  let maximum = 6
  if urls.isEmpty { return "This machine has no address that others could reach." }
  let rest = urls.count > maximum ? " and \(urls.count - maximum) more" : ""
  return "Others reach it at \(urls.prefix(maximum).joined(separator: " "))\(rest)"
}

private func start(
  _ plan: ReceivePlan, _ queue: LogQueue, until end: ReceiverEnd, _ log: RequestLog,
  onRequest: @escaping @Sendable (ReceivedRequest) -> Void
) throws(Failure) -> Receiver {
  do throws(ReceiverError) {
    let handler: any UploadHandler =
      if let directory = plan.directory {
        try DirectoryHandler(
          directory, keepsPaths: plan.keepsPaths, overwrites: plan.overwrites,
          synchronizes: plan.synchronizes)
      } else {
        DiscardHandler()
      }
    let logged = LoggedHandler(queue: queue, handler: handler)
    let tested = logged.responding { upload in
      try plan.response.respond(to: upload) { end.isReached }
    }
    let complete: any UploadHandler = plan.response.isChosen ? tested : logged
    return try .start(
      plan.configuration, handler: complete, onRequest: onRequest,
      onHead: { log.report(head: $0) })
  } catch {
    if let directory = plan.directory, error.code == .directoryUnusable {
      throw .unusableDirectory(directory, cause: error.underlying, description: error.description)
    }
    throw Failure(ExitCode(error), error.description)
  }
}

extension ExitCode {
  fileprivate init(_ error: ReceiverError) {
    switch error.code {
    // The same code as for the certificates of `post`.
    case .certificateUnusable: self = .noInput
    // If there is no system error, the text is not an address. A system error may go away by itself.
    case .addressUnusable where error.underlying == nil: self = .usage
    default: self = .inputOutput
    }
  }
}

/// Why a receiver ends. The first reason counts, unless a failure follows it.
private final class ReceiverEnd: Sendable {
  enum Reason {
    case signal(Int32)
    case once
    case failure(Failure)
  }

  private let reason = Guarded<Reason?>(nil)

  func addReason(_ newReason: Reason) {
    reason.withLock { reason in
      switch (reason, newReason) {
      case (nil, _): reason = newReason
      // A request that could not be reported must not end as a success.
      case (.once, .failure), (.signal, .failure): reason = newReason
      // The upload was in progress when the signal came, and was accepted.
      case (.signal, .once): reason = newReason
      default: break
      }
    }
  }

  /// Whether there is a reason.
  var isReached: Bool { reason.withLock { $0 != nil } }

  /// Waits until there is a reason.
  func wait() -> Reason {
    reason.waitUntil({ $0 != nil }) { $0 ?? .once }
  }
}
