import FormStreamTestSupport

/// One way in which a server responds to a request for the rest of a file, and how the download came to ask for it.
struct ResumedResponseCell: Sendable, CustomStringConvertible {
  enum Body: CaseIterable { case rest, whole, other }
  enum Tag: CaseIterable { case same, other, none }
  enum Framing: CaseIterable { case length, chunks, close }
  enum Mode: CaseIterable {
    /// The first response is cut, and the same download goes on; with a length, or in chunks.
    case sameRun, sameRunInChunks
    /// Another download goes on, as `-C -` does.
    case nextRun, nextRunInChunks
    /// Another download begins again.
    case nextRunFromStart
    /// The first response is the odd one: nothing but the file was asked for.
    case firstResponse
  }

  static let file = noise(300, seed: 1)
  static let otherFile = noise(260, seed: 2)
  /// How many bytes of the file arrive before the cut.
  static let cut = 120

  /// What a response says of its place in the file.
  static let ranges: [[String]] = [
    [], ["bytes 120-299/300"], ["bytes 0-299/300"], ["bytes 121-299/300"], ["bytes 120-299/301"],
    ["bytes 120-299/*"], ["bytes */300"], ["bytes 120-"],
    ["bytes 120-299/300", "bytes 120-299/300"], ["items 120-299/300"],
  ]

  let status: Int
  let range: [String]
  let body: Body
  let tag: Tag
  let framing: Framing
  let mode: Mode

  /// The statuses that a file or a part of it could have with all ways, and all others with some.
  static let all: [ResumedResponseCell] = {
    var cells: [ResumedResponseCell] = []
    let few = [
      201, 202, 204, 205, 207, 208, 226, 300, 302, 304, 400, 401, 403, 404, 409, 410, 412, 429, 500,
      503,
    ]
    for mode in Mode.allCases {
      for range in ranges where mode != .firstResponse || range.first?.hasPrefix("bytes") == true {
        for body in Body.allCases {
          for tag in Tag.allCases {
            for status in [200, 203, 206, 416] {
              cells += Framing.allCases.map {
                .init(
                  status: status, range: range, body: body, tag: tag, framing: $0, mode: mode)
              }
            }
            guard body == .rest, tag != .other else { continue }
            cells += few.map {
              .init(
                status: $0, range: range, body: body, tag: tag, framing: .length, mode: mode)
            }
          }
        }
      }
    }
    return cells
  }()

  var description: String {
    "\(status), Content-Range \(range), \(body), tag \(tag), \(framing), \(mode)"
  }

  private var bytes: [UInt8] {
    switch body {
    case .rest: Array(Self.file[Self.cut...])
    case .whole: Self.file
    case .other: Self.otherFile
    }
  }

  /// What the server does with a request. It answers requests for everything as it should.
  ///
  /// - Parameter number: how many requests came before it.
  func steps(for request: RecordedRequest, _ number: Int) -> [ScriptedStep] {
    if mode == .firstResponse || request.header("Range") != nil { return [oddResponse] }
    guard number == 0 else {
      return [.respond(200, headers: [("ETag", "\"1\"")], bytes: Self.file)]
    }
    let begun = Array(Self.file.prefix(Self.cut))
    switch mode {
    case .sameRunInChunks, .nextRunInChunks:
      let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nETag: \"1\"\r\n\r\n78\r\n"
      return [.send(head), .send(begun), .send("\r\n"), .close]
    default:
      return [
        .respond(
          200, headers: [("ETag", "\"1\"")], bytes: begun, framing: .announced(Self.file.count)),
        .close,
      ]
    }
  }

  private var oddResponse: ScriptedStep {
    var headers = range.map { ("Content-Range", $0) }
    switch tag {
    case .same: headers.append(("ETag", "\"1\""))
    case .other: headers.append(("ETag", "\"2\""))
    case .none: break
    }
    let framing: ScriptedResponse.Framing =
      switch framing {
      case .length: .contentLength
      case .chunks: .chunked(of: 70, trailers: [])
      case .close: .close
      }
    return .respond(status, headers: headers, bytes: bytes, framing: framing)
  }

  /// Whether bytes are a version of the file that the server has, complete.
  func isVersion(_ bytes: [UInt8]) -> Bool {
    bytes == Self.file || body == .other && bytes == Self.otherFile
  }
}
