import Receiver

/// Tells of requests on standard output, a line or a record each; from any thread.
struct RequestLog: Sendable {
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
    let files = request.parts.compactMap(\.storedAs).joined(separator: ", ")
    let parts = request.parts.count == 1 ? "1 part" : "\(request.parts.count) parts"
    return "\(head) \(size) in \(time), \(parts)\(files.isEmpty ? "" : ": \(files)")"
  }
}
