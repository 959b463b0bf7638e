import FormStreamRecords

/// What a request is answered with.
struct Answer: Sendable {
  var status: Int
  var headers: [PartDescription.Header]
  var body: [UInt8]
  /// Whether nothing more is taken on the connection.
  var closes = false

  private init(status: Int, type: String, body: [UInt8]) {
    self.status = status
    self.body = body
    headers = [
      .init("Content-Type", type), .init("X-Content-Type-Options", "nosniff"),
      .init("Cache-Control", "no-store"),
    ]
  }

  /// A page for people.
  static func page(_ html: String, status: Int = 200) -> Answer {
    var answer = Answer(status: status, type: "text/html; charset=utf-8", body: Array(html.utf8))
    answer.headers += [
      .init("Content-Security-Policy", UploadPage.contentSecurityPolicy),
      .init("Referrer-Policy", "same-origin"),
    ]
    return answer
  }

  /// A record, for people where their browser asks for a page.
  static func record(_ record: ReceivedRecord, status: Int, asPage: Bool) -> Answer {
    guard !asPage else {
      return page(
        UploadPage.answer(parts: record.body.parts, failure: record.body.error), status: status)
    }
    return Answer(status: status, type: "application/json", body: record.line())
  }

  /// The answer as it goes over the wire where libmicrohttpd can't send it.
  func bytes(reason: String, date: String, hasBody: Bool) -> [UInt8] {
    var head = "HTTP/1.1 \(status) \(reason)\r\nDate: \(date)\r\n"
    for header in headers { head += "\(header.name): \(header.value)\r\n" }
    head += "Content-Length: \(body.count)\r\nConnection: close\r\n\r\n"
    return Array(head.utf8) + (hasBody ? body : [])
  }
}
