import FormStreamMultipart
import FormStreamTestSupport
import FormStreamWire

/// The input: 17 bytes that choose the method, the ending, limits and cuts, 8 that choose a request's body and how its bytes leave,
/// then the bytes of the server.
func checkResponse(_ choices: inout Choices) throws {
  let method = ["GET", "HEAD", "CONNECT", "POST"][choices.below(4)]
  let ending: ExchangeRun.Ending = choices.bool() ? .broken : .closed
  let limits = ExchangeLimits(chosenBy: &choices)
  let places = (0..<4).map { _ in choices.place() }
  let upload = choices.bytes(8)
  let response = Array(choices.rest)
  if upload.contains(where: { $0 != 0 }) {
    try checkInterleaved(response, cuts: places.cuts(of: response.count), upload)
  }
  func run(
    _ bytes: some Collection<UInt8>, cuts: [Int] = []
  ) throws -> ExchangeRun {
    try ExchangeRun(Array(bytes), to: .get(method), cuts: cuts, ending: ending, limits: limits)
  }

  let whole = try run(response)
  for cuts in [Array(response.indices), places.cuts(of: response.count)] {
    var divided = try run(response, cuts: cuts)
    if whole.error != nil { divided.forgetConsumed(of: whole) }
    try hold(divided == whole, "cut at \(cuts), \(divided)\nwhole, \(whole)")
  }
  try checkPlausible(whole, limits)
  for case .interim(let head) in whole.events { try checkWritten(head) }
  if let head = whole.head { try checkWritten(head) }

  guard whole.isComplete else { return }
  try checkBody(whole, of: response)
  guard whole.framing != .untilClose else { return }
  // Nothing after the end belongs to the response, and nothing less is the response.
  let exact = response.prefix(whole.consumed)
  let followed = try run(exact + Array("HTTP/1.1 200 OK\r\n\r\nx".utf8))
  try hold(followed.events == whole.events, "followed by others, \(followed)\nwhole, \(whole)")
  try hold(followed.closingReason != nil, "bytes after the end, and the connection is used again")
  let cut = places[0] % max(exact.count, 1)
  try hold(exact.isEmpty || !(try run(exact.prefix(cut)).isComplete), "complete after \(cut) bytes")
}

/// What had left of a request is counted when a byte of the response arrives, whenever its event is asked for.
private func checkInterleaved(_ response: [UInt8], cuts: [Int], _ choices: [UInt8]) throws {
  var left = choices
  let kind = left.popLast() ?? 0
  let chunks = (0..<2).map { _ in Int(left.popLast() ?? 0) % 40 }
  var turn = 0
  let fault = try InterleavedExchange.fault(
    of: response, chunks: chunks, isChunked: kind & 1 == 1, cuts: cuts, isKept: kind & 2 == 2
  ) {
    defer { turn += 1 }
    return left.isEmpty ? 0 : Int(left[turn % left.count])
  }
  try hold(fault == nil, "\(fault ?? "")")
}

extension ExchangeLimits {
  fileprivate init(chosenBy choices: inout Choices) {
    self.init()
    let isLowered = choices.byte()
    let values = (0..<6).map { _ in Int(choices.byte()) }
    func lower(_ index: Int, _ set: (Int) -> Void) {
      if isLowered & 1 << UInt8(index) != 0 { set(values[index]) }
    }
    lower(0) { heads.line = $0 }
    lower(1) { heads.head = $0 }
    lower(2) { heads.headers = $0 }
    lower(3) { interimBytes = $0 }
    lower(4) { interimHeads = $0 }
  }
}

private func checkPlausible(_ run: ExchangeRun, _ limits: ExchangeLimits) throws {
  try hold(run.isEndFinal, "the end was another when asked for again: \(run)")
  try hold(!run.hasEmptyBytes, "an event for no bytes")
  try hold(run.isComplete != (run.error != nil), "neither complete nor failed, or both: \(run)")
  try hold(run.error == nil || run.closingReason != nil, "a failed connection is used again")
  var interimBytes = 0
  var heads: [ExchangeRun.Head] = []
  for event in run.events {
    switch event {
    case .interim(let head):
      interimBytes += head.bytes.count
      heads.append(head)
      try hold((100...199).contains(head.status), "an interim head of status \(head.status)")
    case .response(let head):
      heads.append(head)
      try hold((200...999).contains(head.status), "a final head of status \(head.status)")
    case .body, .trailers, .end: break
    }
  }
  for head in heads {
    try hold(head.bytes.count <= limits.heads.head, "a head of \(head.bytes.count) bytes")
    try hold(head.headers.count <= limits.heads.headers, "\(head.headers.count) headers")
    let longest = head.bytes.split(separator: 0x0A).map { $0.count + 1 }.max()
    try hold(longest ?? 0 <= limits.heads.line, "a line of \(longest ?? 0) bytes")
  }
  try hold(interimBytes <= limits.interimBytes, "\(interimBytes) bytes of interim heads")
  try hold(run.interim.count <= limits.interimHeads, "\(run.interim.count) interim heads")
}

