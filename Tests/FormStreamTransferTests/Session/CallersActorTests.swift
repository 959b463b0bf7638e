import FormStreamTestSupport
import FormStreamTransfer
import Testing

/// What is there at once is delivered on the caller's actor, without leaving it.
@Suite struct CallersActorTests {
  private let session: TransferSession

  init() throws {
    session = try makeSession()
  }

  @Test func `a response that has arrived is read without leaving the caller's actor`() async throws {
    let server = try ScriptedServer { _ in .good(body: "one\ntwo\n") }
    for isByLine in [false, true] {
      let response = try await session.open(makeRequest(.get, server.url, nil))
      #expect(await response.task.result.outcome == .ok)
      let returns = try await CountingActor().returns { actor in
        var text = ""
        if isByLine {
          for try await line in response.body.lines { text += "\(line)\n" }
        } else {
          for try await chunk in response.body { text += String(decoding: chunk, as: UTF8.self) }
        }
        actor.assertIsolated()
        #expect(text == "one\ntwo\n")
      }
      #expect(returns == 0)
    }
  }

  @Test func `progress that is there is read without leaving the caller's actor`() async throws {
    let server = try ScriptedServer { _ in .good() }
    let task = session.start(try makeRequest(server.url))
    _ = await task.result
    let returns = await CountingActor().returns { actor in
      var states = 0
      for await progress in task.progress {
        #expect(progress.phase == .done)
        states += 1
      }
      #expect(states == 1)
      actor.assertIsolated()
    }
    #expect(returns == 0)
  }

  @Test func `a caller returns to its actor once for each result it waits for`() async throws {
    let server = try ScriptedServer { _ in .good() }
    let returns = try await CountingActor().returns { [session] _ in
      for _ in 0..<3 { _ = await session.result(of: try makeRequest(server.url)) }
      for _ in 0..<3 { _ = try await session.send(makeRequest(server.url)) }
      for _ in 0..<3 { _ = try await session.get(server.url) }
    }
    // Swift's `Task.value` leaves the actor itself. Nothing else may.
    #expect(returns <= 9)
  }
}
