import FormStreamPlatform

/// A connection of a `ScriptedHTTP2Server`. One thread creates, serves and closes it.
final class ScriptedHTTP2Connection {
  private typealias Ended = ScriptedConnection.Ended

  private let socket: PolledSocket
  private let log: Guarded<HTTP2ServerLog>
  private let options: ScriptedHTTP2Server.Options
  private let index: Int
  private let script: ScriptedHTTP2Server.Script
  private var unread: [UInt8] = []
  private var unsent: [UInt8] = []
  /// The requests in the order of their streams. The first stands for the connection before its first request.
  private var streams: [Stream] = []
  /// The HEADERS whose block is continued by the next frame.
  private var openHeaders: HTTP2Frame?

  fileprivate struct Stream {
    let id: Int
    /// The place in the log; nil for the connection.
    let number: Int?
    var steps: ArraySlice<ScriptedHTTP2Step>
    /// How many bytes the windows allow in all.
    var allowed: Int
    var received = 0
    var isComplete = false
    var isReset = false
  }

  init(
    _ descriptor: Int32, _ index: Int, log: Guarded<HTTP2ServerLog>, stopping: Gate,
    options: ScriptedHTTP2Server.Options, script: @escaping ScriptedHTTP2Server.Script
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
      try readPreface()
      sendSettings()
      streams = [
        Stream(id: 0, number: nil, steps: (options.onConnect?(index) ?? [])[...], allowed: 0)
      ]
      while true {
        // A step of one stream can open the gate that another waits for.
        while try streams.indices.count(where: advance) > 0 {}
        try flush()
        try receive(orOpeningOf: streams.compactMap(\.awaitedGate))
        while let frame = HTTP2Frame(takenFrom: &unread) { try handle(frame) }
      }
    } catch let ended as Ended {
      end = ended.how
    } catch {
      end = .closedByServer
    }
    // What was sent before the end reaches the client, unless the connection is reset.
    if end == .closedByServer { try? flush() }
    socket.close(resetting: end == .resetByServer)
    log.withLock { $0.connections[index] = end }
  }

  // MARK: Receiving

  private func receive(orOpeningOf gates: [Gate] = []) throws {
    let count = try socket.receive(into: &unread, most: 64 << 10, orOpeningOf: gates)
    if count == 0 { throw Ended(how: .closedByClient) }
  }

  private func readPreface() throws {
    while unread.count < HTTP2Frame.preface.count { try receive() }
    guard unread.starts(with: HTTP2Frame.preface) else {
      throw fault("it doesn't begin with the preface: \(String(decoding: unread, as: UTF8.self))")
    }
    unread.removeFirst(HTTP2Frame.preface.count)
  }

  /// Records a fault, and returns what ends the connection.
  private func fault(_ what: String, of request: Int? = nil) -> any Error {
    log.withLock { $0.faults.append(WireFault(kind: .syntax, request: request, what: what)) }
    return Ended(how: .closedByServer)
  }

  private func handle(_ frame: HTTP2Frame) throws {
    if let headers = openHeaders {
      guard frame.kind == .continuation else { throw fault("its headers are not continued") }
      if frame.endsHeaders { begin(headers) }
      return
    }
    switch frame.kind {
    case .headers where frame.endsHeaders: begin(frame)
    case .headers: openHeaders = frame
    case .data: try take(frame)
    case .settings where !frame.isAcknowledgement:
      send(HTTP2Frame(.settings, flags: HTTP2Frame.acknowledgement))
    case .ping where !frame.isAcknowledgement:
      send(HTTP2Frame(.ping, flags: HTTP2Frame.acknowledgement, frame.payload))
    case .resetStream:
      guard let place = place(of: frame), let number = streams[place].number else { return }
      streams[place].isReset = true
      log.withLock { $0.requests[number].resetByClient = HTTP2Frame.number(frame.payload) }
    default: break
    }
  }

  private func place(of frame: HTTP2Frame) -> Int? {
    streams.firstIndex { $0.id == frame.stream && $0.number != nil }
  }

  private func begin(_ frame: HTTP2Frame) {
    openHeaders = nil
    // Headers of a known stream are trailers.
    if let place = place(of: frame) { return complete(place, frame) }
    var record = RecordedHTTP2Request()
    record.connection = index
    record.index = streams.count - 1
    record.stream = frame.stream
    record.isComplete = frame.endsStream
    record.allowedCount = options.initialWindow
    record.number = log.withLock { log in
      record.number = log.requests.count
      log.requests.append(record)
      return record.number
    }
    var stream = Stream(
      id: frame.stream, number: record.number, steps: script(record)[...],
      allowed: options.initialWindow)
    stream.isComplete = frame.endsStream
    streams.append(stream)
  }

  private func complete(_ place: Int, _ frame: HTTP2Frame) {
    guard frame.endsStream, let number = streams[place].number else { return }
    streams[place].isComplete = true
    log.withLock { $0.requests[number].isComplete = true }
  }

  private func take(_ frame: HTTP2Frame) throws {
    guard let place = place(of: frame), let number = streams[place].number else {
      throw fault("it sends a body on stream \(frame.stream), which it has not opened")
    }
    guard let data = frame.data else { throw fault("its padding is too long", of: number) }
    streams[place].received += frame.payload.count
    // Until the client knows the settings, the window is 65,535 (RFC 9113 §6.9.2).
    guard streams[place].received <= max(streams[place].allowed, 65_535) else {
      throw fault("its body exceeds the stream's window", of: number)
    }
    log.withLock { log in
      let room = max(options.keptBodyLimit - log.requests[number].body.count, 0)
      log.requests[number].bodyCount += data.count
      log.requests[number].body.append(contentsOf: data.prefix(room))
    }
    complete(place, frame)
  }

  // MARK: Sending

  private func send(_ frame: HTTP2Frame) {
    unsent += frame.bytes
  }

  private func flush() throws {
    defer { unsent = [] }
    try socket.send(unsent) { _ in }
  }

  private func sendSettings() {
    // SETTINGS_INITIAL_WINDOW_SIZE is 4, SETTINGS_MAX_CONCURRENT_STREAMS is 3 (RFC 9113 §6.5.2).
    send(
      HTTP2Frame(
        .settings,
        [0, 4] + HTTP2Frame.bytes(options.initialWindow) + [0, 3]
          + HTTP2Frame.bytes(options.concurrentStreams)))
    openWindow(of: 0, by: options.connectionWindow - 65_535)
  }

  private func openWindow(of stream: Int, by count: Int) {
    if count > 0 { send(HTTP2Frame(.windowUpdate, stream: stream, HTTP2Frame.bytes(count))) }
  }

  private func sendData(_ bytes: [UInt8], on stream: Int, ends: Bool) {
    var rest = bytes[...]
    repeat {
      let piece = rest.prefix(HTTP2Frame.maximumPayload)
      rest = rest.dropFirst(piece.count)
      let flags = ends && rest.isEmpty ? HTTP2Frame.endStream : 0
      send(HTTP2Frame(.data, flags: flags, stream: stream, Array(piece)))
    } while !rest.isEmpty
  }

  // MARK: Steps

  /// Performs the steps of a stream until one has to wait; returns whether there were any.
  private func advance(_ place: Int) throws -> Bool {
    let count = streams[place].steps.count
    while let step = streams[place].steps.first {
      guard try perform(step, place) else { return streams[place].steps.count < count }
      streams[place].steps.removeFirst()
    }
    _ = try perform(.readBody, place)
    return count > 0
  }

  /// Performs a step; returns false if it has to wait.
  private func perform(_ step: ScriptedHTTP2Step, _ place: Int) throws -> Bool {
    let stream = streams[place]
    switch step {
    case .read(let limit): return read(upTo: limit, place)
    case .response(let status, let headers, let body, let ends):
      sendHead(status, headers, stream, ends: ends && body.isEmpty)
      if !body.isEmpty { sendData(body, on: stream.id, ends: ends) }
      noteResponse(status, stream)
    case .informational(let status): sendHead(status, [], stream, ends: false)
    case .data(let bytes, let ends): sendData(bytes, on: stream.id, ends: ends)
    case .resetStream(let code):
      send(HTTP2Frame(.resetStream, stream: stream.id, HTTP2Frame.bytes(code.rawValue)))
      streams[place].isReset = true
    case .goAway(let last, let code):
      let id =
        switch last {
        case .this: stream.id
        case .none: 0
        case .previous: place > 0 ? streams[place - 1].id : 0
        }
      send(HTTP2Frame(.goAway, HTTP2Frame.bytes(id) + HTTP2Frame.bytes(code.rawValue)))
    case .sendBytes(let bytes): unsent += bytes
    case .stall: return false
    case .waitFor(let gate): return gate.isOpen
    case .open(let gate):
      // The test may rely on what was sent before.
      try flush()
      gate.open()
    case .call(let function):
      try flush()
      function()
    case .close: throw Ended(how: .closedByServer)
    case .finish:
      try flush()
      socket.shutdown()
      try socket.waitForPeersEnd()
    case .reset:
      try flush()
      throw Ended(how: .resetByServer)
    }
    return true
  }

  private func sendHead(
    _ status: Int, _ headers: [(String, String)], _ stream: Stream, ends: Bool
  ) {
    send(
      HTTP2Frame(
        .headers, flags: HTTP2Frame.endHeaders | (ends ? HTTP2Frame.endStream : 0),
        stream: stream.id, HTTP2Frame.headerBlock(status, headers)))
  }

  private func noteResponse(_ status: Int, _ stream: Stream) {
    guard let number = stream.number else { return }
    log.withLock { log in
      log.requests[number].responseStatus = status
      log.requests[number].bodyCountAtResponse = log.requests[number].bodyCount
      log.requests[number].wasCompleteAtResponse = stream.isComplete
    }
  }

  /// Opens the window for a body; returns whether all that is wanted has arrived.
  private func read(upTo limit: Int, _ place: Int) -> Bool {
    let stream = streams[place]
    guard let number = stream.number, !stream.isComplete, !stream.isReset, stream.received < limit
    else { return true }
    let wanted = min(limit, stream.received + (256 << 10))
    // Half a window at a time, as servers do, or the rest.
    if wanted - stream.allowed >= 128 << 10 || wanted == limit, wanted > stream.allowed {
      openWindow(of: stream.id, by: wanted - stream.allowed)
      streams[place].allowed = wanted
      log.withLock { $0.requests[number].allowedCount = wanted }
    }
    return false
  }
}

extension ScriptedHTTP2Connection.Stream {
  /// The gate for which its next step waits; nil if it doesn't wait for one. It may be open by now: the step was tried before.
  fileprivate var awaitedGate: Gate? {
    if case .waitFor(let gate) = steps.first { gate } else { nil }
  }
}
