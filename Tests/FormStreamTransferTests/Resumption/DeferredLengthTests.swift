import FormStream
import FormStreamPlatform
import FormStreamTestSupport
import FormStreamTransfer
import Testing

/// PUT by tus to an upload that was created without a length. Regression: it was `ok` while the server still waited for the length.
struct DeferredLengthTests {
  private static let bytes = noise(3000)

  private struct State {
    var kept: [UInt8] = []
    var length: Int?
    var cuts: Int
    /// Whether a length was sent that the server knew already.
    var isToldTwice = false
  }

  /// - Parameter cuts: how many PATCHes get no response, after the server has taken their bytes.
  private func server(_ state: Guarded<State>, saysDeferred: Bool) throws -> ScriptedServer {
    try ScriptedServer { request in
      if request.method == "HEAD" {
        return state.withLock { state in
          let length = state.length.map { [("Upload-Length", "\($0)")] }
          let deferred = saysDeferred ? [("Upload-Defer-Length", "1")] : []
          return [.respond(200, headers: [("Upload-Offset", "\(state.kept.count)")] + (length ?? deferred))]
        }
      }
      return [
        .readBody,
        .decide { request in
          state.withLock { state in
            if let told = request.header("Upload-Length").flatMap({ Int($0) }) {
              state.isToldTwice = state.isToldTwice || state.length != nil
              state.length = told
            }
            state.kept += request.body
            state.cuts -= 1
            if state.cuts >= 0 { return [.reset] }
            return [.respond(204, headers: [("Upload-Offset", "\(state.kept.count)")])]
          }
        },
      ]
    }
  }

  @Test(arguments: [0, 1, 2], [true, false])
  func `the server is told the length, once`(cuts: Int, saysDeferred: Bool) async throws {
    for (bytes, pieceSize) in [(Self.bytes, nil), (Self.bytes, 1000), ([], nil)] as [([UInt8], Int64?)] {
      let state = Guarded(State(cuts: cuts))
      let server = try server(state, saysDeferred: saysDeferred)
      var request = try makeRequest(.put, server.url, .bytes(bytes), attempts: 4)
      request.options.resumption = .tus
      request.options.resumption.pieceSize = pieceSize
      let result = try await makeSession().result(of: request)
      let end = state.withLock(\.self)
      #expect(result.outcome == .ok, "\(String(describing: result.error))")
      #expect(end.length == bytes.count && end.kept == bytes && !end.isToldTwice)
    }
  }

  @Test func `an empty upload of a known length is complete`() async throws {
    let state = Guarded(State(length: 0, cuts: 0))
    let server = try server(state, saysDeferred: true)
    var request = try makeRequest(.put, server.url, .bytes([]), attempts: 2)
    request.options.resumption = .tus
    #expect(try await makeSession().result(of: request).outcome == .ok)
    #expect(server.requests.map(\.method) == ["HEAD"])
  }

  /// By tus, the creation of an empty upload is the upload. It was created again after each lost response, and was `ok` if it was
  /// cancelled, or if the server named nothing.
  @Test func `an empty upload is not created twice`() async throws {
    let ends: [(ScriptedStep, TransferResult.Outcome)] = [
      (.reset, .unknown), (.respond(502), .unknown), (.respond(500), .failed), (.respond(200), .unknown),
    ]
    for (end, outcome) in ends {
      let server = try ScriptedServer { _ in [.readBody, end] }
      var request = try makeRequest(server.url, .bytes([]), attempts: 3)
      request.options.resumption = .tus
      let result = try await makeSession().result(of: request)
      #expect(result.outcome == outcome, "\(end): \(String(describing: result.error))")
      #expect(server.requests.count == 1)
    }
  }

  @Test func `a cancelled creation is no success`() async throws {
    for resumption in [UploadResumption.tus, .httpCreatedFirst] {
      let arrived = try Gate()
      let server = try ScriptedServer { _ in
        [
          .readBody, .send("HTTP/1.1 201 Created\r\nLocation: /u\r\nContent-Length: 10\r\n\r\n12345"), .open(arrived), .stall,
        ]
      }
      var request = try makeRequest(server.url, .bytes(Self.bytes))
      request.options.resumption = resumption
      request.options.progressPace = .all
      let task = try makeSession().start(request)
      #expect(await onNewThread { arrived.wait() })
      for await progress in task.progress where progress.hasResponse || progress.received > 0 { break }
      task.cancel()
      #expect(await task.result.outcome == .cancelled)
    }
  }
}
