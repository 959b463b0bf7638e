import FormStreamMultipart
import FormStreamPlatform
import Testing

@testable import FormStreamBatch
@testable import FormStreamHTTP

/// What is said of a file after its requests.
@Suite struct FileOutcomeTests {
  private typealias Outcome = TransferResult.Outcome

  private let key = IdempotencyKey("one")
  private let other = IdempotencyKey("two")

  /// What became of a file after requests with these outcomes and keys.
  private func ending(
    after requests: [(Outcome, IdempotencyKey?)], isIdempotent: Bool = false
  ) throws -> FileOutcome {
    var ending = FileOutcome(BatchFile(path: "a", size: 5), maybeDuplicate: false)
    for (outcome, key) in requests {
      let result = try makeResult(outcome, key: key)
      ending.note(result, sharedBy: 1, isIdempotent: isIdempotent)
    }
    return ending
  }

  @Test(
    arguments: [
      ([], .failed, false), ([.ok], .ok, true), ([.failed], .failed, false),
      ([.retryable], .retryable, false), ([.cancelled], .retryable, false),
      ([.unknown], .unknown, true), ([.sourceChanged], .sourceChanged, false),
      // Once the server may have the file, only a success says more.
      ([.unknown, .failed], .unknown, true), ([.unknown, .retryable], .unknown, true),
      ([.unknown, .cancelled], .unknown, true), ([.unknown, .sourceChanged], .unknown, true),
      ([.unknown, .ok], .ok, true), ([.retryable, .failed], .failed, false),
      ([.failed, .ok], .ok, true),
    ] as [([TransferResult.Outcome], BatchState, Bool)])
  func `doubt stays until a request succeeds`(
    _ outcomes: [TransferResult.Outcome], _ state: BatchState, _ mayBeStored: Bool
  ) throws {
    let ending = try ending(after: outcomes.map { ($0, nil) })
    #expect(ending.state == state)
    #expect(ending.mayBeStored == mayBeStored)
    #expect(ending.result(manifest: nil, url: "").attempts == outcomes.count)
  }

  @Test func `a success after doubt may be a duplicate, but for one key or an idempotent request`()
    throws
  {
    #expect(try ending(after: [(.unknown, nil), (.ok, nil)]).maybeDuplicate)
    #expect(try !ending(after: [(.unknown, nil), (.ok, nil)], isIdempotent: true).maybeDuplicate)
    #expect(try !ending(after: [(.unknown, key), (.ok, key)]).maybeDuplicate)
    #expect(try ending(after: [(.unknown, key), (.ok, other)]).maybeDuplicate)
    #expect(try ending(after: [(.unknown, key), (.unknown, other), (.ok, other)]).maybeDuplicate)
    #expect(try ending(after: [(.unknown, key), (.unknown, nil), (.ok, key)]).maybeDuplicate)
    #expect(try !ending(after: [(.failed, nil), (.ok, nil)]).maybeDuplicate)
    // A success settles what came before it: the next requests bring another slice.
    let slices: [(Outcome, IdempotencyKey?)] = [(.unknown, key), (.ok, key), (.failed, key)]
    #expect(try ending(after: slices).state == .failed)
  }

  /// Regression: after a 502 to a request with a key, which may be sent again, a refusal ended with `failed`.
  @Test(arguments: [
    (Outcome.failed, BatchState.unknown), (.sourceChanged, .unknown), (.retryable, .retryable), (.ok, .ok),
  ]) private func `a server that failed may have the file, whatever the next request ends with`(
    _ last: Outcome, state: BatchState
  ) throws {
    for mayBeCarriedOut in [true, false] {
      var ending = FileOutcome(BatchFile(path: "a", size: 5), maybeDuplicate: false)
      let failed = try makeResult(.retryable, key: key, mayBeSentAgain: true, mayBeCarriedOut: mayBeCarriedOut)
      ending.note(failed, sharedBy: 1, isIdempotent: false)
      #expect(ending.state == .retryable)
      #expect(ending.mayBeStored == mayBeCarriedOut)
      ending.note(try makeResult(last, key: key), sharedBy: 1, isIdempotent: false)
      #expect(ending.state == (mayBeCarriedOut || state != .unknown ? state : last == .failed ? .failed : .sourceChanged))
      #expect(!ending.maybeDuplicate)
    }
  }

