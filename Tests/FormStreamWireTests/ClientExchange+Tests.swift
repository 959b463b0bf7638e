import FormStreamMultipart
import FormStreamTestSupport
import FormStreamWire

extension ClientExchange {
  /// An exchange whose request was begun, and whose head left.
  static func begun(
    _ framing: RequestHead.Framing = .none, method: String = "POST", headers: HTTPHeaders = ["Host": "h"],
    isKept: Bool = false
  ) throws(RequestFlaw) -> ClientExchange {
    var exchange = ClientExchange()
    if isKept { try exchange.serveFirstRequest() }
    try exchange.beginAndSend(framing, method: method, headers: headers)
    return exchange
  }

  /// Begins a request. Its head leaves.
  mutating func beginAndSend(
    _ framing: RequestHead.Framing = .none, method: String = "POST", headers: HTTPHeaders = ["Host": "h"]
  ) throws(RequestFlaw) {
    var output: [UInt8] = []
    try begin(RequestHead(method: method, target: "/", headers: headers, framing: framing), to: &output)
    accepted(output.count)
  }

  /// Writes bytes of the body. They don't leave. Returns how many bytes were written with their framing.
  @discardableResult
  mutating func write(_ text: String) throws(RequestFlaw) -> Int {
    var output: [UInt8] = []
    let framing = try beginBytes(text.utf8.count, to: &output)
    return output.count + text.utf8.count + framing.utf8CodeUnitCount
  }

  /// Writes the end of the body. Returns how many bytes it has.
  @discardableResult
  mutating func writeEnd(trailers: HTTPHeaders = HTTPHeaders()) throws(RequestFlaw) -> Int {
    var output: [UInt8] = []
    try endBody(trailers: trailers, to: &output)
    return output.count
  }

  /// Receives a piece of the response up to its last event. The bytes lie in memory of exactly their size.
  mutating func read(_ text: String) throws(WireError) {
    try read(text) { _, _ in }
  }

  /// Receives a piece of the response. After each event, something happens before the next event is asked for.
  mutating func read(
    _ text: String, afterEach: (inout ClientExchange, Event) -> Void
  ) throws(WireError) {
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: text.utf8.count, alignment: 1)
    defer { memory.deallocate() }
    memory.copyBytes(from: text.utf8)
    var input = UnsafeRawBufferPointer(memory)
    while let event = try receive(&input) { afterEach(&self, event) }
  }

  /// Receives a piece of the response, and stops as soon as the response ends.
  mutating func readToEnd(_ text: String) throws(WireError) {
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: text.utf8.count, alignment: 1)
    defer { memory.deallocate() }
    memory.copyBytes(from: text.utf8)
    var input = UnsafeRawBufferPointer(memory)
    while let event = try receive(&input) {
      if case .end = event { return }
    }
  }
}
