import FormStreamMultipart
import FormStreamHTTP

/// What one request brings: a file, several files, or a slice of a file.
struct BatchRequest {
  /// One of the files, and what became of it so far.
  struct Member {
    var ending: FileOutcome
    /// Nil until it is opened.
    var opened: OpenedBatchFile?

    var file: BatchFile { ending.file }
  }

  /// The files, in the order in which the request has them.
  var members: [Member]
  /// The slice of the only file that is sent; nil for complete files.
  var slice: FileSlice?
  /// Whether the journal has a line that says that a request for the files began.
  var isStarted = false

  /// The number of bytes of files; at most that of the largest number.
  var size: Int64 {
    slice?.length
      ?? members.reduce(0) { $0.addingClamped($1.file.size) }
  }

  /// Removes files, and returns what became of them.
  mutating func remove(where isRemoved: (Member) -> Bool) -> [FileOutcome] {
    let endings = members.filter(isRemoved).map(\.ending)
    members.removeAll(where: isRemoved)
    return endings
  }

  /// Removes all files, and returns what became of them.
  mutating func removeAll() -> [FileOutcome] { remove { _ in true } }

  /// Notes the result of a request with these files. If one of several could not be read to its end, the request was not
  /// completed: that file leaves the unit, and is returned, and the others go on without it.
  mutating func note(_ result: TransferResult, isIdempotent: Bool) -> [FileOutcome] {
    let isFaulty = members.count > 1 && !result.isOutOfDescriptors
    let faulty = isFaulty ? (result.error?.underlying as? MultipartError)?.file : nil
    let isOfMember = faulty.map { faulty in members.contains { $0.file.path == faulty } } ?? false
    for index in members.indices {
      members[index].ending.note(
        result, sharedBy: members.count, isIdempotent: isIdempotent)
      if isOfMember, let faulty, members[index].file.path != faulty {
        members[index].ending.noteCutShort(by: faulty)
      }
    }
    return isOfMember ? remove { $0.file.path == faulty } : []
  }

  /// Notes why there is no other request although the last one may be repeated.
  mutating func note(_ reason: Message) {
    for index in members.indices { members[index].ending.note(reason) }
  }

  /// Compares what the server says with each file. It is said of a complete file, so not before the last slice.
  mutating func verify(_ check: ResponseCheck?, against result: TransferResult) {
    guard let check, result.outcome == .ok, slice?.next == nil, let response = result.response
    else {
      return
    }
    let statement = ResponseCheck.Statement(response)
    for place in members.indices { members[place].ending.verify(check, statement, at: place) }
  }

  /// Removes the files for which no request can be laid out, or all if that is because of none of them, and returns them.
  mutating func removeFailing(_ plan: BatchSettings, _ error: any Error) -> [FileOutcome] {
    for index in members.indices where members.count > 1 {
      guard let opened = members[index].opened else { continue }
      do { _ = try plan.request(for: [opened]) } catch {
        members[index].ending.fail(anyOf: error)
        members[index].opened = nil
      }
    }
    let failing = remove { $0.opened == nil }
    guard failing.isEmpty else { return failing }
    for index in members.indices { members[index].ending.fail(anyOf: error) }
    return removeAll()
  }

  /// Whether another request may follow one with that result.
  ///
  /// - Parameter isShrunk: whether some of its files have left.
  func mayBeRepeated(
    _ plan: BatchSettings, after result: TransferResult, isShrunk: Bool
  ) -> Bool {
    if members.isEmpty { return false }
    guard isShrunk else {
      return result.mayBeSentAgain || result.outcome == .failed && result.isOutOfDescriptors
    }
    // With other files it is another request, and has another idempotency key.
    return plan.request.options.permitTwice(plan.request.method, getsKey: false)
      || members.allSatisfy { $0.ending.state == .retryable }
  }
}
