import FormStream
import FormStreamPlatform
import FormStreamTestSupport
import FormStreamTransfer
import Testing

/// Uploads that arrived completely, of which the client can't know it. Regression: a POST was sent twice by default, because the
/// question for the offset was a HEAD, which may be repeated.
struct LostUploadTests {
  private enum Permission: CaseIterable { case none, key, retryUnsafe }

  private struct Cell: CustomStringConvertible {
    var name: String
    var resumption: UploadResumption
    var method: HTTPMethod
    var pieceSize: Int64?
    var permission: Permission
    var lost: LosingServer.Cell

    var description: String {
      "\(name) \(method) in pieces of \(pieceSize ?? 0), \(permission), \(lost.last), then \(lost.answer)"
    }

    var maySendTwice: Bool { method == .put || permission != .none }

    func request(to url: String) throws -> TransferRequest {
      var request = try makeRequest(method, url, .bytes(LostUploadTests.bytes), attempts: 3)
      request.options.resumption = resumption
      request.options.resumption.pieceSize = pieceSize
      request.options.expectation = .never
      request.options.retry.retriesUnsafe = permission == .retryUnsafe
      if permission == .key { request.options.idempotencyKey = IdempotencyKey("the-key") }
      return request
    }
  }

  private static let bytes = noise(300)

  private static let cells: [Cell] = {
    var cells: [Cell] = []
    let ways: [(String, UploadResumption)] = [("http", .http), ("http-create", .httpCreatedFirst), ("tus", .tus)]
    for (name, resumption) in ways {
      for pieceSize: Int64? in [nil, 100] where pieceSize == nil || name != "http" {
        for method in [HTTPMethod.post, .put] where method == .post || name != "tus" {
          for permission in Permission.allCases {
            for last in LosingServer.LastWord.allCases {
              // Where a second time does no harm, few answers make a difference.
              let isSafe = method == .put || permission != .none
              for answer in isSafe ? [.notFound, .truth, .impossible] : LosingServer.Answer.allCases {
                cells.append(
                  Cell(
                    name: name, resumption: resumption, method: method, pieceSize: pieceSize, permission: permission,
                    lost: .init(last: last, answer: answer)))
              }
            }
          }
        }
      }
    }
    return cells
  }()

  @Test func `nothing is sent twice, and nothing is said that can't be known`() async throws {
    let server = try LosingServer()
    var configuration = TransferSession.Configuration()
    configuration.retryBudget = 1_000_000
    let session = try TransferSession(configuration)
    var lies: [String] = []
    let traced = Guarded(0)
    for cell in Self.cells {
      let (number, url) = server.add(cell.lost)
      var results: [TransferResult] = []
      var request = try cell.request(to: url)
      // Each upload is at /upload/N.
      request.options.trace = { trace in if trace.description.contains("/upload/") { traced.withLock { $0 += 1 } } }
      // As often as the result says that it does no harm, and with what is needed to go on.
      while results.count < 3, results.last?.mayBeSentAgain ?? true {
        request.options.resuming = results.last?.resumeData
        results.append(await session.result(of: request))
      }
      lies += Self.lies(cell, results, server.completions(number)).map { "\(cell): \($0)" }
    }
    #expect(Self.cells.count > 1000)
    #expect(traced.withLock(\.self) == 0, "traces show the URLs of uploads")
    #expect(lies == [], "\(lies.count) of \(Self.cells.count): \(lies.prefix(20).joined(separator: "\n"))")
    #expect(server.server.faults(except: .cutShort) == [])
  }

  private static func lies(_ cell: Cell, _ results: [TransferResult], _ completions: [String?]) -> [String] {
    var lies: [String] = []
    let outcomes = results.map { "\($0.outcome)" }.joined(separator: ", ")
    // A server that says that it has only a part is believed.
    let isDenied = cell.lost.last == .incomplete
    if completions.count > 1, !cell.maySendTwice, !isDenied { lies.append("sent \(completions.count) times (\(outcomes))") }
    if cell.permission == .key, completions.contains(where: { $0 == nil }) { lies.append("completed without its key") }
    for result in results {
      if let error = result.error, "\(error.description) \(error.subject)".contains("/upload/") {
        lies.append("shows the URL of the upload: \(error.description)")
      }
      switch result.outcome {
      case .ok where completions.isEmpty: lies.append("ok, and nothing arrived")
      case .ok where cell.lost.last == .otherBytes && results.count == 1: lies.append("ok to other bytes")
      // A server that says that it has failed is believed, too.
      case .failed where cell.lost.last != .internalError && !isDenied && !cell.maySendTwice:
        lies.append("failed (\(outcomes))")
      case .retryable where !isDenied && !cell.maySendTwice && result.resumeData?.uploadURL == nil:
        lies.append("retryable from the start (\(outcomes))")
      case .cancelled, .sourceChanged: lies.append("\(result.outcome)")
      default: break
      }
    }
    return lies
  }
}
