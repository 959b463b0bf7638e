import FormStreamNet
import FormStreamPlatform
import FormStreamWire

/// Receives the response.
extension SocketExchange {
  /// Reads what has arrived, as far as the response's target takes it.
  func receive() {
    guard let connection, let engine, ending == nil else { return }
    guard !isPaused else { return noteArrivalInPause(over: connection) }
    isReceiving = true
    defer {
      isReceiving = false
      if ending == nil { collector.flush() }
    }
    guard takeHeld() else { return }
    var pieces = 0
    while ending == nil, !isWaitingForTarget, connection.socket.mayRead || sent.failure != nil {
      guard pieces < Self.piecesPerTurn else {
        return goOnLater()
      }
      pieces += 1
      var buffer = engine.pool.buffer
      if !request.announcesBody {
        let allowed = pace.allowed(of: .max)
        guard allowed > 0 else { return engine.awaitTurn(self) }
        buffer = UnsafeMutableRawBufferPointer(rebasing: buffer[..<min(buffer.count, Int(clamping: allowed))])
      }
      do throws(SystemError) {
        switch try connection.socket.read(into: buffer) {
        case .bytes(let count):
          if !request.announcesBody { pace.use(count) }
          noteArrival(over: connection)
          take(UnsafeRawBufferPointer(rebasing: buffer[..<count]), from: connection)
        case .end: endInput(connection, isOrderly: true)
        case .nothing: return
        }
      } catch {
        sent.failure = sent.failure ?? error
        endInput(connection, isOrderly: false)
      }
    }
  }

  /// Notes how many bytes the server's system didn't have when it sent the piece of a head that is about to be read. A segment
  /// acknowledges all bytes that arrived before it (RFC 9293 §3.4), and this system handles the acknowledgment before the segment's
  /// data.
  private func noteArrival(over connection: Connection) {
    guard connection.wire.marksNextInput else { return }
    clock.noteHeadLine()
    if !isArrivalCounted { countArrival(over: connection) }
    isArrivalCounted = false
  }

  /// What arrives during a pause is read after it, when the server's system may have more of the request.
  private func noteArrivalInPause(over connection: Connection) {
    guard !isArrivalCounted, connection.wire.marksNextInput, connection.socket.hasInput() else { return }
    countArrival(over: connection)
    isArrivalCounted = true
  }

  private func countArrival(over connection: Connection) {
    if request.announcesBody || !request.method.isSafe { unacknowledged = connection.socket.unacknowledgedBytes ?? 0 }
  }

  private func take(_ bytes: UnsafeRawBufferPointer, from connection: Connection) {
    clock.noteMovement()
    var input = bytes
    do throws(WireError) {
      while ending == nil, let event = try connection.wire.receive(&input) {
        guard handle(event, connection) else {
          held?.rest = Array(input)
          return
        }
      }
    } catch {
      fail(error)
    }
  }

  /// Takes what was held back, once its target has room. Returns whether nothing is held back any more.
  private func takeHeld() -> Bool {
    guard let (body, rest) = held else { return true }
    guard !isWaitingForTarget, let connection else { return false }
    held = nil
    guard body.withUnsafeBytes({ deliver($0) }), ending == nil else {
      held?.rest = rest
      return false
    }
    // Even if nothing is left, the end of the response may have to be noted.
    rest.withUnsafeBytes { take($0, from: connection) }
    return ending == nil && held == nil
  }

  private func endInput(_ connection: Connection, isOrderly: Bool) {
    do throws(WireError) {
      while ending == nil, let event = try connection.wire.endInput(isOrderly: isOrderly) {
        guard handle(event, connection) else { return }
      }
    } catch {
      return fail(error)
    }
    // The response has ended, and the server takes no more of the request.
    if ending == nil { finish(nil) }
  }

  /// Returns false if a piece of the body was held back.
  private func handle(_ event: ClientExchange.Event, _ connection: Connection) -> Bool {
    switch event {
    case .interim(let head):
      guard receive(head) else { break }
      if collector.isProgressReported { connection.wire.noteProgressOfServer() }
      if collector.hasContinued, awaitsContinue {
        awaitsContinue = false
        continueTimer?.cancel()
        send()
      }
    case .response(let head):
      guard receive(head) else { break }
      continueTimer?.cancel()
      noteResponse(connection)
      if awaitsContinue, request.requiresContinue, !hasStoppedSending {
        end(because: .notAskedForBody(request.url, length: request.bodyLength))
      }
      // The server has answered without asking for the body. A success can't be about it, and the server may never read it.
      if awaitsContinue { hasStoppedSending = true }
      awaitsContinue = false
    case .body(let bytes): return deliver(bytes)
    case .trailers(let trailers):
      trailers.bytes.withUnsafeBytes { bytes in
        for line in bytes.dropLast(2).split(separator: UInt8(ascii: "\n")) where line.count > 1 {
          collector.receive(trailer: line.last == UInt8(ascii: "\r") ? line.dropLast() : line)
        }
      }
    case .end:
      hasResponseEnded = true
      finishIfComplete(connection)
    }
    return true
  }

  private func receive(_ head: ResponseHead) -> Bool {
    let isTaken = head.bytes.withUnsafeBytes { $0.eachLine { collector.receive(headLine: $0) } }
    if !isTaken, let error = collector.failure { end(because: error) }
    return isTaken
  }

  private func noteResponse(_ connection: Connection) {
    let handedOver = upload.start + (connection.wire.bodySentAtResponse ?? 0)
    let isComplete = connection.wire.isResponseToCompleteRequest && unacknowledged == 0
    sent.atResponse = (isComplete, max(handedOver - unacknowledged, upload.start))
    // A refusal needs no more of the body. A success may be about what the server has, and reads on.
    if !connection.wire.isRequestComplete, let status = collector.status, !(200...299).contains(status) {
      hasStoppedSending = true
    }
  }

  /// Returns false if the bytes were not taken, and are held back.
  private func deliver(_ bytes: UnsafeRawBufferPointer) -> Bool {
    switch collector.receive(body: bytes) {
    case .taken:
      if collector.hasAllOfOpenBody { finish(nil) }
      return true
    case .later:
      isWaitingForTarget = true
      held = (Array(bytes), [])
      return false
    case .abort:
      if let error = collector.failure { end(because: error) } else { finish(nil) }
      return true
    }
  }

  func finishIfComplete(_ connection: Connection) {
    guard hasResponseEnded, ending == nil else { return }
    if connection.wire.isRequestComplete || hasStoppedSending || connection.socket.hasHungUp { return finish(nil) }
    // A success that came before the complete request confirms nothing yet.
    if let status = collector.status, !(200...299).contains(status) { finish(nil) }
  }
}
