import FormStreamBatch
import FormStreamMultipart
import FormStreamPlatform
import FormStreamJSON
import FormStreamHTTP

/// Completes the output of a request, and prints its record.
struct ResultReport {
  /// How a request of a command ended.
  struct Ending {
    /// What failed: the request, the output, or both; nil if neither did. If the request failed, the exit code is the
    /// request's.
    var failure: Failure?
    /// What became of the request, in words.
    let verdict: String
    /// The status that the request failed with; nil if it didn't fail, or failed for another reason.
    var refusedStatus: Int?
    /// The code of the request's error; nil if it has none.
    var code: TransferError.Code?
    /// The message of the failure, without the time that it has in logs; nil if it has none.
    var reason: String?
    /// A note about a success; nil if there is none.
    var note: String?
    /// The file that has got the response, if its name was not known before the request.
    var file: LocalPath?
    /// Whether there was no request, because the file exists (`--skip-existing`).
    var isSkipped = false
    /// How many bytes of the response's body arrived. A download that was continued has more in its file.
    var received: Int64 = 0

    init(
      failure: Failure?, verdict: String, refusedStatus: Int? = nil, code: TransferError.Code? = nil,
      note: String? = nil
    ) {
      (self.failure, self.verdict, self.note) = (failure, verdict, note)
      (self.refusedStatus, self.code, reason) = (refusedStatus, code, failure?.message)
    }

    /// The ending of a request that could not be sent, or whose output failed.
    init(_ failure: Failure) {
      self.init(failure: failure, verdict: failure.message)
    }

    /// Adds that an output failed. If the request has failed, too, the exit code stays the request's.
    mutating func add(_ output: Failure) {
      let messages = [output.message, failure?.message ?? verdict].filter { !$0.isEmpty }
      failure = Failure(failure?.exit ?? output.exit, messages.joined(separator: " "))
    }

    /// Ends the command.
    func finish(_ interruption: Interruption) throws(Failure) {
      var failure = failure
      // This is done even if all requests succeeded: a shell ends its loop only if the signal ends this process.
      if let signal = interruption.end() {
        let exit = ExitCode(signal: signal)
        failure = Failure(exit, failure?.message ?? "\(exit.meaning). \(verdict)")
      }
      if let failure { throw failure }
    }
  }

  let printing: PlannedPrinting
  /// The socket of `--unix-socket`.
  private let socket: LocalPath?
  /// Whether the values of `Set-Cookie` are shown.
  private let showsSetCookie: Bool
  /// The file that is sent or written, for messages; nil if there is none.
  private let subject: String?
  /// Which request of the command it is.
  private let place: RequestPlace
  /// Whether nothing of a refused response is printed, and the message says what the server said.
  let explainsInMessage: Bool
  /// The Referer header of the request; nil if it has none.
  private let referer: String?
  /// The condition of `-z`; nil without `-z`.
  private let condition: ModificationCondition?

  init(
    on request: TransferRequest, _ place: RequestPlace, of plan: SeriesPlan, subject: String?,
    condition: ModificationCondition? = nil, explainsInMessage: Bool = false
  ) {
    printing = plan.printing
    socket = plan.session.unixSocket
    showsSetCookie = request.options.tracesSetCookie
    (self.subject, self.place, self.condition) = (subject, place, condition)
    self.explainsInMessage = explainsInMessage
    referer = request.headers["Referer"]
  }

  /// Whether the response of a refused request is not printed.
  var hidesRefused: Bool { printing.hidesRefused || explainsInMessage }

  /// - Parameters:
  ///   - received: how many bytes of the response's body arrived.
  ///   - output: where the body went; nil if it is in the result.
  ///   - heads: the heads of all responses.
  ///   - check: the requirements for the response besides its status.
  func end(
    _ result: TransferResult, received: Int64, output: ResponseOutput?, heads: ReceivedHeads,
    check: ExpectedResponse?, _ interruption: Interruption
  ) -> Ending {
    let held = result.response.flatMap { output?.holds($0) == true ? $0 : nil }
    var outputFailure: Failure?
    var printed: Int64 = 0
    var words: ServerWords?
    do throws(Failure) {
      if let held, !printing.printsRecord, output?.explains(held) == true {
        // Otherwise, what the server said would be nowhere.
        if hidesRefused || printing.hidesBodies { words = ServerWords(held) }
        let heads = output?.includesHeads == true && !explainsInMessage ? heads : nil
        try printing.turn.withLock { (_) throws(Failure) in
          try interruption.performBlocking { () throws(Failure) in
            try print(
              held, after: heads, withBody: !hidesRefused && !printing.hidesBodies)
          }
        }
        if !hidesRefused, !printing.hidesBodies {
          printed = Int64(held.body.count)
          noteCut(held)
        }
      }
      if let note = try output?.finish(result, interruption), !printing.isQuiet {
        StandardError.note(note)
      }
      // If the file has not changed, it was not sent, and there is nothing to check.
      if output == nil, let response = result.response, result.outcome == .ok,
        response.status != 304, condition?.excludes(response) != true
      {
        try check?.check(kept: response, received: received)
      }
    } catch {
      outputFailure = error
    }
    if outputFailure == nil { noteEmptySuccess(result, received: received, output) }
    let stored = outputFailure == nil ? output?.stored : nil
    return end(
      result, received: received, stored: stored, heads: heads,
      includesBody: output == nil || held != nil, delivered: output.map { $0.written + printed },
      words, outputFailure,
      interruption)
  }

