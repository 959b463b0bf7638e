import FormStreamPlatform
import FormStreamTestSupport

/// A server that gets uploads completely, and then says something else than that it has them, or nothing. It keeps many uploads, each
/// under a path of its own, so that a test with many cells needs one listener.
final class LosingServer: Sendable {
  /// What the server does after it has got an upload completely.
  enum LastWord: String, CaseIterable {
    case reset, finish, internalError, badGateway, gatewayTimeout, unavailable, bare, incomplete, otherBytes, truth
  }

  /// What it answers to questions about an upload that was complete.
  enum Answer: String, CaseIterable {
    case notFound, gone, forbidden, internalError, reset, truth, begun, impossible, noOffset
  }

  struct Cell: Sendable {
    var last = LastWord.truth
    var answer = Answer.truth
  }

  private struct Upload {
    var cell: Int
    var length: Int
    var count = 0
    var isComplete = false
  }

  private struct State {
    var cells: [Cell] = []
    var uploads: [Upload] = []
    /// The keys of the requests that completed uploads, by cell; nil for a request without a key.
    var completions: [Int: [String?]] = [:]
  }

  let server: ScriptedServer
  private let state = Guarded(State())

  init() throws {
    server = try ScriptedServer { [state] request in
      let path = request.target.split(separator: "/")
      guard path.count == 2, let number = Int(path[1]) else { return [.unexpected] }
      func value(of name: String) -> Int? { request.header(name).flatMap { Int($0) } }
      let isTus = request.header("Tus-Resumable") != nil
      let length = value(of: "Upload-Length") ?? value(of: "Content-Length") ?? 0
      if path[0] == "form" {
        let upload = state.withLock { state in
          state.uploads.append(Upload(cell: number, length: length))
          return state.uploads.count - 1
        }
        let location = ("Location", "/upload/\(upload)")
        if isTus || request.header("Upload-Complete") == "?0" {
          return [.readBody, .respond(201, headers: [location])]
        }
        return [
          .informational(104, headers: [location, ("Upload-Draft-Interop-Version", "8")]), .readBody,
          .decide { Self.take($0, upload, isTus: false, state) },
        ]
      }
      if request.method == "HEAD" {
        return state.withLock { Self.answer($0.uploads[number], $0.cells[$0.uploads[number].cell].answer, isTus: isTus) }
      }
      return [.readBody, .decide { Self.take($0, number, isTus: isTus, state) }]
    }
  }

  /// Adds a cell. Returns its URL.
  func add(_ cell: Cell) -> (number: Int, url: String) {
    let number = state.withLock { state in
      state.cells.append(cell)
      return state.cells.count - 1
    }
    return (number, "\(server.url)/form/\(number)")
  }

  /// The keys of the requests that completed an upload.
  func completions(_ number: Int) -> [String?] { state.withLock { $0.completions[number] ?? [] } }

  private static func take(
    _ request: RecordedRequest, _ number: Int, isTus: Bool, _ state: Guarded<State>
  ) -> [ScriptedStep] {
    state.withLock { state in
      guard request.bodyIsComplete else { return [.reset] }
      var upload = state.uploads[number]
      let cell = state.cells[upload.cell]
      if let offset = request.header("Upload-Offset"), offset != "\(upload.count)" { return [.respond(409)] }
      upload.count += request.bodyCount
      let wasComplete = upload.isComplete
      upload.isComplete = upload.count == upload.length
      state.uploads[number] = upload
      guard upload.isComplete else { return [.respond(204, headers: offset(upload, isTus: isTus))] }
      // Without its bytes, a request only asks again how the upload has ended.
      if !wasComplete { state.completions[upload.cell, default: []].append(request.header("Idempotency-Key")) }
      let truth = ScriptedStep.respond(isTus ? 204 : 200, headers: offset(upload, isTus: isTus))
      if wasComplete { return [truth] }
      switch cell.last {
      case .reset: return [.reset]
      case .finish: return [.finish]
      case .internalError: return [.respond(500)]
      case .badGateway: return [.respond(502)]
      case .gatewayTimeout: return [.respond(504)]
      case .unavailable: return [.respond(503, headers: [("Via", "1.1 proxy")])]
      case .bare: return [.respond(200)]
      case .incomplete: return [.respond(200, headers: [("Upload-Complete", "?0"), ("Upload-Offset", "1")])]
      case .otherBytes:
        return [.respond(204, headers: [("Upload-Complete", "?1"), ("Upload-Offset", "\(upload.count + 1)")])]
      case .truth: return [truth]
      }
    }
  }

  private static func answer(_ upload: Upload, _ answer: Answer, isTus: Bool) -> [ScriptedStep] {
    let length = [("Upload-Length", "\(upload.length)")]
    let truth = [ScriptedStep.respond(204, headers: offset(upload, isTus: isTus) + length)]
    guard upload.isComplete else { return truth }
    switch answer {
    case .notFound: return [.respond(404)]
    case .gone: return [.respond(410)]
    case .forbidden: return [.respond(403)]
    case .internalError: return [.respond(500)]
    case .reset: return [.reset]
    case .truth: return truth
    case .begun: return [.respond(204, headers: [("Upload-Offset", "0"), ("Upload-Complete", "?0")])]
    case .impossible: return [.respond(204, headers: [("Upload-Offset", "\(upload.length + 1)"), ("Upload-Complete", "?0")])]
    case .noOffset: return [.respond(204)]
    }
  }

  private static func offset(_ upload: Upload, isTus: Bool) -> [(String, String)] {
    let offset = [("Upload-Offset", "\(upload.count)")]
    return isTus ? offset : offset + [("Upload-Complete", upload.isComplete ? "?1" : "?0")]
  }
}
