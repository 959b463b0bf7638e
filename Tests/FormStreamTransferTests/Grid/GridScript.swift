import FormStreamPlatform
import FormStreamTestSupport

/// Turns the plays of a cell into the steps of a scripted server.
struct GridScript: Sendable {
  let settings: GridServer.Settings
  let state: Guarded<GridServer.State>
  let isIdle: Gate
  let isOver: Gate

  private typealias Attempt = (number: Int, deed: GridServer.Deed)

  /// Whether connections are accepted at the start.
  private var isListening: Bool {
    settings.keepsConnection || settings.plays.first?.moment != .connect
  }

  /// The attempt that a new connection belongs to, if its play begins before the request.
  private func attempt(connection: Int) -> Attempt? {
    state.withLock { state in
      let count = state.deeds.count
      if settings.keepsConnection, connection == 0 { return nil }
      guard count < settings.plays.count,
        [.handshake, .established].contains(settings.plays[count].moment)
      else { return nil }
      return begin(&state, connection, nil)
    }
  }

  /// The attempt that a request belongs to.
  private func attempt(connection: Int, request: Int) -> Attempt {
    state.withLock { state in
      if let number = state.connections[connection], state.deeds[number].request == nil {
        state.deeds[number].request = request
        return (number, state.deeds[number])
      }
      return begin(&state, connection, request)
    }
  }

  private func begin(_ state: inout GridServer.State, _ connection: Int, _ request: Int?) -> Attempt {
    let number = state.deeds.count
    let play =
      number < settings.plays.count
      ? settings.plays[number] : GridPlay(.afterBody, .respond(.status(299)))
    let mark = "\(number + 1)-\(play.response?.description ?? "nothing")"
    state.deeds.append(GridServer.Deed(play: play, mark: mark, request: request))
    state.connections[connection] = number
    return (number, state.deeds[number])
  }

  // MARK: HTTP/1.1

  func http1Server(on address: LoopbackAddress) throws -> ScriptedServer {
    var options = ScriptedServer.Options()
    options.keptBodyLimit = 1 << 16
    options.isListening = isListening
    options.onConnect = { connection in
      attempt(connection: connection).map { steps($0) } ?? []
    }
    return try ScriptedServer(on: address, options) { request in
      if settings.keepsConnection, request.connection == 0, request.index == 0 {
        guard let idle = settings.idle else { return .good() }
        let bytes = idle.response.map { [ScriptedStep.send($0.bytes("stale"))] } ?? []
        return .good() + [.waitFor(isIdle)] + bytes + end(idle.end)
      }
      let attempt = attempt(connection: request.connection, request: request.number)
      return attempt.deed.play.moment == .established ? [] : steps(attempt)
    }
  }

  private func steps(_ attempt: Attempt) -> [ScriptedStep] {
    let play = attempt.deed.play
    var steps: [ScriptedStep] =
      switch play.moment {
      case .inBody: [.readBody(upTo: settings.inBody)]
      case .afterBody: [.readBody]
      default: []
      }
    if let response = play.response {
      let bytes = response.bytes(attempt.deed.mark)
      steps.append(
        .decide { request in
          state.withLock { state in
            state.deeds[attempt.number].wasComplete = request.bodyIsComplete
            state.deeds[attempt.number].hasResponded = true
          }
          return [.send(bytes)]
        })
    }
    return steps + end(play.end)
  }

  private func end(_ end: GridPlay.End) -> [ScriptedStep] {
    switch end {
    case .keep: []
    case .close, .goAway, .refuseStream, .resetStream, .stopReading: [.close]
    case .reset: [.reset]
    case .silence: [.waitFor(isOver)]
    case .cancel: [.call(settings.cancel), .waitFor(isOver)]
    case .finish: [.finish]
    }
  }

  // MARK: HTTP/2

  func http2Server(on address: LoopbackAddress) throws -> ScriptedHTTP2Server {
    var options = ScriptedHTTP2Server.Options()
    options.keptBodyLimit = 1 << 16
    options.isListening = isListening
    options.onConnect = { connection in
      attempt(connection: connection).map { http2End($0.deed.play.end) } ?? []
    }
    return try ScriptedHTTP2Server(on: address, options) { request in
      if settings.keepsConnection, request.connection == 0, request.index == 0 {
        guard let idle = settings.idle else { return .good() }
        return .good() + [.waitFor(isIdle)] + http2End(idle.end)
      }
      let attempt = attempt(connection: request.connection, request: request.number)
      return http2Steps(attempt.deed)
    }
  }

  private func http2Steps(_ deed: GridServer.Deed) -> [ScriptedHTTP2Step] {
    let play = deed.play
    var steps: [ScriptedHTTP2Step] =
      switch play.moment {
      case .inBody: [.read(upTo: settings.inBody)]
      case .afterBody: [.readBody]
      default: []
      }
    if let response = play.response, let status = response.status {
      let body = response.isComplete ? "body of \(deed.mark)" : "the beginning"
      let length = response.isComplete ? [] : [("content-length", "1000")]
      let headers = response.headers.map { ($0.0.lowercased(), $0.1) } + length
      steps.append(
        .respond(
          status, headers: [("mark", deed.mark)] + headers, body: body, ends: response.isComplete))
    }
    return steps + http2End(play.end)
  }

  private func http2End(_ end: GridPlay.End) -> [ScriptedHTTP2Step] {
    switch end {
    case .keep: []
    case .close: [.close]
    case .reset: [.reset]
    case .silence: [.waitFor(isOver)]
    case .cancel: [.call(settings.cancel), .waitFor(isOver)]
    case .finish: [.finish]
    case .refuseStream: [.resetStream(.refusedStream)]
    case .goAway: [.goAway(.previous), .close]
    case .resetStream: [.resetStream(.internalError)]
    case .stopReading: [.resetStream(.noError)]
    }
  }
}