  /// - Parameters:
  ///   - received: how many bytes of the response's body arrived.
  ///   - stored: the stored file of the response; nil if the response was not stored.
  ///   - heads: the heads of all responses.
  ///   - includesBody: whether the result contains the response's body.
  ///   - delivered: how many bytes of the body were passed on; nil if as many as arrived.
  ///   - words: what the server said, if nothing else shows it.
  ///   - outputFailure: why the response is not where it should be.
  func end(
    _ result: TransferResult, received: Int64, stored: TransferResult.StoredResponse?,
    heads: ReceivedHeads,
    includesBody: Bool, delivered: Int64? = nil, _ words: ServerWords?, _ outputFailure: Failure?,
    _ interruption: Interruption
  ) -> Ending {
    var failure = Failure(result, socket: socket)
    if let words, result.error?.code == .statusRefused {
      failure = failure.map { Failure($0.exit, ServerWords.adding(words, to: $0.message), code: $0.code) }
    }
    var outputFailure = outputFailure
    if printing.setsTime, let stored, outputFailure == nil { setTime(of: stored.path, result) }
    // A usage error has no record: nothing was sent. But each line of a list has one.
    if printing.printsRecord, failure?.exit != .usage || place.line != nil {
      let record = record(
        of: result, received: received, stored: stored, includesBody: includesBody, outputFailure)
      do throws(Failure) {
        try printing.turn.withLock { (_) throws(Failure) in
          try interruption.performBlocking { () throws(Failure) in
            try OutputFile(.standardOutput).write(record.line())
          }
        }
      } catch {
        outputFailure = outputFailure ?? error
      }
    }
    var failureOfAll = failureOfAll(result, failure, outputFailure)
    if let writeOut = printing.writeOut, failure?.exit != .usage, interruption.signal == nil {
      do throws(Failure) {
        let request = EndedRequest(
          result: result, received: received, delivered: delivered ?? received, file: stored?.path,
          exit: failureOfAll?.exit ?? .ok, message: failureOfAll?.message, heads: try heads.all(),
          number: place.index, referer: referer,
          isUnmodified: result.response.map { condition?.excludes($0) == true } ?? false)
        try printing.turn.withLock { (_) throws(Failure) in
          try interruption.performBlocking { () throws(Failure) in try writeOut.write(request) }
        }
      } catch {
        failureOfAll = Failure(
          failureOfAll?.exit ?? error.exit,
          failureOfAll.map { "\(error.message) \($0.message)" }
            ?? naming("\(error.message) \(result.verdict)"),
          code: failureOfAll?.code ?? error.code)
      }
    }
    let reason = failureOfAll?.message
    if let failure = failureOfAll, failure.exit != .usage {
      failureOfAll = Failure(
        failure.exit, MessageStream.standardError.stamped(failure.message), code: failure.code)
    }
    var ending = Ending(
      failure: failureOfAll, verdict: result.verdict,
      refusedStatus: result.error?.code == .statusRefused ? result.status : nil,
      code: result.error?.code,
      note: printing.isQuiet || outputFailure != nil ? nil : stored?.noteOnEnd(of: result))
    (ending.reason, ending.received) = (reason, received)
    return ending
  }

