/// One thing that a `ScriptedHTTP2Server` does with a request.
///
/// All frames of steps that follow each other without a wait are sent in one piece.
public enum ScriptedHTTP2Step: Sendable {
  /// Opens the stream's window so far that this many bytes of the body can arrive in all, and waits for them or the
  /// body's end.
  case read(upTo: Int)
  /// Sends the head of a final response, with its body.
  case response(Int, headers: [(String, String)], body: [UInt8], ends: Bool)
  /// Sends the head of an informational response.
  case informational(Int)
  /// Sends more of the response's body.
  case data([UInt8], ends: Bool)
  /// Sends RST_STREAM with this code.
  case resetStream(HTTP2ErrorCode)
  /// Sends GOAWAY: no stream after the named one was or will be handled.
  case goAway(Last, HTTP2ErrorCode = .noError)
  /// Sends bytes that need not be frames.
  case sendBytes([UInt8])
  /// Does nothing more with this request. No more of its body is taken than the window allows already.
  case stall
  /// Does nothing until the test opens the gate.
  case waitFor(Gate)
  /// Opens a gate for which the test waits.
  case open(Gate)
  /// Calls a function of the test.
  case call(@Sendable () -> Void)
  /// Closes the connection at once, like a program that ends. If bytes are unread, the system sends a reset.
  case close
  /// Sends no more on the connection, and waits until the client closes.
  case finish
  /// Resets the connection.
  case reset

  /// The last stream that a GOAWAY admits.
  public enum Last: Sendable {
    /// The stream of the request with this step.
    case this
    /// None of the connection's streams.
    case none
    /// The stream before this request's.
    case previous
  }

  /// Takes all of the body.
  public static var readBody: Self { .read(upTo: .max) }
  /// Sends a response; with `ends`, END_STREAM comes with it.
  public static func respond(
    _ status: Int, headers: [(String, String)] = [], body: String = "", ends: Bool = true
  ) -> Self {
    .response(status, headers: headers, body: Array(body.utf8), ends: ends)
  }
}

/// An error code of HTTP/2 (RFC 9113 §7).
public enum HTTP2ErrorCode: Int, Sendable {
  case noError = 0, protocolError, internalError, flowControlError, settingsTimeout, streamClosed
  case frameSizeError, refusedStream, cancel, compressionError, connectError, enhanceYourCalm
  case inadequateSecurity, http11Required
}

extension [ScriptedHTTP2Step] {
  /// What a good server does: takes the body, and responds.
  public static func good(
    _ status: Int = 200, headers: [(String, String)] = [], body: String = ""
  ) -> Self {
    [.readBody, .respond(status, headers: headers, body: body)]
  }
}
