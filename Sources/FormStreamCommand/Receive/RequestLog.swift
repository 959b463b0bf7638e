import FormStreamJSON
import FormStreamMultipart
import FormStreamPlatform
import FormStreamReceiver

/// Reports requests on standard output, each as a line or a record. Any thread may call it.
final class RequestLog: Sendable {
  /// How many parts a line names.
  private static let maximumParts = 8
  /// How many columns of a text field a line shows.
  private static let maximumWidth = 40

  private let queue: LogQueue
  private let asRecords: Bool
  /// Whether heads and the sizes of bodies are shown too.
  private let isVerbose: Bool
  private let omittedCount = Guarded(0)

  init(to queue: LogQueue, asRecords: Bool, isVerbose: Bool) {
    self.queue = queue
    self.asRecords = asRecords
    self.isVerbose = isVerbose
  }

  /// How many requests were not reported, because nothing read the earlier lines.
  var omitted: Int { omittedCount.withLock(\.self) }

  /// Adds the line of a request. While nothing reads the lines, only complete uploads are reported. They are few,
  /// because new uploads are refused. Reports of the refusals would fill the memory.
  func report(_ request: ReceivedRequest) {
    if let cause = request.underlying, request.status == 500 {
      queue.add(.note("\(request.time) \(request.peer): \(cause)"))
    }
    if isVerbose, !queue.isStalled {
      queue.add(.trace(["\(request.peer) > [\(Self.size(ofBodyOf: request))]"]))
    }
    if !request.isComplete, queue.isStalled {
      omittedCount.withLock { $0 += 1 }
      return
    }
    queue.add(
      .output(asRecords ? request.line : Array("\(visible(Self.line(of: request)))\n".utf8)))
  }

  /// Shows the head of a request as it arrives, with secrets masked, if `-v` is given. Control characters that a client
  /// sends are spelled out where the lines are written.
  func report(head: UploadRequest) {
    guard isVerbose, !queue.isStalled else { return }
    let first = "\(head.method) \(head.target.hidingURLSecrets) \(head.version)".hidingUploadIDs
    // A header such as Referer may have the URL of an upload.
    let headers = head.headers.map { "\(head.peer) > \($0.description.hidingUploadIDs)" }
    queue.add(.trace(["\(recordTime()) \(head.peer) > \(first)"] + headers))
  }

  /// The line in place of lines that are lost.
  static func line(aboutLossOf count: Int, asRecord: Bool) -> [UInt8] {
    let time = recordTime()
    if asRecord {
      let record: JSONValue = [
        "schema": "formstream.lines-lost/1", "lines": .integer(Int64(count)),
        "time": .string(time),
      ]
      return record.line()
    }
    let lines = counted(count, "line about a request is", "lines about requests are")
    return Array("\(time) \(lines) lost: there was no room for them.\n".utf8)
  }

  /// How much of the body has arrived: `body: 100 of 291 bytes`.
  private static func size(ofBodyOf request: ReceivedRequest) -> String {
    let arrived = request.arrivedBytes
    if let announced = request.contentLength, announced != arrived {
      return "body: \(arrived) of \(announced) bytes"
    }
    return
      "body: \(counted(arrived, "byte", "bytes"))\(request.framing == .chunked ? ", in chunks" : "")"
  }

  private static func line(of request: ReceivedRequest) -> String {
    let status = request.status.map(String.init) ?? "-"
    let head =
      "\(request.time) \(request.peer) \(request.method) \(request.target.hidingURLSecrets) \(status)"
    if let error = request.error { return "\(head) \(error.code): \(error.message)" }
    let size = HumanReadable.size(request.bodyBytes)
    let time = HumanReadable.elapsed(request.duration)
    let parts = request.parts
    let count = parts.count == 1 ? "1 part" : "\(parts.count) parts"
    return "\(head) \(size) in \(time), \(count)\(contents(of: parts))"
  }

  /// The names of stored files, and the starts of text fields.
  private static func contents(of parts: [ReceivedPart]) -> String {
    let shownParts = parts.filter { $0.storedAs != nil || $0.value != nil }
    guard !shownParts.isEmpty else { return "" }
    var words = shownParts.prefix(maximumParts).map { part in
      let name = part.name ?? ""
      let value =
        SecretNames.contains(name.utf8)
        ? "***" : textPrefix(of: part.value ?? [], upTo: maximumWidth)
      let field = "\(name)=\(value)"
      return part.storedAs ?? visible(field, upTo: maximumWidth)
    }
    if shownParts.count > words.count {
      words.append("and \(shownParts.count - words.count) more")
    }
    return ": \(words.joined(separator: ", "))"
  }
}
