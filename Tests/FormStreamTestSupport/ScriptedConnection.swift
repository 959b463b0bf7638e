import FormStreamMultipart
import FormStreamPlatform

/// A connection of a `ScriptedServer`. One thread creates, serves and closes it.
final class ScriptedConnection {
  /// Ends the work on a connection.
  struct Ended: Error {
    let how: RecordedConnection.End
  }

  private let socket: PolledSocket
  private let log: Guarded<ServerLog>
  private let options: ScriptedServer.Options
  private let index: Int
  private let script: ScriptedServer.Script
  private var reader = HTTPMessageReader()
  private var request: OpenRequest?
  private var requestCount = 0

  /// The request that the connection works on.
  private struct OpenRequest {
    let number: Int
    let isHEAD: Bool
    var bodyCount = 0
    var faultCount = 0
    var hasResponse = false
    var closesAfterResponse = false
  }

  init(
    _ descriptor: Int32, _ index: Int, log: Guarded<ServerLog>, stopping: Gate,
    options: ScriptedServer.Options, script: @escaping ScriptedServer.Script
  ) {
    socket = PolledSocket(descriptor, stopping: stopping)
    self.index = index
    self.log = log
    self.options = options
    self.script = script
  }

  /// Serves all requests, and closes the connection.
  func serve() {
    var end = RecordedConnection.End.closedByServer
    do {
      if let steps = options.onConnect?(index) { try perform(steps) }
      while true {
        try readHead()
        guard let number = request?.number else { break }
        try perform(script(log.withLock { $0.requests[number] }))
        try perform([.readBody])
        // Nothing can follow a body whose end is unknown.
        if request?.closesAfterResponse == true || !reader.body.isComplete {
          try perform([.finish])
        }
      }
    } catch let ended as Ended {
      end = ended.how
    } catch {
      end = .closedByServer
    }
    readRest(end)
    socket.close(resetting: end == .resetByServer)
    log.withLock { $0.connections[index].end = end }
  }

  // MARK: Reading

  /// Receives at most `limit` bytes. Returns false if the client sends no more.
  private func receive(_ limit: Int = 64 << 10) throws -> Bool {
    let count = try socket.receive(into: &reader.unread, most: limit)
    log.withLock { $0.connections[index].received += count }
    return count > 0
  }

  private func readHead() throws {
    while true {
      if let (head, bytes) = reader.readRequestHead() { return begin(head, bytes) }
      if reader.unread.count > 1 << 20 {
        noteStray(reader.unread)
        throw Ended(how: .closedByServer)
      }
      guard try receive(16 << 10) else { throw Ended(how: .closedByClient) }
    }
  }

  private func begin(_ head: HTTPHead, _ bytes: [UInt8]) {
    if !head.stray.isEmpty { noteStray(head.stray) }
    var record = RecordedRequest()
    record.connection = index
    record.index = requestCount
    record.method = head.method
    record.target = head.target
    record.head = bytes
    record.headers = head.headers
    record.framing = head.framing
    record.bodyIsComplete = reader.body.isComplete
    requestCount += 1
    let number = log.withLock { log in
      record.number = log.requests.count
      log.requests.append(record)
      for fault in head.faults {
        log.faults.append(WireFault(kind: fault.kind, request: record.number, what: fault.what))
      }
      return record.number
    }
    request = OpenRequest(number: number, isHEAD: head.method == "HEAD")
  }

  /// Reads the received bytes that belong to the body, up to `limit` of its bytes in all.
  private func takeBody(upTo limit: Int = .max) {
    guard var open = request, !reader.body.isOver, !reader.unread.isEmpty else { return }
    reader.readBody(limit: limit - open.bodyCount) { piece in
      open.bodyCount += piece.count
      options.onBody?(open.number, piece)
      log.withLock { log in
        let room = options.keptBodyLimit - log.requests[open.number].body.count
        log.requests[open.number].bodyCount += piece.count
        log.requests[open.number].body.append(contentsOf: piece.prefix(max(room, 0)))
      }
    }
    let body = reader.body
    log.withLock { log in
      log.requests[open.number].bodyIsComplete = body.isComplete
      log.requests[open.number].chunkSizes = body.chunkSizes
      log.requests[open.number].trailers = body.trailers
      for what in body.faults.dropFirst(open.faultCount) {
        log.faults.append(WireFault(kind: .syntax, request: open.number, what: what))
      }
    }
    open.faultCount = body.faults.count
    request = open
  }

  private func readBody(upTo limit: Int, rate: Int?) throws {
    takeBody(upTo: limit)
    while let open = request, !reader.body.isOver, open.bodyCount < limit {
      var most = min(64 << 10, max(limit - open.bodyCount, reader.body.missing, 1))
      if limit < .max { most = min(most, limit - open.bodyCount) }
      if let rate {
        // Twenty pieces per second, or one byte at a time.
        most = min(most, max(rate / 20, 1))
        try socket.pause(.seconds(Double(most) / Double(max(rate, 1))))
      }
      guard try receive(most) else { throw Ended(how: .closedByClient) }
      takeBody(upTo: limit)
    }
  }

