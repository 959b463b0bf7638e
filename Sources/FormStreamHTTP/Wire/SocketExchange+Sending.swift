import FormStreamNet
import FormStreamPlatform
import FormStreamWire

/// Sends the request.
extension SocketExchange {
  func endContinueWait() {
    guard awaitsContinue, ending == nil else { return }
    if request.requiresContinue {
      return end(because: .notAskedForBody(request.url, length: request.bodyLength))
    }
    awaitsContinue = false
    send()
    if ending == nil { report() }
  }

  /// Writes as much of the request as the system takes, and as its source has.
  func send() {
    guard !isSending, let connection, ending == nil else { return }
    isSending = true
    defer { isSending = false }
    var pieces = 0
    while !hasStoppedSending, ending == nil {
      // The head leaves together with the first piece.
      if mayReadBody, connection.unsentPiece.isEmpty, !connection.wire.isBodyWritten {
        guard pieces < Self.piecesPerTurn else {
          return goOnLater()
        }
        if pieces > 0 { report() }
        pieces += 1
        readPiece(connection)
        if ending != nil { return }
      }
      guard connection.hasPending else { break }
      // A response that came before the last byte of the body is not about all of it. So until the response is there, what follows the
      // first write is written only if nothing is there to be read.
      if sent.atResponse == nil, connection.wire.headSent > 0, request.announcesBody, connection.socket.hasInput() {
        // If the response waits, so does the request.
        if !isPaused, !isWaitingForTarget { goOnLater() }
        return
      }
      guard write(connection) else { break }
    }
  }

  private var mayReadBody: Bool {
    request.announcesBody && !awaitsContinue && !isPaused && !upload.isWaitingForSource && turnBegin == nil
  }

  private func readPiece(_ connection: Connection) {
    sent.hasBegunBody = true
    var allowed = turn.allowed(of: upload.rest)
    if allowed > 0 { allowed = min(allowed, pace.allowed(of: upload.rest)) }
    guard allowed > 0 else {
      engine?.awaitTurn(self)
      return
    }
    // The end of a chunk stands after its bytes.
    let room = UnsafeMutableRawBufferPointer(
      rebasing: connection.piece[..<min(connection.piece.count - Connection.chunkEnd, Int(clamping: allowed))])
    do throws(RequestFlaw) {
      switch upload.read(into: room) {
      case .bytes(let count):
        turn.use(count)
        pace.use(count)
        try connection.announce(count)
        if upload.total != nil, upload.rest == 0 { try connection.endBody() }
      case .later: break
      case .end:
        try connection.endBody()
      case .failed(let error):
        end(because: error)
      }
    } catch {
      end(with: .init(cause: .other, ending: .closed, detail: "\(error)"))
    }
  }

  /// Returns whether everything was written.
  private func write(_ connection: Connection) -> Bool {
    do throws(SystemError) {
      let count = try connection.write()
      if count > 0 {
        upload.note(sent: connection.wire.bodySent)
        if connection.wire.isRequestComplete { clock.noteBodyEnd() }
      }
      return !connection.hasPending
    } catch {
      // What the server sent before it closed the connection can still be read.
      hasStoppedSending = true
      sent.failure = error
      if !isReceiving { receive() }
      return false
    }
  }
}
