import FormStreamMultipart
import FormStreamTestSupport
import FormStreamTransfer

/// Judges an outcome by what the server knows. It doesn't know how the client decides.
struct GridJudge {
  /// Something that an outcome says and that is not so.
  struct Lie: CustomStringConvertible {
    enum Kind: String, CaseIterable {
      /// `ok`, but the server did not carry out this request, or did not say so.
      case falseOK = "ok, but not carried out"
      case truncatedOK = "ok, but the response is not complete"
      case falseResponse = "a response that is not the request's"
      case falseFailed = "failed, but it may have been carried out"
      case falseRetryable = "retryable, but it may have been carried out"
      case falseCancelled = "cancelled, but it may have been carried out"
      case falseSourceChanged = "source-changed, but it may have been carried out"
      case temporaryFailed = "failed, but another attempt may succeed"
      case permanentRetryable = "retryable, but the server refused it for good"
      case needlessUnknown = "unknown, but the client could know better"
      case strangeOutcome = "an outcome that nothing asked for"
      case attempts = "the attempts are not those that the server saw"
      case bytes = "the bytes are not those that the server saw"
      case wire = "the wire is not HTTP"
    }

    var kind: Kind
    var detail: String
    var description: String { "\(kind.rawValue): \(detail)" }
  }

  /// Whether the server may have carried out what an attempt asked for.
  private enum Execution { case no, perhaps, yes }

  private let evidence: GridEvidence
  private var cell: GridCell { evidence.cell }
  private var result: TransferResult { evidence.result }
  private var last: GridEvidence.Attempt? { evidence.attempts.last }

  static func lies(in evidence: GridEvidence) -> [Lie] {
    let judge = GridJudge(evidence: evidence)
    return judge.outcomeLies + judge.responseLies + judge.countLies
  }

  // MARK: What is true

  /// The server carries out complete requests only. One that it answers with a success was carried out; one that it
  /// refuses was not; of all others it does not say.
  private func execution(_ attempt: GridEvidence.Attempt) -> Execution {
    guard attempt.isComplete, !attempt.deed.play.end.refuses else { return .no }
    guard let status = status(attempt) else { return .perhaps }
    if (200...299).contains(status) { return attempt.deed.wasComplete ? .yes : .perhaps }
    return isOfGateway(attempt) ? .perhaps : .no
  }

  /// The status that the server sent, so that a client can read it.
  private func status(_ attempt: GridEvidence.Attempt) -> Int? {
    attempt.deed.hasResponded ? attempt.deed.play.response?.status : nil
  }

  /// Gateways send these for a server that may have carried out the request.
  private func isOfGateway(_ attempt: GridEvidence.Attempt) -> Bool {
    switch attempt.deed.play.response {
    case .gateway: true
    default: [502, 504].contains(status(attempt))
    }
  }

  private var carriedOut: [GridEvidence.Attempt] {
    cell.request.changesSomething ? evidence.attempts.filter { execution($0) != .no } : []
  }

  // MARK: The outcome

  private var outcomeLies: [Lie] {
    switch result.outcome {
    case .ok: okLies
    case .failed: lies(if: !carriedOut.isEmpty, .falseFailed) + permanenceLies
    case .retryable: retryableLies
    case .cancelled:
      lies(if: !carriedOut.isEmpty, .falseCancelled)
        + lies(if: !cell.isCancelled, .strangeOutcome)
    case .sourceChanged:
      lies(if: !carriedOut.isEmpty, .falseSourceChanged)
        + lies(if: cell.second != .fileChanged, .strangeOutcome)
    case .unknown: lies(if: !isDoubtful, .needlessUnknown)
    }
  }

  /// Whether the server said ok to these bytes. One that says so before it reads what is in its buffers already has
  /// said it, too: no client can tell. With HTTP/2 a short request leaves in one piece, unless its source is late.
  private func saysOK(_ attempt: GridEvidence.Attempt) -> Bool {
    guard let status = status(attempt), (200...299).contains(status) else { return false }
    if execution(attempt) == .yes { return true }
    return !cell.request.isLarge && (cell.transport != .http2 || cell.request == .postChunked)
  }

  private var okLies: [Lie] {
    guard let last, saysOK(last), mark == last.deed.mark else {
      return lies(if: true, .falseOK)
    }
    let isComplete = last.deed.play.response?.isComplete == true
    // A response up to the end of the connection is complete only if TLS says that the end is the end.
    let endIsCertain =
      !(last.deed.play.response?.endsWithConnection == true && cell.transport == .bareTLS)
    let isTruncated = !isComplete || !endIsCertain
    if isTruncated, !cell.request.changesSomething { return lies(if: true, .truncatedOK) }
    return lies(if: isTruncated && result.response?.isTruncated == false, .truncatedOK)
  }

  /// `retryable` says that sending it again does no harm. Of a request that may be repeated that is also true after
  /// a status that says that the server has a trouble that passes.
  private var retryableLies: [Lie] {
    let isHarmful = carriedOut.contains { attempt in
      !(cell.request.isRepeatable && isTemporary(status(attempt)))
    }
    let isPermanent = last.map { [400, 409, 413].contains(status: status($0)) && !mayBeLost($0) }
    return lies(if: isHarmful, .falseRetryable) + lies(if: isPermanent == true, .permanentRetryable)
  }