  private func record(
    of result: TransferResult, received: Int64, stored: TransferResult.StoredResponse?,
    includesBody: Bool, _ outputFailure: Failure?
  ) -> JSONValue {
    let error: JSONValue =
      if let error = result.error {
        .failure(code: error.code.rawValue, naming(error.sentence(socket: socket)))
      } else if let outputFailure {
        .failure(code: outputFailure.code.rawValue, outputFailure.message)
      } else {
        .null
      }
    // A GET whose response is lost is not a success.
    let isLost = result.outcome == .ok && outputFailure != nil && result.method == .get
    return result.record(
      at: place, outcome: isLost ? .failed : result.outcome, received: received, stored: stored,
      includesBody: includesBody, showsSetCookie: showsSetCookie, error: error)
  }

  /// Gives a file the time of the server's `Last-Modified`.
  private func setTime(of path: LocalPath, _ result: TransferResult) {
    guard let text = result.response?.headers["Last-Modified"],
      let seconds = HTTPDate.seconds(text)
    else { return }
    do throws(SystemError) {
      try setModificationTime(of: path, to: seconds)
    } catch {
      if !printing.isQuiet {
        StandardError.note("The time of \"\(path)\" could not be set: \(error).")
      }
    }
  }

  /// The failure of the request, of its output, or of both, with the file that it is about.
  private func failureOfAll(
    _ result: TransferResult, _ failure: Failure?, _ outputFailure: Failure?
  ) -> Failure? {
    var failure = failure
    // The library reports a failed output as the request's error if nothing else is wrong.
    if let outputFailure, !(result.error?.underlying is Failure) {
      failure = Failure(
        failure?.exit ?? outputFailure.exit,
        "\(outputFailure.message) \(failure?.message ?? result.verdict)")
    }
    guard let failure, failure.exit != .usage else { return failure }
    return Failure(failure.exit, naming(failure.message), code: failure.code)
  }

  /// The message with the file's name before it, for readers of a log.
  func naming(_ message: String) -> String {
    guard let subject, !message.contains("\"\(subject)\"") else { return message }
    return "\(subject): \(message)"
  }

  /// Makes a request report its heads and its retries while it runs.
  func follow(_ request: inout TransferRequest, _ heads: ReceivedHeads) {
    if printing.needsHeads {
      request.options.receiveHead = heads.add
      request.options.receiveTrailer = heads.addTrailer
    }
    // With -v, the trace reports the retries.
    if request.options.trace == nil { request.options.willRetry = note }
  }

  /// Says that a request is sent again, and why.
  private func note(_ retry: TransferRetry) {
    guard !printing.isQuiet, let next = retry.note else { return }
    let reason = retry.error.map { "\($0.sentence(socket: socket)) " } ?? ""
    StandardError.event(naming(reason + next))
  }

  /// Notes that a response is printed only in part. If it was meant for a file, only its beginning was kept.
  func noteCut(_ response: TransferResponse) {
    guard response.isTruncated, !printing.isQuiet else { return }
    let count = response.body.count
    StandardError.note(
      "Only the first \(counted(count, "byte", "bytes")) of the response \(count == 1 ? "is" : "are") printed."
    )
  }

  /// Notes a success without a body: otherwise a terminal would show nothing.
  private func noteEmptySuccess(
    _ result: TransferResult, received: Int64, _ output: ResponseOutput?
  ) {
    guard let output, output.isTerminal, !output.includesHeads, !printing.isQuiet, received == 0,
      result.outcome == .ok, let status = result.status
    else { return }
    StandardError.note("The server responded with the status \(status), and without a body.")
  }
}

extension TransferResult.StoredResponse {
  /// The note that the file may be incomplete; nil if it is complete.
  fileprivate func noteOnEnd(of result: TransferResult) -> String? {
    // RFC 9112 §6.3: a response to HEAD ends with its head.
    guard result.method != .head, result.response?.hasUnknownEnd == true, sha256 == nil else {
      return nil
    }
    return
      "The server did not say how long \"\(path)\" is, and a connection that broke looks like its end: it may be incomplete."
      + (result.method == .get ? " formstream get --sha256 shows it." : "")
  }
}

/// Prints a response that is not stored in the file of `-o`.
///
/// - Parameters:
///   - heads: the heads that come before the body; nil if no heads come before it.
///   - printsBody: whether the body is printed.
func print(
  _ response: TransferResponse, after heads: ReceivedHeads?, withBody printsBody: Bool
) throws(Failure) {
  let output = try ResponseOutput(
    .standardOutput, following: TransferOptions(), outputsAnyStatus: true, heads: heads)
  var failure: Failure?
  (printsBody ? Array(response.body) : []).withUnsafeBytes { bytes in
    do throws(Failure) { try output.write(bytes) } catch { failure = error }
  }
  if let failure { throw failure }
  try output.finish()
}
