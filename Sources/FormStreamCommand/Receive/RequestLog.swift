import FormStreamReceiver

/// Tells of requests on standard output, a line or a record each; from any thread.
struct RequestLog: Sendable {
  /// How many parts a line names, and how much of a text field it shows.
  private static let maximumParts = 8
  private static let maximumWidth = 40

  private let output: OutputFile
  private let asRecords: Bool

  init(to output: OutputFile, asRecords: Bool) {
    self.output = output
    self.asRecords = asRecords
  }

  /// A line goes out in one piece: those of other threads come before it or behind it.
  func tell(_ request: ReceivedRequest) throws(Failure) {
    if let cause = request.underlying, request.status == 500 {
      StandardError.write("formstream: \(request.peer): \(cause)")
    }
    try output.write(asRecords ? request.json : "\(visible(Self.line(of: request)))\n")
  }

  private static func line(of request: ReceivedRequest) -> String {
    let status = request.status.map(String.init) ?? "-"
    let head = "\(request.peer) \(request.method) \(request.target) \(status)"
    if let error = request.error { return "\(head) \(error.code): \(error.message)" }
    let size = Quantity.size(request.bodyBytes)
    let seconds = request.duration / .seconds(1)
    let time = seconds < 1 ? "\(Int(seconds * 1000)) ms" : Quantity.time(request.duration)
    let parts = request.parts
    let count = parts.count == 1 ? "1 part" : "\(parts.count) parts"
    return "\(head) \(size) in \(time), \(count)\(contents(of: parts))"
  }

  /// The files that were stored, by their names, and what text fields say.
  private static func contents(of parts: [ReceivedPart]) -> String {
    let told = parts.filter { $0.storedAs != nil || $0.value != nil }
    guard !told.isEmpty else { return "" }
    var shown = told.prefix(maximumParts).map { part in
      let field = "\(part.name ?? "")=\(beginning(of: part.value ?? [], upTo: maximumWidth))"
      return part.storedAs ?? visible(field, upTo: maximumWidth)
    }
    if told.count > shown.count { shown.append("and \(told.count - shown.count) more") }
    return ": \(shown.joined(separator: ", "))"
  }
}
