import FormStreamPlatform
import FormStreamTestSupport

/// A server for uploads that go on where they broke: by draft-ietf-httpbis-resumable-upload, interop version 8, and by tus 1.0.
/// It cuts the connection in the middle of bodies.
final class ResumingServer: Sendable {
  /// How a request that sends bytes of an upload ends.
  struct Cut: Sendable {
    /// After how many bytes of its body.
    var after = Int.max
    /// Nil if it is not cut.
    var end: ScriptedStep? = .reset
  }

  private struct State {
    var kept: [UInt8] = []
    var isTus = false
    /// The announced length of the upload.
    var length: Int?
    var isComplete = false
    var cuts: [Cut]
    var questions = 0
  }

  let server: ScriptedServer
  private let state: Guarded<State>

  /// - Parameters:
  ///   - cuts: how the requests that send bytes end, one after the other; later ones are not cut.
  ///   - options: the headers of the response to OPTIONS; nil if the server doesn't know that method.
  ///   - largestPiece: the most bytes that a request may append.
  ///   - answer: the answer to the question for the offset, given the real one.
  init(
    cuts: [Cut] = [], options: [(String, String)]? = nil, largestPiece: Int? = nil,
    answer: @escaping @Sendable (_ kept: Int, _ isComplete: Bool) -> ScriptedStep = { kept, isComplete in
      .respond(204, headers: ResumingServer.offset(kept, isComplete))
    }
  ) throws {
    let state = Guarded(State(cuts: cuts))
    self.state = state
    let limit = largestPiece.map { [("Upload-Limit", "max-append-size=\($0)")] } ?? []
    server = try ScriptedServer { request in
      func header(_ name: String) -> String? { request.headers.first { $0.name == name }?.value }
      let length = header("Content-Length").flatMap { Int($0) } ?? 0
      if let largestPiece, length > largestPiece, request.method == "PATCH" {
        return [.respond(413, headers: limit + [("Connection", "close")])]
      }
      switch request.method {
      case "OPTIONS":
        return [options.map { .respond(204, headers: $0) } ?? .respond(405)]
      case "HEAD":
        return [
          .decide { _ in
            [
              state.withLock { state in
                state.questions += 1
                return answer(state.kept.count, state.isComplete)
              }
            ]
          }
        ]
      case "PATCH":
        let offset = header("Upload-Offset").flatMap { Int($0) }
        guard offset == state.withLock(\.kept.count) else {
          return [.readBody, .respond(409, headers: Self.offset(state.withLock(\.kept.count), false))]
        }
        state.withLock { $0.isTus = header("Tus-Resumable") != nil }
        return Self.receive(state, isLast: header("Upload-Complete") == "?1")
      default:
        state.withLock { state in
          (state.kept, state.isComplete) = ([], false)
          state.isTus = header("Tus-Resumable") != nil
          state.length = header("Upload-Length").flatMap { Int($0) }
        }
        if header("Tus-Resumable") != nil || header("Upload-Complete") == "?0" {
          return [.respond(201, headers: [("Location", "/uploads/1")] + limit)]
        }
        let interim: [(String, String)] = [
          ("Location", "/uploads/1"), ("Upload-Draft-Interop-Version", "8"),
        ]
        let tells = header("Upload-Complete") == "?1"
        let steps: [ScriptedStep] = tells ? [.informational(104, headers: interim + limit)] : []
        if let largestPiece, length > largestPiece {
          return [.continueIfExpected] + steps
            + [.readBody(upTo: 1000), .respond(413, headers: [("Connection", "close"), ("Upload-Complete", "?0")]), .finish]
        }
        return [.continueIfExpected] + steps + Self.receive(state, isLast: true)
      }
    }
  }

  static func offset(_ kept: Int, _ isComplete: Bool) -> [(String, String)] {
    [("Upload-Offset", "\(kept)"), ("Upload-Complete", isComplete ? "?1" : "?0")]
  }

  private static func receive(_ state: Guarded<State>, isLast: Bool) -> [ScriptedStep] {
    let cut = state.withLock { $0.cuts.isEmpty ? Cut(end: nil) : $0.cuts.removeFirst() }
    let take = ScriptedStep.decide { request in
      state.withLock { state in
        state.kept += request.body
        state.isComplete = request.bodyIsComplete && (isLast || state.kept.count == state.length)
      }
      return []
    }
    guard let end = cut.end else {
      return [.continueIfExpected, .readBody, take, .decide { _ in [state.withLock(Self.response)] }]
    }
    return [.continueIfExpected, .readBody(upTo: cut.after), take, end]
  }

  private static func response(_ state: inout State) -> ScriptedStep {
    if state.isTus { return .respond(204, headers: [("Upload-Offset", "\(state.kept.count)")]) }
    if !state.isComplete { return .respond(204, headers: [("Upload-Complete", "?0")]) }
    return .respond(201, headers: [("Upload-Complete", "?1")], body: "stored")
  }

  var url: String { server.url }
  /// The bytes of the upload that have arrived.
  var kept: [UInt8] { state.withLock(\.kept) }
  /// How often the client has asked for the offset.
  var questions: Int { state.withLock(\.questions) }
  /// The methods of all requests.
  var methods: [String] { server.requests.map(\.method) }
  /// The values of a header in all requests that have it.
  func values(of name: String) -> [String] {
    server.requests.flatMap { $0.headers.filter { $0.name == name }.map(\.value) }
  }
}
