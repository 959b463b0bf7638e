import FormStreamMultipart
import FormStreamHTTP

/// The contents of one request: a file, several files, or a slice of a file.
struct BatchRequest {
  /// A file of the request, and what became of the file so far.
  struct Member {
    var ending: FileOutcome
    /// The opened file; nil until it is opened.
    var opened: OpenedBatchFile?

    var file: BatchFile { ending.file }
  }

  /// The files, in the order in which the request has them.
  var members: [Member]
  /// The slice that is sent, if the request sends a slice of a single file; nil if it sends complete files.
  var slice: FileSlice?
  /// Whether the journal has a line that says that a request for the files began.
  var isStarted = false

  /// The number of bytes that the files or the slice have, clamped to the largest number.
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

  /// Notes the result of a request with these files. If one of several files could not be read to its end, the request was
  /// not completed. Then that file is removed and returned, and the other files can be sent without it.
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

  /// Notes why no other request is made, although the last request may be repeated.
  mutating func note(_ reason: Message) {
    for index in members.indices { members[index].ending.note(reason) }
  }

  /// Compares the server's response with each file, and keeps the value of each file in it. The response is about a complete
  /// file, so the responses to slices before the last are not read.
  ///
  /// - Parameter path: where the value is that is kept; nil if none is.
  mutating func readResponse(
    of result: TransferResult, verifying check: ResponseCheck?, keepingValueAt path: ResponsePath?
  ) {
    guard check != nil || path != nil, result.outcome == .ok, slice?.next == nil,
      let response = result.response.map(JSONResponse.init)
    else { return }
    for place in members.indices {
      if let check { members[place].ending.verify(check, response, at: place) }
      if let path {
        members[place].ending.keep(ResponseValue(at: path, in: response, place: place))
      }
    }
  }

  /// Removes the files for which no request can be made, and returns what became of them. If no single file is at fault,
  /// removes all files.
  mutating func removeFailing(_ plan: Batch, _ error: any Error) -> [FileOutcome] {
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

  /// Whether another request may follow a request with that result.
  ///
  /// - Parameter isShrunk: whether some of the files were removed.
  func mayBeRepeated(
    _ plan: Batch, after result: TransferResult, isShrunk: Bool
  ) -> Bool {
    if members.isEmpty { return false }
    guard isShrunk else {
      return result.mayBeSentAgain || result.outcome == .failed && result.isOutOfDescriptors
    }
    // A request with fewer files is a different request, and has a different idempotency key.
    return plan.request.options.permitTwice(plan.request.method, getsKey: false)
      || members.allSatisfy { $0.ending.state == .retryable }
  }
}
