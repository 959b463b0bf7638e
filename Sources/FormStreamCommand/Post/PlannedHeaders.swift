import FormStreamMultipart
import FormStreamTransfer

extension LowArguments {
  /// The headers of the request. Warnings about files that hold secrets are added to `notes`.
  func headers(
    for body: PlannedBody, notes: inout [String]
  ) throws(Failure) -> HTTPHeaders {
    var headers = HTTPHeaders()
    for header in request.headers {
      switch header {
      case .line(let argument): try HeaderLine(argument).add(to: &headers)
      case .file(let file): try add(file, to: &headers, notes: &notes)
      }
    }
    try addCookies(to: &headers)
    if case .form = body, headers.contains("Content-Type") {
      throw .usage(
        "The Content-Type of a form can't be set, because it names the boundary: --boundary sets the "
          + "boundary, --type the type of a part.")
    }
    if let agent = request.userAgent {
      if headers.contains("User-Agent") {
        throw .usage("-A and -H both set the User-Agent: leave one out.")
      }
      try HeaderLine(name: "User-Agent", value: try agent.text(for: "-A")).add(to: &headers)
    }
    if !request.json.isEmpty, !headers.contains("Accept") {
      try HeaderLine(name: "Accept", value: "application/json").add(to: &headers)
    }
    return headers
  }

  private func add(
    _ file: Argument, to headers: inout HTTPHeaders, notes: inout [String]
  ) throws(Failure) {
    guard sendsRequest || !file.isDash else { return }
    let secrets = try SecretFile(file, for: "--header-file")
    notes += secrets.warnings
    for line in secrets.lines() {
      do throws(Failure) {
        try HeaderLine(secret: line.bytes).add(to: &headers)
      } catch {
        // The message shows nothing of the line, not even the name: any of it may be the secret.
        throw .usage(
          "Line \(line.number) of the file \"\(file.shown)\" of --header-file is not a header that can be "
            + "sent: write Name: value, and no header about the body's length or framing.")
      }
    }
  }
}
