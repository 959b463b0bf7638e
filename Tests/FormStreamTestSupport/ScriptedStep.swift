/// One thing that a `ScriptedServer` does.
public enum ScriptedStep: Sendable {
  /// Reads the body to its end, or up to that many of its bytes in all, at most `rate` bytes per second.
  case read(upTo: Int, rate: Int?)
  /// Sends bytes.
  case sendBytes([UInt8])
  /// Sends bytes one by one, each after a pause.
  case sendSlowly([UInt8], each: Duration)
  /// Sends a response.
  case response(ScriptedResponse)
  /// Sends `100 Continue`, always or if the request waits for it.
  case sendContinue(always: Bool)
  /// Sends an informational response, once or several times.
  case informational(Int, headers: [(String, String)] = [], times: Int = 1)
  /// Does nothing until the client closes the connection.
  case stall
  /// Does nothing until the test opens the gate, or the client closes the connection.
  case waitFor(Gate)
  /// Opens a gate for which the test waits.
  case open(Gate)
  /// Calls a function of the test.
  case call(@Sendable () -> Void)
  /// Expects no more of the body, as after refusing a client that waits for `100 Continue`. What arrives next is a
  /// request.
  case skipBody
  /// Sends no more, and continues to read.
  case closeWrite
  /// Closes at once, like a program that ends. If bytes are unread, the system sends a reset.
  case close
  /// Sends no more, reads until the client closes, and closes. If the body was complete before, what is read is
  /// surplus.
  case finish
  /// Resets the connection.
  case reset
  /// Records a fault because there is no script for this request, and closes.
  case unexpected
  /// Decides the next steps from the request as far as it has arrived.
  case decide(@Sendable (RecordedRequest) -> [ScriptedStep])

  /// Reads all of the body.
  public static var readBody: Self { .read(upTo: .max, rate: nil) }
  /// Reads the body to its end, or up to that many of its bytes in all, at most `rate` bytes per second.
  public static func readBody(upTo count: Int = .max, rate: Int? = nil) -> Self {
    .read(upTo: count, rate: rate)
  }
  /// Sends text.
  public static func send(_ text: String) -> Self { .sendBytes(Array(text.utf8)) }
  /// Sends bytes.
  public static func send(_ bytes: [UInt8]) -> Self { .sendBytes(bytes) }
  /// Sends `100 Continue`.
  public static var continue100: Self { .sendContinue(always: true) }
  /// Sends `100 Continue` if the request waits for it.
  public static var continueIfExpected: Self { .sendContinue(always: false) }
  /// Sends a response.
  public static func respond(
    _ status: Int, headers: [(String, String)] = [], body: String = "",
    framing: ScriptedResponse.Framing = .contentLength
  ) -> Self {
    respond(status, headers: headers, bytes: Array(body.utf8), framing: framing)
  }
  /// Sends a response.
  public static func respond(
    _ status: Int, headers: [(String, String)] = [], bytes: [UInt8],
    framing: ScriptedResponse.Framing = .contentLength
  ) -> Self {
    .response(ScriptedResponse(status: status, headers: headers, body: bytes, framing: framing))
  }
}

extension [ScriptedStep] {
  /// What a good server does that closes the connection after its response.
  public static func closing(
    _ status: Int = 200, headers: [(String, String)] = [], body: String = ""
  ) -> Self {
    good(status, headers: headers + [("Connection", "close")], body: body)
  }

  /// What a good server does: sends `100 Continue` if the client waits for it, reads the body, and responds.
  public static func good(
    _ status: Int = 200, headers: [(String, String)] = [], body: String = "",
    framing: ScriptedResponse.Framing = .contentLength
  ) -> Self {
    [
      .continueIfExpected, .readBody,
      .respond(status, headers: headers, body: body, framing: framing),
    ]
  }
}
