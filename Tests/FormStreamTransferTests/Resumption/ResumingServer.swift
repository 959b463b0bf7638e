import FormStreamPlatform
import FormStreamTestSupport

/// A server for uploads that go on where they broke (draft-ietf-httpbis-resumable-upload, interop version 8). It cuts the
/// connection in the middle of bodies.
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
    var isComplete = false
    var cuts: [Cut]
    var questions = 0
  }

  let server: ScriptedServer
  private let state: Guarded<State>

  /// - Parameters:
  ///   - cuts: how the requests that send bytes end, one after the other; later ones are not cut.
  ///   - answer: the headers of the answer to the question for the offset, given the real ones.
  init(
    cuts: [Cut],
    answer: @escaping @Sendable (_ kept: Int, _ isComplete: Bool) -> ScriptedStep = { kept, isComplete in
      .respond(204, headers: ResumingServer.offset(kept, isComplete))
    }
  ) throws {
    let state = Guarded(State(cuts: cuts))
    self.state = state
    server = try ScriptedServer { request in
      switch request.method {
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
        let offset = request.headers.first { $0.name == "Upload-Offset" }.flatMap { Int($0.value) }
        guard offset == state.withLock(\.kept.count) else {
          return [.readBody, .respond(409, headers: Self.offset(state.withLock(\.kept.count), false))]
        }
        return Self.receive(state)
      default:
        return [
          .continueIfExpected,
          .informational(
            104,
            headers: [("Location", "/uploads/1"), ("Upload-Draft-Interop-Version", "8")]),
        ] + Self.receive(state)
      }
    }
  }

  static func offset(_ kept: Int, _ isComplete: Bool) -> [(String, String)] {
    [("Upload-Offset", "\(kept)"), ("Upload-Complete", isComplete ? "?1" : "?0")]
  }

  private static func receive(_ state: Guarded<State>) -> [ScriptedStep] {
    let cut = state.withLock { $0.cuts.isEmpty ? Cut(end: nil) : $0.cuts.removeFirst() }
    let take = ScriptedStep.decide { request in
      state.withLock { state in
        state.kept += request.body
        state.isComplete = request.bodyIsComplete
      }
      return []
    }
    guard let end = cut.end else {
      return [.readBody, take, .respond(201, headers: [("Upload-Complete", "?1")], body: "stored")]
    }
    return [.readBody(upTo: cut.after), take, end]
  }

  var url: String { server.url }
  /// The bytes of the upload that have arrived.
  var kept: [UInt8] { state.withLock(\.kept) }
  /// How often the client has asked for the offset.
  var questions: Int { state.withLock(\.questions) }
}