/// A head that is accepted, is written again and read, has the same meaning. Written in the normal form, it stays as it is.
private func checkWritten(_ head: ExchangeRun.Head) throws {
  var request: [UInt8] = []
  var exchange = ClientExchange()
  var headers = HTTPHeaders(head.headers.filter { !$0.isForbiddenInRequest }.map { ($0.name, $0.value) })
  headers.append("Host", "h")
  try exchange.begin(RequestHead(method: "GET", target: "/", headers: headers), to: &request)

  var written = Array("HTTP/1.\(head.minorVersion) \(head.status) ".utf8) + head.reason + [0x0D, 0x0A]
  for field in head.headers {
    written += Array(field.name.utf8) + [0x3A, 0x20] + field.bytes + [0x0D, 0x0A]
  }
  written += [0x0D, 0x0A]
  // Blanks of the normal form may exceed a limit that the head itself keeps to.
  guard written.count <= ExchangeLimits().heads.line else { return }
  let run = try ExchangeRun(written, to: .get("HEAD"), ending: .open)
  guard head.status != 101 else { return }
  var again = run.head
  for case .interim(let interim) in run.events { again = interim }
  try hold(again?.bytes == written, "\(head) was written and read as \(run)")
  try hold(
    again?.status == head.status && again?.minorVersion == head.minorVersion && again?.reason == head.reason
      && again?.headers == head.headers,
    "\(head) was read again as \(run)")
}

extension HTTPHeaders.Field {
  fileprivate var isForbiddenInRequest: Bool {
    ["content-length", "transfer-encoding", "host", "expect"].contains(name.lowercased())
  }
}

/// The body of a complete response is the one that a plain reading of its bytes finds, and the one that arrives if it is written in
/// other chunks.
private func checkBody(_ run: ExchangeRun, of response: [UInt8]) throws {
  var body = run.body
  Planted.lose(&body, run)
  let heads = run.events.reduce(0) { count, event in
    switch event {
    case .interim(let head), .response(let head): count + head.bytes.count
    case .body, .trailers, .end: count
    }
  }
  let rest = response[heads..<run.consumed]
  switch run.framing {
  case nil: try hold(false, "a response without a head is complete")
  case ResponseFraming.none?: try hold(rest.isEmpty && body.isEmpty, "a body of \(body.count) bytes")
  case .length(let length):
    try hold(body == Array(rest) && body.count == length, "\(body.count) of \(length) bytes")
  case .untilClose: try hold(body == Array(rest), "\(body.count) bytes of \(rest.count)")
  case .chunked:
    try hold(plainChunks(Array(rest)) == body, "a plain reading finds another body than \(body)")
    try checkChunksWritten(body, run.trailers)
  }
}

/// The data of chunks, read with as little care as possible.
private func plainChunks(_ bytes: [UInt8]) -> [UInt8]? {
  var (rest, body) = (bytes[...], [UInt8]())
  while let end = rest.firstRange(of: [0x0D, 0x0A]) {
    let digits = rest[..<end.lowerBound].prefix { $0 != 0x3B && $0 != 0x20 && $0 != 0x09 }
    guard let size = Int(String(decoding: digits, as: UTF8.self), radix: 16) else { return nil }
    rest = rest[end.upperBound...]
    if size == 0 { return body }
    guard rest.count > size else { return nil }
    body += rest.prefix(size)
    rest = rest.dropFirst(size + 2)
  }
  return nil
}

private func checkChunksWritten(_ body: [UInt8], _ trailers: HTTPHeaders) throws {
  var exchange = ClientExchange()
  var (head, output) = ([UInt8](), Array("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".utf8))
  try exchange.begin(
    RequestHead(method: "PUT", target: "/", headers: ["Host": "h"], framing: .chunked), to: &head)
  for start in stride(from: 0, to: body.count, by: 7) {
    try body[start...].prefix(7).withUnsafeBytes { try exchange.append($0, to: &output) }
  }
  let trailers = try writeEnd(of: &exchange, trailers, to: &output)
  let run = try ExchangeRun(output)
  try hold(
    run.isComplete && run.body == body && run.trailers == trailers,
    "\(body) and \(trailers) were written and read as \(run)")
}

/// Ends a body with those of the trailers that a request may have, and returns them.
private func writeEnd(
  of exchange: inout ClientExchange, _ trailers: HTTPHeaders, to output: inout [UInt8]
) throws(RequestFlaw) -> HTTPHeaders {
  do throws(RequestFlaw) {
    try exchange.endBody(trailers: trailers, to: &output)
    return trailers
  } catch {
    guard case .forbiddenTrailer(let name) = error else { throw error }
    var allowed = trailers
    allowed.remove(name)
    return try writeEnd(of: &exchange, allowed, to: &output)
  }
}
