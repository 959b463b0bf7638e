import Glibc
import FormStreamMultipart

/// A connection of a `ScriptedServer`: made, used and left on its own thread.
final class ScriptedConnection {
  /// Ends the work on a connection.
  struct Ended: Error {
    let how: RecordedConnection.End
  }

  let socket: PolledSocket
  let log: Guarded<ServerLog>
  let options: ScriptedServer.Options
  let index: Int
  private let script: ScriptedServer.Script
  /// What was received and is not read yet.
  private var input: [UInt8] = []
  private var request: OpenRequest?
  private var requestCount = 0

  /// The request that is worked on.
  private struct OpenRequest {
    let number: Int
    let toHead: Bool
    var decoder: BodyDecoder
    var bodyCount = 0
    var isAnswered = false
    var closesBehind = false
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

  /// Does all, to the end of the connection.
  func serve() {
    var end = RecordedConnection.End.closedByServer
    do {
      if let steps = options.onConnect?(index) { try perform(steps) }
      while true {
        try readHead()
        guard let number = request?.number else { break }
        try perform(script(log.withLock { $0.requests[number] }))
        try perform([.readBody])
        // What can't be read can't be followed by anything.
        if request?.closesBehind == true || request?.decoder.isComplete == false {
          try perform([.finish])
        }
      }
    } catch let ended as Ended {
      end = ended.how
    } catch {
      end = .closedByServer
    }
    salvage(end)
    socket.close(resetting: end == .resetByServer)
    log.withLock { $0.connections[index].end = end }
  }

  // MARK: Reading

  /// Receives at most `most` bytes more; false at the end of what the client sends.
  private func receive(_ most: Int = 64 << 10) throws -> Bool {
    let count = try socket.receive(into: &input, most: most)
    log.withLock { $0.connections[index].received += count }
    return count > 0
  }

  private func readHead() throws {
    var search = HeadSearch()
    var searched = 0
    while true {
      let found = input.withUnsafeBytes { bytes in
        search.end(in: UnsafeRawBufferPointer(rebasing: bytes[searched...]))
      }
      if let found {
        let head = Array(input[..<(searched + found)])
        input.removeFirst(head.count)
        return begin(head)
      }
      searched = input.count
      if searched > 1 << 20 {
        noteStray(input)
        throw Ended(how: .closedByServer)
      }
      guard try receive(16 << 10) else { throw Ended(how: .closedByClient) }
    }
  }

  private func begin(_ bytes: [UInt8]) {
    let head = RequestHead(bytes)
    if !head.stray.isEmpty { noteStray(head.stray) }
    var record = RecordedRequest()
    record.connection = index
    record.index = requestCount
    record.method = head.method
    record.target = head.target
    record.head = bytes
    record.headers = head.headers
    record.framing = head.framing
    let decoder = BodyDecoder(head.framing)
    record.bodyIsComplete = decoder.isComplete
    requestCount += 1
    let number = log.withLock { log in
      record.number = log.requests.count
      log.requests.append(record)
      for fault in head.faults {
        log.faults.append(WireFault(kind: fault.kind, request: record.number, what: fault.what))
      }
      return record.number
    }
    request = OpenRequest(number: number, toHead: head.method == "HEAD", decoder: decoder)
  }

  /// Takes from what was received what belongs to the body, up to `limit` bytes of it in all.
  private func takeBody(upTo limit: Int = .max) {
    guard var open = request, !open.decoder.isOver, !input.isEmpty else { return }
    let before = open.decoder.findings
    let taken = input.withUnsafeBytes { bytes in
      open.decoder.take(bytes, most: limit - open.bodyCount) { piece in
        open.bodyCount += piece.count
        options.onBody?(open.number, piece)
        log.withLock { log in
          let room = options.keptBodyLimit - log.requests[open.number].body.count
          log.requests[open.number].bodyCount += piece.count
          log.requests[open.number].body.append(contentsOf: piece.prefix(max(room, 0)))
        }
      }
    }
    input.removeFirst(taken)
    request = open
    let findings = open.decoder.findings
    log.withLock { log in
      log.requests[open.number].bodyIsComplete = open.decoder.isComplete
      log.requests[open.number].chunkSizes = findings.chunkSizes
      log.requests[open.number].trailers = findings.trailers
      for what in findings.faults.dropFirst(before.faults.count) {
        log.faults.append(WireFault(kind: .syntax, request: open.number, what: what))
      }
    }
  }

