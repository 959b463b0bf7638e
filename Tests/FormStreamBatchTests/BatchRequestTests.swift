import FormStreamMediaTypes
import FormStreamMultipart
import FormStreamPlatform
import Testing

@testable import FormStreamBatch
@testable import FormStreamHTTP

/// Which files go on after a request that brought them.
@Suite struct BatchRequestTests {
  private func unit(_ paths: [LocalPath], size: Int64 = 1) -> BatchRequest {
    BatchRequest(
      members: paths.map {
        .init(ending: FileOutcome(BatchFile(path: $0, size: size), maybeDuplicate: false))
      })
  }

  private func change(of path: LocalPath) -> TransferError {
    TransferError(MultipartError(.sourceChanged, on: path.description, "changed", file: path))
  }

  private func plan(_ method: HTTPMethod) throws -> Batch {
    Batch(
      request: try TransferRequest(method, "http://example.org/"),
      sniffer: MediaTypeSniffer(policy: .extension))
  }

  @Test func `the file that changed leaves, and the others go on`() throws {
    var unit = unit(["a", "b", "c"])
    let left = unit.note(
      try makeResult(.sourceChanged, error: change(of: "b")), isIdempotent: false)
    #expect(left.map(\.file.path) == ["b"])
    #expect(left.map(\.state) == [.sourceChanged])
    #expect(unit.members.map(\.file.path) == ["a", "c"])
    #expect(unit.members.map(\.ending.state) == [.retryable, .retryable])
    let results = unit.members.map { $0.ending.result(manifest: nil, url: "") }
    #expect(results.map(\.error?.code) == ["request-cut-short", "request-cut-short"])
  }

  @Test func `a file that is alone, or belongs to the form, takes none out`() throws {
    var alone = unit(["a"])
    let changed = try makeResult(.sourceChanged, error: change(of: "a"))
    #expect(alone.note(changed, isIdempotent: false).isEmpty)
    #expect(alone.members.map(\.ending.state) == [.sourceChanged])
    var several = unit(["a", "b"])
    let foreign = try makeResult(.sourceChanged, error: change(of: "c"))
    #expect(several.note(foreign, isIdempotent: false).isEmpty)
    #expect(several.members.map(\.ending.state) == [.retryable, .retryable])
  }

  @Test(
    arguments: [
      (.post, .ok, false), (.post, .failed, false), (.put, .unknown, true),
      (.post, .unknown, false),
      (.post, .retryable, true), (.post, .cancelled, false),
    ] as [(HTTPMethod, TransferResult.Outcome, Bool)])
  func `the same request is repeated only if its result permits it`(
    _ method: HTTPMethod, _ outcome: TransferResult.Outcome, _ expected: Bool
  ) throws {
    var unit = unit(["a"])
    let result = try makeResult(outcome, mayBeSentAgain: expected)
    _ = unit.note(result, isIdempotent: method.isIdempotent)
    #expect(try unit.mayBeRepeated(plan(method), after: result, isShrunk: false) == expected)
    #expect(!unit.removeAll().isEmpty)
    #expect(try !unit.mayBeRepeated(plan(method), after: result, isShrunk: false))
  }

  /// It is another request then, with another idempotency key.
  @Test func `without a file, a request that may have been carried out is not repeated`() throws {
    for (outcome, method, expected) in [
      (.unknown, .post, false), (.unknown, .put, true), (.retryable, .post, true),
    ] as [(TransferResult.Outcome, HTTPMethod, Bool)] {
      var unit = unit(["a", "b"])
      let result = try makeResult(outcome, mayBeSentAgain: true)
      _ = unit.note(result, isIdempotent: false)
      #expect(try unit.mayBeRepeated(plan(method), after: result, isShrunk: true) == expected)
    }
  }

  @Test func `a server is asked about a file after its last slice`() throws {
    let check = ResponseCheck(of: try #require(ResponsePath("size")))
    let result = try makeResult(.ok, body: #"{"size":7}"#)
    for (offset, state) in [(0, .ok), (4, .failed), (nil, .failed)] as [(Int64?, BatchState)] {
      var unit = unit(["a"], size: 8)
      unit.slice = try offset.map { try #require(FileSlice(at: $0, of: 4, in: 8)) }
      _ = unit.note(result, isIdempotent: false)
      unit.readResponse(of: result, verifying: check, keepingValueAt: nil)
      #expect(unit.members.map(\.ending.state) == [state])
      unit.readResponse(of: result, verifying: nil, keepingValueAt: nil)
      #expect(unit.members.map(\.ending.state) == [state])
    }
  }

  @Test func `its size is that of its files or of its slice, and does not trap`() throws {
    #expect(unit(["a", "b"], size: 3).size == 6)
    #expect(unit(["a", "b"], size: .max).size == .max)
    var sliced = unit(["a"], size: 10)
    sliced.slice = FileSlice(at: 8, of: 4, in: 10)
    #expect(sliced.size == 2)
  }
}
