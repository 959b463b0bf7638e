import FormStreamReceiver

/// Reports requests on standard output, each as a line or a record. Any thread may call it.
struct RequestLog: Sendable {
  /// How many parts a line names.
  private static let maximumParts = 8
  /// How many columns of a text field a line shows.
  private static let maximumWidth = 40

  private let output: OutputFile
  private let asRecords: Bool

  init(to output: OutputFile, asRecords: Bool) {
    self.output = output
    self.asRecords = asRecords
  }

  /// Writes a line at once, so that the lines of other threads come before or after it.
  func report(_ request: ReceivedRequest) throws(Failure) {
    if let cause = request.underlying, request.status == 500 {
      StandardError.note("\(request.peer): \(cause)")
    }
    try output.write(asRecords ? request.json : "\(visible(Self.line(of: request)))\n")
  }

  private static func line(of request: ReceivedRequest) -> String {
    let status = request.status.map(String.init) ?? "-"
    let head = "\(request.peer) \(request.method) \(request.target) \(status)"
    if let error = request.error { return "\(head) \(error.code): \(error.message)" }
    let size = HumanReadable.size(request.bodyBytes)
    let seconds = request.duration / .seconds(1)
    let time =
      seconds < 1 ? "\(Int(seconds * 1000)) ms" : HumanReadable.time(request.duration)
    let parts = request.parts
    let count = parts.count == 1 ? "1 part" : "\(parts.count) parts"
    return "\(head) \(size) in \(time), \(count)\(contents(of: parts))"
  }

  /// The names of stored files, and the starts of text fields.
  private static func contents(of parts: [ReceivedPart]) -> String {
    let shownParts = parts.filter { $0.storedAs != nil || $0.value != nil }
    guard !shownParts.isEmpty else { return "" }
    var words = shownParts.prefix(maximumParts).map { part in
      let field = "\(part.name ?? "")=\(textPrefix(of: part.value ?? [], upTo: maximumWidth))"
      return part.storedAs ?? visible(field, upTo: maximumWidth)
    }
    if shownParts.count > words.count {
      words.append("and \(shownParts.count - words.count) more")
    }
    return ": \(words.joined(separator: ", "))"
  }
}
