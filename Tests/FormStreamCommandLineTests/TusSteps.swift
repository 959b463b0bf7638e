import FormStreamTestSupport

/// What a server of tus does that creates uploads, and believes each that it has all bytes before the given offset.
func tusSteps(_ request: RecordedRequest) -> [ScriptedStep] {
  switch request.method {
  case "PATCH":
    let offset = request.header("Upload-Offset").flatMap { Int($0) } ?? 0
    return [
      .continueIfExpected, .readBody,
      .decide { request in
        [.respond(204, headers: [("Upload-Offset", "\(offset + request.body.count)")])]
      },
    ]
  case "HEAD": return [.respond(200, headers: [("Upload-Offset", "0")])]
  default: return [.respond(201, headers: [("Location", "/tus/1")])]
  }
}