  /// The server knows the key of an earlier run: 409 and 422 don't say what became of that run's request.
  @Test func `a refusal of a key that an earlier run has sent leaves doubt`() throws {
    for hasUsedKey in [true, false] {
      var ending = FileOutcome(BatchFile(path: "a"), maybeDuplicate: false, hasUsedKey: hasUsedKey)
      ending.note(try makeResult(.failed, key: key), sharedBy: 1, isIdempotent: false)
      #expect(ending.state == (hasUsedKey ? .unknown : .failed))
      // What follows an accepted slice is another slice, with another key.
      var slices = FileOutcome(BatchFile(path: "a"), maybeDuplicate: false, hasUsedKey: hasUsedKey)
      slices.note(try makeResult(.ok, key: key), sharedBy: 1, isIdempotent: false)
      slices.note(try makeResult(.failed, key: other), sharedBy: 1, isIdempotent: false)
      #expect(slices.state == .failed)
    }
  }

  @Test func `a change of another file of the form is no change of this one`() throws {
    for (path, state) in [("a", .sourceChanged), ("b", .retryable)] as [(LocalPath, BatchState)] {
      let change = MultipartError(.sourceChanged, on: path.description, "changed", file: path)
      var ending = FileOutcome(BatchFile(path: "a"), maybeDuplicate: false)
      ending.note(
        try makeResult(.sourceChanged, error: TransferError(change)), sharedBy: 1,
        isIdempotent: false)
      #expect(ending.state == state)
      ending.fail(anyOf: change)
      #expect(ending.state == state)
    }
  }

  @Test func `too few descriptors are no fault of the file`() throws {
    let cause = MultipartError(
      .inputUnreadable, on: "a", "no descriptor", file: "a",
      underlying: SystemError(number: 24))
    var ending = FileOutcome(BatchFile(path: "a"), maybeDuplicate: false)
    ending.note(
      try makeResult(.failed, error: TransferError(cause)), sharedBy: 1, isIdempotent: false)
    #expect(ending.state == .retryable && !ending.isUnreadable)
    #expect(ending.result(manifest: nil, url: "").error?.code == "too-many-open-files")
    ending.fail(BatchError(.tooManyOpenFiles, on: "a", ""))
    #expect(ending.state == .retryable)
  }

  @Test func `a file that can't be opened is unreadable unless it may be stored`() throws {
    let missing = BatchError(.inputMissing, on: "a", "The file is missing.")
    var fresh = FileOutcome(BatchFile(path: "a"), maybeDuplicate: false)
    fresh.fail(missing)
    #expect(fresh.state == .failed && fresh.isUnreadable)
    var doubtful = try ending(after: [(.unknown, nil)])
    doubtful.fail(missing)
    #expect(doubtful.state == .unknown && !doubtful.isUnreadable)
    fresh.fail(BatchError(.sourceChanged, on: "a", ""))
    #expect(fresh.state == .sourceChanged && !fresh.isUnreadable)
  }

  @Test func `the bytes of the form before the file are not counted as the file's`() throws {
    for (sent, bytes) in [(0, 0), (95, 0), (98, 3), (100, 5), (200, 5)] as [(Int64, Int64)] {
      var ending = FileOutcome(BatchFile(path: "a", size: 5), maybeDuplicate: false)
      ending.note(
        try makeResult(.retryable, length: 100, sent: sent), sharedBy: 1, isIdempotent: false)
      #expect(ending.sentBytes == bytes)
    }
  }

  @Test func `the response in a result is cut, and shorter if many files share it`() throws {
    for (sharers, kept) in [(1, 4096), (31, 4096), (32, 2048), (1000, 256)] {
      var ending = FileOutcome(BatchFile(path: "a"), maybeDuplicate: false)
      let body = String(repeating: "x", count: 5000)
      ending.note(try makeResult(.ok, body: body), sharedBy: sharers, isIdempotent: false)
      let response = ending.result(manifest: nil, url: "").response
      #expect(response?.body.count == kept && response?.isTruncated == true)
    }
  }

  @Test func `a skipped file was not sent, and a stopped one can go on`() throws {
    var ending = FileOutcome(BatchFile(path: "a", size: 8), maybeDuplicate: true)
    ending.skip()
    #expect(ending.state == .skipped && ending.maybeDuplicate && !ending.mayBeStored)
    ending.noteStop(before: try #require(FileSlice(at: 4, of: 2, in: 8)))
    #expect(ending.state == .retryable)
    let message = ending.result(manifest: nil, url: "").error?.message
    #expect(message?.description.contains("after 2 of 4 slices") == true)
  }
}