  /// `failed` says that another attempt changes nothing.
  private var permanenceLies: [Lie] {
    let status = last.flatMap { self.status($0) }
    if last?.deed.play.response == .rubbish { return [] }
    if status == nil || result.status == nil { return lies(if: true, .temporaryFailed) }
    let isRefusal = [429, 503].contains(status: status)
    return lies(
      if: isRefusal || cell.request.isRepeatable && isTemporary(status), .temporaryFailed)
  }

  private func isTemporary(_ status: Int?) -> Bool {
    [408, 425, 429, 500, 502, 503, 504].contains(status: status)
  }

  // MARK: What a client can know

  /// Whether a client can't know better than `unknown`.
  private var isDoubtful: Bool {
    guard cell.request.changesSomething, evidence.attempts.contains(where: leavesDoubt) else {
      return false
    }
    guard let last else { return false }
    // A success ends all doubt.
    return !(execution(last) == .yes && mark == last.deed.mark)
  }

  private func leavesDoubt(_ attempt: GridEvidence.Attempt) -> Bool {
    let play = attempt.deed.play
    if [.connect, .handshake].contains(play.moment) || play.end.refuses { return false }
    if let status = status(attempt) {
      if (200...299).contains(status) {
        return !attempt.deed.wasComplete || mayBeLost(attempt)
      }
      // A server or a gateway that failed may have acted on it, and what follows doesn't settle that.
      let isSettled = attempt.deed.mark == last?.deed.mark && !cell.isCancelled && !hasUnseenAttempt
      if isOfGateway(attempt) {
        // A sender who allows repetition doesn't say that it does no harm.
        let isHarmlessTwice = cell.request.isRepeatable && cell.request != .postUnsafe
        return !(isSettled && isHarmlessTwice && isTemporary(status))
      }
      return status == 500 && !isSettled || mayBeLost(attempt)
    }
    if attempt.isComplete { return true }
    // What fits into the buffers on the way may have arrived completely. Under TLS a response may have been lost.
    return !cell.request.isLarge || cell.transport.isEncrypted
  }

  /// Whether a response that was sent can be lost: TLS and HTTP/2 drop what arrives together with a reset, and a client
  /// that is cancelled may not have read it.
  private func mayBeLost(_ attempt: GridEvidence.Attempt) -> Bool {
    let end = attempt.deed.play.end
    if end == .cancel, result.status == nil { return true }
    return cell.transport != .plain
      && ([.reset, .resetStream].contains(end)
        || [.close, .stopReading].contains(end) && !attempt.deed.wasComplete)
  }

  // MARK: The response and the counts

  /// Whether the client made one more attempt, of which the server saw nothing: the file had changed.
  private var hasUnseenAttempt: Bool { result.attempts > evidence.attempts.count }

  private var mark: String? { result.response?.headers["Mark"] }

  private var responseLies: [Lie] {
    guard let mark else { return [] }
    return lies(if: !evidence.attempts.contains { $0.deed.mark == mark }, .falseResponse)
  }

  private var countLies: [Lie] {
    let seen = evidence.attempts.count
    let length = Int64(cell.request.size ?? 0)
    let lastCount = Int64(last?.request?.bodyCount ?? 0)
    let received = evidence.attempts.map { $0.request?.bodyCount ?? 0 }.reduce(0, +)
    // What happened before a request can be noticed by the server alone, or by the client alone.
    let isVague = evidence.attempts.contains { $0.request == nil } || cell.isCancelled
    // A changed file may be noticed before anything is sent.
    let attemptsAgree =
      isVague || result.attempts == seen
      || result.error?.code == .sourceChanged && result.attempts == seen + 1
    let bytesAgree =
      result.bytesSent <= length && result.totalBytesSent >= Int64(received)
      && result.totalBytesSent <= length * Int64(result.attempts)
      && (result.attempts != seen || result.bytesSent >= lastCount)
      && (result.outcome != .ok || result.bytesSent == length)
      && (!(seen == 1 && isUnreachable) || result.totalBytesSent == 0)
    return lies(if: !attemptsAgree, .attempts) + lies(if: !bytesAgree, .bytes)
      + lies(if: !evidence.faults.isEmpty && cell.first.moment != .handshake, .wire)
  }

  private var isUnreachable: Bool {
    [.connect, .handshake].contains(evidence.attempts.first?.deed.play.moment)
  }

  // MARK: Words

  private func lies(if isLie: Bool, _ kind: Lie.Kind) -> [Lie] {
    guard isLie else { return [] }
    let truth = evidence.attempts.map { attempt in
      let received =
        attempt.request.map { "\(attempt.isComplete ? "complete" : "\($0.bodyCount) bytes")" }
        ?? "nothing"
      return "received \(received), did \(attempt.deed.play)"
    }
    return [
      Lie(
        kind: kind,
        detail: "\(cell): the server \(truth.joined(separator: ", then ")); the client said "
          + "\(result.outcome), status \(result.status.map(String.init) ?? "none"), mark \(mark ?? "none"), attempts "
          + "\(result.attempts), bytes \(result.bytesSent)/\(result.totalBytesSent), error "
          + "\(result.error?.code.rawValue ?? "none") \(result.error?.description ?? "") \(evidence.faults)"
      )
    ]
  }
}

extension GridPlay.Response {
  fileprivate var endsWithConnection: Bool { if case .untilClose = self { true } else { false } }
}

extension GridCell {
  fileprivate var isCancelled: Bool {
    first.end == .cancel || second == .cancelled || second == .cancelledBefore
  }
}

extension [Int] {
  fileprivate func contains(status: Int?) -> Bool { status.map { contains($0) } ?? false }
}
