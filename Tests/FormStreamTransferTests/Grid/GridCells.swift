/// All cells.
extension GridCell {
  /// What the server can do with the first attempt.
  private static func plays(
    _ transport: Transport, _ connection: Connection, _ request: Request
  ) -> [GridPlay] {
    typealias End = GridPlay.End
    var plays: [GridPlay] = []
    func add(_ moment: GridPlay.Moment, _ deeds: [GridPlay.Deed]) {
      plays += deeds.map { GridPlay(moment, $0) }
    }
    let simple: [GridPlay.Deed] = [.close, .reset, .silence, .cancel].map { .end($0) }
    let ends =
      transport == .http2
      ? simple + [.end(.refuseStream), .end(.goAway), .end(.resetStream)] : simple
    switch connection {
    case .fresh:
      add(.connect, [.end(.close)])
      if transport.isEncrypted {
        add(.handshake, simple + [.respond(.rubbish, then: .finish)])
      } else {
        add(.established, simple)
      }
    case .kept where transport == .http2:
      add(.idle, [.end(.close), .end(.reset), .end(.goAway)])
    case .kept:
      add(
        .idle,
        [
          .respond(.status(200)), .respond(.status(500)), .respond(.status(408), then: .close),
          .respond(.inStatusLine), .respond(.rubbish), .end(.close), .end(.reset),
        ])
    }
    let afterEarly: [End] =
      [.keep, .finish, .close, .reset] + (transport == .http2 ? [.stopReading] : [])
    let early: [GridPlay.Deed] = [200, 413, 503].flatMap { status in
      afterEarly.map { .respond(.status(status), then: $0) }
    }
    add(.afterHead, ends)
    if let size = request.size, size > 0 {
      add(.afterHead, early)
      add(.inBody, ends + early)
    }
    if request.isLarge { return plays }
    add(.afterBody, ends)
    add(
      .afterBody,
      [200, 201, 400, 408, 409, 425, 429, 500, 502, 503, 504].map { .respond(.status($0)) })
    add(.afterBody, [429, 503].map { .respond(.retryAfter($0)) })
    add(.afterBody, [.respond(.gateway(503))])
    if transport == .http2 {
      for response in [GridPlay.Response.inBody(200), .inBody(400), .inBody(503)] {
        add(
          .afterBody,
          [End.close, .reset, .silence, .cancel, .resetStream].map { .respond(response, then: $0) })
      }
      add(.afterBody, [200, 400, 503].map { .respond(.status($0), then: .close) })
      return plays
    }
    add(.afterBody, [.respond(.rubbish, then: .close)])
    for status in [200, 400, 503] {
      add(
        .afterBody,
        [
          .respond(.chunked(status)), .respond(.untilClose(status), then: .close),
          .respond(.status(status), then: .close), .respond(.status(status), then: .reset),
        ])
    }
    let partial: [GridPlay.Response] = [
      .inStatusLine, .inHead(200), .inHead(400), .inBody(200), .inBody(400), .inBody(503),
      .inChunk(200),
    ]
    for response in partial {
      add(.afterBody, [End.close, .reset, .silence, .cancel].map { .respond(response, then: $0) })
    }
    return plays
  }

  /// What the second attempt can meet after this play.
  private static func seconds(
    _ transport: Transport, _ request: Request, _ play: GridPlay
  ) -> [Second] {
    if transport.isEncrypted, [.connect, .handshake].contains(play.moment) { return [.none] }
    return Second.allCases.filter { second in
      switch second {
      // The proxy in front of the server accepts what the server refuses.
      case .refused: !transport.isEncrypted
      case .fileChanged: request.size.map { $0 > 0 } == true && request != .postChunked
      default: true
      }
    }
  }

  /// The cells of a transport. If not all are wanted, each first attempt is followed by one second attempt: each of them in
  /// turn, so that all of them meet every transport, connection and request.
  static func all(_ transport: Transport, withAllSeconds: Bool) -> [GridCell] {
    var cells: [GridCell] = []
    var turn = 0
    // Under TLS most is as without it.
    let requests: [Request] =
      transport.isEncrypted ? [.get, .put, .post, .postWithKey, .postLarge] : Request.allCases
    for connection in Connection.allCases {
      for request in requests {
        // How TLS ends matters only if the connection's end is the response's.
        let plays = plays(transport, connection, request).filter {
          transport != .bareTLS || $0.end == .close
        }
        for play in plays {
          let seconds = seconds(transport, request, play)
          let chosen = withAllSeconds ? seconds : [seconds[turn % seconds.count]]
          turn += 1
          cells += chosen.map { second in
            GridCell(
              transport: transport, connection: connection, request: request, first: play,
              second: second)
          }
        }
      }
    }
    return cells
  }
}