  private func readBody(upTo limit: Int, rate: Int?) throws {
    takeBody(upTo: limit)
    while let open = request, !open.decoder.isOver, open.bodyCount < limit {
      var most = min(64 << 10, max(limit - open.bodyCount, open.decoder.missing, 1))
      if limit < .max { most = min(most, limit - open.bodyCount) }
      if let rate {
        // Twenty pieces a second, or a byte at a time.
        most = min(most, max(rate / 20, 1))
        try socket.pause(.seconds(Double(most) / Double(max(rate, 1))))
      }
      guard try receive(most) else { throw Ended(how: .closedByClient) }
      takeBody(upTo: limit)
    }
  }

  // MARK: What is too much or too little

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
        ? "\(bytes.count) bytes that are no request: \(start)"
        : "\(bytes.count) bytes behind its end that are no request: \(start)"
      log.faults.append(WireFault(kind: .surplus, request: last, what: what))
    }
  }

  /// Looks, where the body is whole, whether more has come than it, or another request.
  private func noteSurplus() {
    guard let request, request.decoder.isComplete else { return }
    if let count = try? socket.receiveWaiting(into: &input) {
      log.withLock { $0.connections[index].received += count }
    }
    // RFC 9112 §9.3.2 allows a client to send its next request before the answer.
    if RequestHead.couldBegin(input) { return }
    noteStray(input)
    input = []
  }

  /// Notes, at the end, what came and was not read, and whether it was too little.
  private func salvage(_ end: RecordedConnection.End) {
    if end != .closedByServer, end != .resetByServer {
      while let count = try? socket.receiveWaiting(into: &input), count > 0 {
        log.withLock { $0.connections[index].received += count }
        takeBody()
      }
    }
    takeBody()
    // A request that was only begun is no surplus. A client that closed has begun one where at least its
    // method is there.
    let isBegun =
      RequestHead.couldBegin(input) && (end != .closedByClient || input.contains(UInt8(ascii: " ")))
    if request?.decoder.isComplete != false, !isBegun { noteStray(input) }
    guard end == .closedByClient, let open = request, !open.isAnswered, !open.decoder.isComplete
    else {
      return
    }
    let what = "the client closed after \(open.bodyCount) bytes of the body, which is not whole"
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
    case .answer(let answer): try send(answer)
    case .sendContinue(let always):
      guard let request else { return }
      let record = log.withLock { $0.requests[request.number] }
      if always || record.expectsContinue { try send(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)) }
    case .informational(let status, let headers, let times):
      let answer = ScriptedResponse(
        status: status, headers: headers, body: [], framing: .contentLength)
      for _ in 0..<times { try send(answer.bytes(toHead: false)) }
    case .stall: try socket.waitForPeersEnd()
    case .waitFor(let gate): try socket.waitForOpening(of: gate)
    case .open(let gate): gate.open()
    case .skipBody: request?.decoder = BodyDecoder(.none)
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

  private func send(_ answer: ScriptedResponse) throws {
    noteSurplus()
    if let number = request?.number {
      request?.isAnswered = true
      request?.closesBehind = answer.closes
      log.withLock { log in
        log.requests[number].responseStatus = answer.status
        log.requests[number].bodyCountAtResponse = log.requests[number].bodyCount
      }
    }
    try send(answer.bytes(toHead: request?.toHead ?? false))
  }

  private func finish() throws {
    socket.shutdown()
    do {
      while true {
        takeBody()
        // A body that can't be read is not kept, nor more than enough of what is too much.
        let isLost = request.map { $0.decoder.isOver && !$0.decoder.isComplete } ?? false
        if isLost || input.count > 1 << 20 { input = [] }
        if try !receive() { break }
      }
    } catch let ended as Ended where ended.how == .resetByClient {}
    throw Ended(how: .closedByServer)
  }
}
