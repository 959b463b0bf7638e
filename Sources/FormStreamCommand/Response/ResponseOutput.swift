import FormStreamMultipart
import FormStreamDigest
import FormStreamPlatform
import FormStreamHTTP

/// Where the body of a response goes while it arrives.
final class ResponseOutput: Sendable {
  private struct State {
    var text = TerminalStream()
    var hasReceivedBytes = false
    /// How many bytes of the body were written.
    var written: Int64 = 0
    var isCommitted = false
    /// The failure of the first piece that could not be written.
    var failure: Failure?
  }

  private let target: OutputTarget
  private let file: OutputFile
  /// The request's options, which say which statuses are a success.
  private let options: TransferOptions
  /// Whether the output receives the response of a refused request, too.
  let includesRefused: Bool
  /// Whether only heads are written.
  private let hidesBody: Bool
  private let check: ExpectedResponse?
  /// The heads that come before the body; nil if no heads come before it.
  private let heads: ReceivedHeads?
  private let state = Guarded(State())
  /// Whether the output is a terminal, which the server must not be able to control.
  let isTerminal: Bool

  /// - Parameters:
  ///   - outputsAnyStatus: whether a file gets the response of a refused request, too. Standard output and devices always get
  ///     it, unless a range was asked for.
  ///   - replacesFile: whether an existing file may be replaced.
  ///   - hidesRefused: whether the response of a refused request goes nowhere.
  ///   - hidesBody: whether only heads are written.
  ///   - heads: the heads that come before the body; nil if no heads come before it.
  ///   - check: the requirements for the response besides its status.
  init(
    _ target: OutputTarget, following options: TransferOptions, outputsAnyStatus: Bool,
    replacesFile: Bool = true, hidesRefused: Bool = false, hidesBody: Bool = false,
    heads: ReceivedHeads? = nil, check: ExpectedResponse? = nil
  ) throws(Failure) {
    self.options = options
    (self.target, self.heads, self.check, self.hidesBody) = (target, heads, check, hidesBody)
    file = try OutputFile(target, replacesFile: replacesFile)
    // If a range was asked for, refused responses are not included: the server may send the complete resource, with another
    // success status such as 200.
    includesRefused =
      outputsAnyStatus || !hidesRefused && !file.isNamedAtEnd && check?.hasRange != true
    // The name is not enough to decide this: /dev/tty is a terminal, and /dev/stdout may be one.
    isTerminal = file.isTerminal
  }

  func write(_ bytes: UnsafeRawBufferPointer) throws(Failure) {
    if !bytes.isEmpty { state.withLock { $0.hasReceivedBytes = true } }
    do throws(Failure) {
      try writeHeads()
      if !hidesBody {
        try put(bytes)
        state.withLock { $0.written += Int64(bytes.count) }
      }
      try check?.update(bytes)
    } catch {
      state.withLock { $0.failure = $0.failure ?? error }
      throw error
    }
  }

  private func put(_ bytes: UnsafeRawBufferPointer) throws(Failure) {
    guard isTerminal else { return try file.write(bytes) }
    try file.write(state.withLock { $0.text.visible(bytes) })
  }

  /// Writes the heads that have arrived since the last time.
  private func writeHeads() throws(Failure) {
    guard let bytes = heads?.takeUnwritten(), !bytes.isEmpty else { return }
    // A terminal needs no CR, and `put(_:)` would spell it out as an escape.
    let shown = isTerminal ? bytes.filter { $0 != 0x0D } : bytes
    var failure: Failure?
    shown.withUnsafeBytes { shown in
      do throws(Failure) { try put(shown) } catch { failure = error }
    }
    if let failure { throw failure }
  }

  /// Gives a file its name if it contains the complete final response. Otherwise an existing file stays unchanged.
  ///
  /// - Returns: a message if the response is missing and no error says so.
  /// - Throws: the failure of this output, even if the output failed earlier.
  private func finish(_ result: TransferResult) throws(Failure) -> String? {
    if let failure = state.withLock(\.failure) {
      file.discard()
      throw failure
    }
    // If the response has no body, its heads are written here.
    if result.outcome != .cancelled { try writeHeads() }
    // After Ctrl-S, a terminal accepts no output, and would block the end of a cancelled request.
    if result.response?.isTruncated == false { try finish() }
    // The server has nothing new for the user, so an existing file stays.
    if result.outcome == .ok, let response = result.response, isNothingNew(response) {
      file.discard()
      return nil
    }
    if let response = result.response, result.outcome != .cancelled, isComplete(response) {
      if options.accepts(response.status) {
        do throws(Failure) {
          try check?.check(response)
        } catch {
          file.discard()
          throw error
        }
      }
      try file.commit()
      state.withLock { $0.isCommitted = true }
      return nil
    }
    // The file is discarded now, because the session may keep a reference until the process ends.
    guard file.discard(), result.outcome == .ok, result.error == nil else { return nil }
    return
      "The server accepted the request, but the page that it names as its result could not be fetched. "
      + "\(file.name) is not written."
  }

  /// Whether an accepted response says that the user has everything already, or has a body that the user doesn't want.
  private func isNothingNew(_ response: TransferResponse) -> Bool {
    response.status == 304 || options.leavesOutBody?(response) == true
      || check?.isEmptyRest(response) == true
  }

  /// Finishes the output. This happens on another thread if something may be written to an output that has no reader.
  func finish(_ result: TransferResult, _ interruption: Interruption) throws(Failure) -> String? {
    if file.isNamedAtEnd || !isTerminal && heads == nil { return try finish(result) }
    return try interruption.performBlocking(orElse: target.unread) { () throws(Failure) in
      try self.finish(result)
    }
  }

  /// How many bytes of the body were written.
  var written: Int64 { state.withLock(\.written) }

  /// Whether the heads of responses come before the body.
  var includesHeads: Bool { heads != nil }

  /// Completes what is shown on a terminal.
  func finish() throws(Failure) {
    if isTerminal { try file.write(state.withLock { $0.text.rest() }) }
  }

  /// The stored file of the response; nil if the response was not stored.
  var stored: TransferResult.StoredResponse? {
    guard case .path(let path) = target, file.isNamedAtEnd, state.withLock(\.isCommitted) else {
      return nil
    }
    return TransferResult.StoredResponse(path: path, sha256: check?.digest)
  }

  /// Whether a response that was kept in memory explains its refusal, and is printed. If the server sent the complete resource
  /// in place of a range, the response explains nothing. With `-C N`, the output is appended to a partial file, so only the
  /// rest may be printed.
  func explains(_ held: TransferResponse) -> Bool {
    if check?.isRest == true { return false }
    return check?.hasRange != true || !(200...299).contains(held.status)
  }

  /// Whether the response was refused and is not written here, so that the result has its body.
  func holds(_ response: TransferResponse) -> Bool {
    !includesRefused && !options.accepts(response.status)
  }

  private func isComplete(_ response: TransferResponse) -> Bool {
    if response.isTruncated || holds(response) { return false }
    // A 303 without a body only names the page with the response, and that page could not be fetched.
    let isEmptySeeOther =
      response.status == 303 && !options.accepts(303) && response.headers.contains("Location")
      && !state.withLock(\.hasReceivedBytes)
    return !isEmptySeeOther
  }
}
