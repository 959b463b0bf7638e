import FormStreamTestSupport

/// A resource of a server that can be continued.
struct ContinuableResource {
  let bytes: [UInt8]
  var tag = "1"
  /// The value of `Content-Disposition`; nil for none.
  var disposition: String?

  /// The first byte that a request asks for.
  func offset(_ request: RecordedRequest) -> Int {
    guard let range = request.header("Range"), request.header("If-Range") == "\"\(tag)\"" else {
      return 0
    }
    return Int(range.filter(\.isNumber)) ?? 0
  }

  /// The response to a request, up to a byte of the resource.
  func response(to request: RecordedRequest, upTo end: Int = .max) -> [ScriptedStep] {
    let (offset, count) = (offset(request), bytes.count)
    let range = "Content-Range: bytes \(offset)-\(count - 1)/\(count)\r\n"
    return [
      .send(
        "HTTP/1.1 \(offset > 0 ? "206 Partial Content\r\n\(range)" : "200 OK\r\n")"
          + (disposition.map { "Content-Disposition: \($0)\r\n" } ?? "")
          + "ETag: \"\(tag)\"\r\nContent-Length: \(count - offset)\r\n\r\n"),
      .send(Array(bytes[offset..<max(offset, min(end, count))])),
    ]
  }
}
