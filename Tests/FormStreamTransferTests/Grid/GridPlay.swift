/// What the server does with one attempt, and when.
struct GridPlay: Sendable, CustomStringConvertible {
  enum Moment: String, CaseIterable, Sendable {
    /// Instead of accepting the connection.
    case connect
    /// Instead of its part of the TLS handshake.
    case handshake
    /// After the connection is established.
    case established
    /// Before the request, on a connection that was kept.
    case idle
    case afterHead = "after-head"
    case inBody = "in-body"
    case afterBody = "after-body"
  }

  /// How the server leaves the connection.
  enum End: String, CaseIterable, Sendable {
    /// It waits for the next request.
    case keep
    case close
    case reset
    /// It sends nothing more, and keeps the connection.
    case silence
    /// The client's user cancels; the server does nothing more.
    case cancel
    /// It ends its side, and reads on.
    case finish
    /// HTTP/2: it says that it did not handle the request, by RST_STREAM.
    case refuseStream = "refuse-stream"
    /// HTTP/2: it says that it did not handle the request, by GOAWAY, and closes.
    case goAway = "go-away"
    /// HTTP/2: it ends the stream with an error.
    case resetStream = "reset-stream"
    /// HTTP/2: it ends the stream without an error, as it wants no more of the body.
    case stopReading = "stop-reading"

    /// Whether it says that the request was not handled.
    var refuses: Bool { self == .refuseStream || self == .goAway }
  }

  /// What the server sends.
  enum Response: Sendable, Hashable, CustomStringConvertible {
    case status(Int)
    case retryAfter(Int)
    /// A response of a gateway that names itself.
    case gateway(Int)
    case chunked(Int)
    /// The connection's end is the body's end.
    case untilClose(Int)
    /// A part of the status line.
    case inStatusLine
    /// A part of the head.
    case inHead(Int)
    /// The head and a part of the body.
    case inBody(Int)
    /// The head and a part of a chunk.
    case inChunk(Int)
    /// Bytes that are not HTTP.
    case rubbish

    var description: String {
      switch self {
      case .status(let status): "\(status)"
      case .retryAfter(let status): "\(status)-retry-after"
      case .gateway(let status): "\(status)-gateway"
      case .chunked(let status): "\(status)-chunked"
      case .untilClose(let status): "\(status)-until-close"
      case .inStatusLine: "part-of-status-line"
      case .inHead(let status): "\(status)-part-of-head"
      case .inBody(let status): "\(status)-part-of-body"
      case .inChunk(let status): "\(status)-part-of-chunk"
      case .rubbish: "rubbish"
      }
    }

    /// The status that a client can read.
    var status: Int? {
      switch self {
      case .status(let status), .retryAfter(let status), .gateway(let status), .chunked(let status),
        .untilClose(let status), .inBody(let status), .inChunk(let status):
        status
      case .inStatusLine, .inHead, .rubbish: nil
      }
    }

    /// Whether all of it is sent.
    var isComplete: Bool {
      switch self {
      case .status, .retryAfter, .gateway, .chunked, .untilClose: true
      case .inStatusLine, .inHead, .inBody, .inChunk, .rubbish: false
      }
    }

    /// The header lines that belong to it.
    var headers: [(String, String)] {
      switch self {
      case .retryAfter: [("Retry-After", "0")]
      case .gateway: [("Via", "1.1 gateway")]
      default: []
      }
    }

    /// The bytes on the wire. `mark` tells a response from all others of the cell.
    func bytes(_ mark: String) -> [UInt8] {
      let body = "body of \(mark)"
      let own = headers.map { "\($0.0): \($0.1)\r\n" }.joined()
      func head(_ status: Int, _ lines: String) -> String {
        "HTTP/1.1 \(status) Status\r\nMark: \(mark)\r\n\(own)\(lines)\r\n"
      }
      let length = "Content-Length: \(body.utf8.count)\r\n"
      let text =
        switch self {
        case .status(let status), .retryAfter(let status), .gateway(let status):
          head(status, length) + body
        case .chunked(let status):
          head(status, "Transfer-Encoding: chunked\r\n")
            + "\(String(body.utf8.count, radix: 16))\r\n\(body)\r\n0\r\n\r\n"
        case .untilClose(let status): head(status, "Connection: close\r\n") + body
        case .inStatusLine: "HTTP/1.1 2"
        case .inHead(let status): "HTTP/1.1 \(status) Status\r\nMark: \(mark)\r\nContent-Le"
        case .inBody(let status): head(status, "Content-Length: 1000\r\n") + body
        case .inChunk(let status): head(status, "Transfer-Encoding: chunked\r\n") + "3E8\r\n" + body
        case .rubbish: "\u{1}\u{2}\u{3} this is not HTTP\r\n\r\n"
        }
      return Array(text.utf8)
    }
  }

  enum Deed: Sendable {
    case end(End)
    case respond(Response, then: End = .keep)
  }

  var moment: Moment
  var deed: Deed

  init(_ moment: Moment, _ deed: Deed) {
    self.moment = moment
    self.deed = deed
  }

  var response: Response? { if case .respond(let response, _) = deed { response } else { nil } }
  var end: End {
    switch deed {
    case .end(let end), .respond(_, let end): end
    }
  }
  var isSilent: Bool { end == .silence }

  var description: String {
    switch deed {
    case .end(let end): "\(moment.rawValue):\(end.rawValue)"
    case .respond(let response, .keep): "\(moment.rawValue):\(response)"
    case .respond(let response, let end): "\(moment.rawValue):\(response)+\(end.rawValue)"
    }
  }
}
