import FormStreamHTTP

/// Sends one request, shows its progress, and prints its response or its record.
struct RequestRun {
  let request: TransferRequest
  /// Where the response's body goes; nil if it goes into the record.
  let output: ResponseOutput?
  /// How many bytes of the response's body the record holds.
  let responseLimit: Int
  /// What the response must be beyond its status.
  var check: ExpectedResponse?
  let report: ResultReport
  /// Receives the heads of all responses.
  let heads: ReceivedHeads

  func perform(
    in session: TransferSession, _ display: ProgressDisplay, _ interruption: Interruption
  ) throws(Failure) -> ResultReport.Ending {
    let sharesTerminal = output?.isTerminal ?? false
    var request = request
    request.options.responseTarget =
      if let output {
        .stream(includingRefused: output.includesRefused) { bytes in
          if sharesTerminal { display.yieldTerminal() }
          try output.write(bytes)
        }
      } else {
        .truncated(at: responseLimit, readingToEnd: true)
      }
    report.follow(&request, heads)
    let task = session.start(request)
    interruption.onSignal { _ in task.cancel() }
    let result = try display.follow(
      task.progress, until: { accepting(await task.result) }, hasSucceeded: { $0.error == nil })
    return report.end(
      result, received: task.progress.current.received, output: output, heads: heads,
      check: check, interruption)
  }

  /// The result, which is a success as well if the server refused a range that begins at the end of the resource.
  private func accepting(_ result: TransferResult) -> TransferResult {
    guard result.outcome == .failed, result.error?.code == .statusRefused,
      let response = result.response, check?.isEmptyRest(response) == true
    else { return result }
    return result.accepted()
  }
}

/// Fails if the limit for memory leaves no room for threads: libdispatch would wait for one for ever. Many files have more.
func checkAddressSpace(for plan: CommandPlan) throws(Failure) {
  let isOfManyFiles = if case .send = plan { true } else { false }
  guard hasAddressSpace(forThreads: isOfManyFiles ? 16 : 4) else {
    throw Failure(
      .inputOutput,
      "The limit for memory leaves no room for the threads of this program: allow \(isOfManyFiles ? 192 : 64) MiB more with "
        + "ulimit -v.")
  }
}

/// Fails if too few files can be open at once to send anything.
func checkDescriptors() throws(Failure) {
  guard canOpenDescriptors() else {
    throw Failure(
      .inputOutput,
      "Too few files can be open at once to send anything: allow 24 or more with ulimit -n.")
  }
}
