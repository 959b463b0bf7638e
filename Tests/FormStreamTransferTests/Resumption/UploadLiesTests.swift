import FormStream
import FormStreamTransfer
import Testing

/// Whatever a server says about an upload, nothing that it can't know becomes part of the body, and nothing counts as a success
/// that isn't one.
struct UploadLiesTests {
  private static let length: Int64 = 1000
  /// How many bytes the server has confirmed.
  private static let confirmed: Int64 = 400

  private static let statuses = [
    200, 201, 202, 204, 206, 301, 302, 303, 307, 308, 400, 401, 403, 404, 408, 409, 410, 412, 413, 415, 423, 425, 429, 460,
    500, 501, 502, 503, 504, 507,
  ]
  private static let offsets: [Int64?] = [nil, 0, 1, 399, 400, 401, 699, 700, 701, 999, 1000, 1001, .max]

  /// When the server says it.
  enum Moment: CaseIterable {
    case request, creation, question, piece, last
    /// To a question, after an attempt that may have been carried out.
    case doubt
    /// To the last piece, before the server has it.
    case early

    var step: AttemptStep {
      switch self {
      case .request: .request
      case .creation: .creation
      case .question, .doubt: .offset
      case .piece: .append(from: 400, to: 600)
      case .last, .early: .append(from: 400, to: 1000)
      }
    }

    /// How many bytes the server can have.
    var mostSent: Int64 {
      switch self {
      case .question, .doubt: 700
      case .piece: 600
      case .request, .creation, .last, .early: 1000
      }
    }
  }

  private struct Cell: CustomStringConvertible {
    var moment: Moment
    var uploadProtocol: UploadProtocol
    var status: Int
    var offset: Int64?
    var isComplete: Bool?
    var length: Int64?

    var description: String {
      "\(moment) \(uploadProtocol) \(status) offset \(offset ?? -1) complete \(isComplete.map(\.description) ?? "-") length \(length ?? -1)"
    }

    func decision() throws -> AttemptDecision {
      let form = try HTTPURL("http://a.example/form")
      let isKnown = moment != .request && moment != .creation
      var options = TransferOptions()
      options.resumption = uploadProtocol == .tus ? .tus : .http
      options.retry = RetryPolicy(attempts: 3)
      var upload = try HTTPURL("http://a.example/canary")
      upload.isSecret = true
      let resource = UploadResource(upload, confirmed: confirmed, mostSent: moment.mostSent)
      let attempt = Attempt(
        .post, isKnown ? upload : form, changesSomething: true, step: moment.step, bodyLength: UploadLiesTests.length,
        earlierDoubt: moment == .doubt ? .open : .none, mayResume: true,
        resource: moment == .creation ? nil : resource, uploadProtocol: uploadProtocol, options: Shared(options))
      var notes = UploadNotes(offset: offset, length: length)
      notes.isComplete = isComplete
      if !isKnown { notes.resource = resource.url }
      return attempt.decision(
        on: AttemptFacts(
          response: .init(status: status, location: (300...399).contains(status) ? location : nil),
          isResponseToCompleteRequest: moment != .early, upload: notes))
    }

    /// Where a redirect leads to: a server may name the upload once more.
    private var location: String { length == nil && moment != .creation ? "/canary" : "/b" }

    /// The offsets that can be true.
    var possible: ClosedRange<Int64> {
      confirmed...moment.mostSent
    }
  }

  private static let cells: [Cell] = {
    var cells: [Cell] = []
    for moment in Moment.allCases {
      for uploadProtocol in [UploadProtocol.http, .tus] {
        for status in statuses {
          for offset in offsets {
            for isComplete in [nil, false, true] where uploadProtocol == .http || isComplete == nil {
              for length: Int64? in [nil, 1000, 999] {
                cells.append(
                  Cell(
                    moment: moment, uploadProtocol: uploadProtocol, status: status, offset: offset,
                    isComplete: isComplete, length: length))
              }
            }
          }
        }
      }
    }
    return cells
  }()

  @Test func `no word of a server is taken for more than it can know`() throws {
    #expect(Self.cells.count > 20_000)
    for cell in Self.cells {
      let decision = try cell.decision()
      if decision.isShowing("canary") { Issue.record("\(cell) shows the URL of the upload: \(decision)") }
      switch decision {
      case .append(let start):
        #expect((200...299).contains(cell.status), "\(cell)")
        switch cell.moment {
        case .creation: #expect(start == 0, "\(cell)")
        case .question, .doubt:
          #expect(start == cell.offset && cell.possible.contains(start), "\(cell)")
        case .piece:
          // A response without an offset says that all was appended.
          #expect(start == cell.offset ?? 600 && cell.possible.contains(start), "\(cell)")
        case .last:
          #expect(cell.uploadProtocol == .tus && start == cell.offset && cell.possible.contains(start), "\(cell)")
        case .request, .early: Issue.record("\(cell) goes on without asking")
        }
        if cell.moment != .creation { #expect(cell.length ?? Self.length == Self.length, "\(cell)") }
      case .conclude(let verdict) where verdict.outcome == .ok: try checkSuccess(cell)
      case .conclude(let verdict) where verdict.outcome == .retryable || verdict.outcome == .failed:
        // The server may have carried out the request.
        let isAccepted = (200...299).contains(cell.status)
        let mayBeDone = cell.moment == .last && isAccepted || cell.moment == .doubt
        #expect(!mayBeDone, "\(cell): \(verdict.outcome)")
      case .fetchPage:
        // A page is named by the response to the request itself.
        let isLast = cell.moment == .last || cell.moment == .early
        let isOfRequest = cell.moment == .request ? cell.isComplete != false : isLast && cell.isComplete == true
        #expect(isOfRequest, "\(cell) is a success")
      case .beginAgain, .retry: #expect(cell.moment != .doubt || decision.isQuestionAgain, "\(cell): \(decision)")
      default: break
      }
    }
  }

  private func checkSuccess(_ cell: Cell) throws {
    #expect((200...299).contains(cell.status), "\(cell)")
    switch (cell.moment, cell.uploadProtocol) {
    case (.request, _): #expect(cell.isComplete != false, "\(cell)")
    case (.last, .http):
      #expect(cell.isComplete == true, "\(cell)")
      #expect(cell.offset ?? Self.length == Self.length && cell.length ?? Self.length == Self.length, "\(cell)")
    case (.last, .tus): #expect(cell.offset == Self.length, "\(cell)")
    case (.question, .tus), (.doubt, .tus), (.piece, .tus):
      #expect(cell.offset == Self.length && cell.possible.contains(Self.length), "\(cell)")
    default: Issue.record("\(cell) is a success")
    }
  }
}

extension AttemptDecision {
  /// Whether its error shows a text. Regression: errors showed the URLs of uploads, which let others change them.
  fileprivate func isShowing(_ text: String) -> Bool {
    let verdict: Verdict? =
      switch self {
      case .conclude(let verdict), .retry(let verdict, _), .authenticate(let verdict), .resume(let verdict, _, _),
        .awaitServer(let verdict, _, _), .beginAgain(let verdict):
        verdict
      default: nil
      }
    return verdict?.error.map { "\($0.description) \($0.subject)".contains(text) } ?? false
  }

  /// Whether the server is only asked again. Regression: a POST was sent again after a doubt.
  fileprivate var isQuestionAgain: Bool {
    guard case .retry(let verdict, _) = self else { return false }
    return verdict.outcome == .unknown
  }
}