  // MARK: Too many or too few bytes

  private func noteStray(_ bytes: [UInt8]) {
    guard !bytes.isEmpty else { return }
    let start = String(decoding: bytes.prefix(40), as: UTF8.self).debugDescription
    log.withLock { log in
      let last = log.requests.last { $0.connection == index }?.number
      if let last {
        log.requests[last].surplus += bytes
      } else {
        log.connections[index].stray += bytes
      }
      let what =
        last == nil
        ? "\(bytes.count) bytes that are not a request: \(start)"
        : "\(bytes.count) bytes after its end that are not a request: \(start)"
      log.faults.append(WireFault(kind: .surplus, request: last, what: what))
    }
  }

  /// If the body is complete, notes bytes after it that are not another request.
  private func noteSurplus() {
    guard request != nil, reader.body.isComplete else { return }
    if let count = try? socket.receiveWaiting(into: &reader.unread) {
      log.withLock { $0.connections[index].received += count }
    }
    // RFC 9112 §9.3.2 allows a client to send its next request before the response.
    if HTTPHead.couldBeginRequest(reader.unread) { return }
    noteStray(reader.unread)
    reader.unread = []
  }

  /// At the end, reads what is left, and notes whether it was too much or too little.
  private func readRest(_ end: RecordedConnection.End) {
    if end != .closedByServer, end != .resetByServer {
      while let count = try? socket.receiveWaiting(into: &reader.unread), count > 0 {
        log.withLock { $0.connections[index].received += count }
        takeBody()
      }
    }
    takeBody()
    // The beginning of a request is not a fault. If the client closed, it must have sent at least its method.
    let isBegun =
      HTTPHead.couldBeginRequest(reader.unread)
      && (end != .closedByClient || reader.unread.contains(UInt8(ascii: " ")))
    if request == nil || reader.body.isComplete, !isBegun { noteStray(reader.unread) }
    guard end == .closedByClient, let open = request, !open.hasResponse, !reader.body.isComplete
    else { return }
    let what = "the client closed after \(open.bodyCount) bytes of the body, which is not complete"
    log.withLock { log in
      log.faults.append(WireFault(kind: .cutShort, request: open.number, what: what))
    }
  }

  // MARK: Steps

  private func perform(_ steps: [ScriptedStep]) throws {
    for step in steps { try perform(step) }
  }

  private func perform(_ step: ScriptedStep) throws {
    switch step {
    case .read(let limit, let rate): try readBody(upTo: limit, rate: rate)
    case .sendBytes(let bytes): try send(bytes)
    case .sendSlowly(let bytes, let time):
      for byte in bytes {
        try socket.pause(time)
        try send([byte])
      }
    case .response(let response): try send(response)
    case .sendContinue(let always):
      guard let request else { return }
      let record = log.withLock { $0.requests[request.number] }
      if always || record.expectsContinue { try send(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)) }
    case .informational(let status, let headers, let times):
      let response = ScriptedResponse(
        status: status, headers: headers, body: [], framing: .contentLength)
      for _ in 0..<times { try send(response.bytes(toHEAD: false)) }
    case .stall: try socket.waitForPeersEnd()
    case .waitFor(let gate): try socket.waitForOpening(of: gate)
    case .open(let gate): gate.open()
    case .call(let function): function()
    case .skipBody: reader.skipBody()
    case .closeWrite: socket.shutdown()
    case .close: throw Ended(how: .closedByServer)
    case .finish: try finish()
    case .reset: throw Ended(how: .resetByServer)
    case .decide(let decide):
      guard let request else { return }
      try perform(decide(log.withLock { $0.requests[request.number] }))
    case .unexpected:
      if let number = request?.number {
        log.withLock { log in
          let what = "there is no script for it: \(log.requests[number].target)"
          log.faults.append(WireFault(kind: .unexpected, request: number, what: what))
        }
      }
      throw Ended(how: .closedByServer)
    }
  }

  private func send(_ bytes: [UInt8]) throws {
    try socket.send(bytes) { count in log.withLock { $0.connections[index].sent += count } }
  }

  private func send(_ response: ScriptedResponse) throws {
    noteSurplus()
    if let number = request?.number {
      request?.hasResponse = true
      request?.closesAfterResponse = response.closes
      log.withLock { log in
        log.requests[number].responseStatus = response.status
        log.requests[number].bodyCountAtResponse = log.requests[number].bodyCount
      }
    }
    try send(response.bytes(toHEAD: request?.isHEAD ?? false))
  }

  private func finish() throws {
    socket.shutdown()
    do {
      while true {
        takeBody()
        // A body whose end is unknown is not kept, nor more than enough surplus.
        let isLost = request != nil && reader.body.isOver && !reader.body.isComplete
        if isLost || reader.unread.count > 1 << 20 { reader.unread = [] }
        if try !receive() { break }
      }
    } catch let ended as Ended where ended.how == .resetByClient {}
    throw Ended(how: .closedByServer)
  }
}
