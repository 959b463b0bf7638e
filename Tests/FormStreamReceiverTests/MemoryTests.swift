import FormStreamReceiver
import FormStreamTestSupport
import Testing

/// The memory that records take.
@Suite struct MemoryTests {
  /// A form of `count` parts, without its end.
  private static func form(parts count: Int) -> String {
    (0..<count).map { "--b\r\nContent-Disposition: form-data; name=\"\($0)\"\r\n\r\nx\r\n" }
      .joined()
  }

  private static func head(_ length: Int) -> String {
    "POST /a HTTP/1.1\r\nHost: h\r\nContent-Type: multipart/form-data; boundary=b\r\n"
      + "Content-Length: \(length)\r\n\r\n"
  }

  /// Regression: 256 clients, each with the largest form, took more than 2 GB.
  @Test func `forms that need more memory together than there is are refused with 503`()
    async throws
  {
    let server = try TestServer { $0.limits.allRecords = 4_000_000 }
    let large =
      Self.form(parts: 1000)
      + "--b\r\nContent-Disposition: form-data; name=\"f\"; filename=\"f\"\r\n\r\nx\r\n--b\r\n"
      + "Content-Disposition: form-data; name=\"last\"\r\n\r\n"
    let end = "\r\n--b--"
    let first = SendableBox(try server.client())
    try first.value.send(Self.head(large.utf8.count + end.utf8.count) + large)
    // The receiver has read the file, and all parts before it.
    #expect(await eventually { server.handler.parts.count == 1 })
    let statuses = try await onNewThread {
      let second = try server.client()
      try second.send(Self.head(large.utf8.count + end.utf8.count) + large + end)
      let refused = try second.response()
      #expect(refused.text.contains("\"code\":\"overloaded\""))
      let third = try server.client()
      let small = Self.form(parts: 50) + "--b--"
      try third.send(Self.head(small.utf8.count) + small)
      let accepted = try third.response()
      try first.value.send(end)
      let statuses = [refused.status, accepted.status, try first.value.response().status]
      // There is memory again as soon as the first request has been reported.
      var last = 503
      while last == 503 {
        let fourth = try server.client()
        try fourth.send(Self.head(large.utf8.count + end.utf8.count) + large + end)
        last = try fourth.response().status
      }
      return statuses + [last]
    }
    #expect(statuses == [503, 200, 200, 200])
    #expect(server.handler.openUploads == 0)
  }
}
