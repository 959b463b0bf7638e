import FormStreamMultipart
import FormStreamHTTP

extension LowArguments {
  /// The headers of the request. Warnings about files that hold secrets are added to `notes`.
  func headers(
    for body: PlannedBody, notes: inout [String]
  ) throws(Failure) -> HTTPHeaders {
    var headers = HTTPHeaders()
    for header in request.headers {
      switch header {
      case .line(let argument):
        let line = try HeaderLine(argument)
        if line.leavesOut {
          try checkLeftOut(line.name, by: argument)
        } else if try !isOwnBusiness(line, argument, body, notes: &notes) {
          try line.add(to: &headers)
        }
      case .file(let file): try add(file, to: &headers, notes: &notes)
      }
    }
    try addCookies(to: &headers)
    if case .form(let form) = body { try fitContentType(in: &headers, of: form) }
    if let agent = request.userAgent, !agent.bytes.isEmpty {
      if headers.contains("User-Agent") {
        throw .usage("-A and -H both set the User-Agent: leave one out.")
      }
      try HeaderLine(name: "User-Agent", value: try agent.text(for: "-A")).add(to: &headers)
    }
    if !request.json.isEmpty, !headers.contains("Accept"), try !leavesOut("Accept") {
      try HeaderLine(name: "Accept", value: "application/json").add(to: &headers)
    }
    return headers
  }

  private func leavesOut(_ name: String) throws(Failure) -> Bool {
    try omittedHeaders().contains { $0.isSameHeaderName(as: name) }
  }

  /// The headers that `-H 'Name:'` leaves out, and the User-Agent if `-A` is empty, as in curl.
  func omittedHeaders() throws(Failure) -> [String] {
    var names: [String] = request.userAgent?.bytes.isEmpty == true ? ["User-Agent"] : []
    for case .line(let argument) in request.headers {
      let line = try HeaderLine(argument)
      if line.leavesOut { names.append(line.name) }
    }
    return names
  }

  /// Fails if a header can't be left out.
  private func checkLeftOut(_ name: String, by argument: Argument) throws(Failure) {
    let flags = [
      ("Authorization", request.credentials != nil || request.usesNetrc, "-u or the token"),
      ("Cookie", !request.cookies.isEmpty, "-b"),
      ("Referer", namesReferer, "-e"),
      ("Range", downloading.range != nil || downloading.resumes, "--range or -C"),
      ("If-Range", downloading.resumes, "-C"),
      ("User-Agent", request.userAgent?.bytes.isEmpty == false, "-A"),
      ("Idempotency-Key", request.idempotencyKey != nil, "--idempotency-key"),
      ("Content-Encoding", request.options.bodyCoding != .none, "--compressed-upload"),
      ("Content-Digest", request.options.sendsDigest, "--content-digest"),
      ("Accept-Encoding", request.options.responseCompression != nil, "--compressed"),
    ]
    if let (name, _, flag) = flags.first(where: { $0.1 && name.isSameHeaderName(as: $0.0) }) {
      throw .usage(
        "\(argument.named("-H")) leaves out \(name), which \(flag) sets: leave out one of them.")
    }
    var needed = ["Host", "Content-Length"]
    // A body whose length is stated is not sent in chunks.
    if try request.headers.statedLength() == nil { needed.append("Transfer-Encoding") }
    if let name = needed.first(where: { name.isSameHeaderName(as: $0) }) {
      throw .usage(
        "\(argument.named("-H")) can't leave out \(name): without it, the server can't read the request."
      )
    }
  }

  /// Whether `-e` was typed, whose value is kept as a header.
  private var namesReferer: Bool {
    request.headers.contains { header in
      if case .line(let line) = header { ["-e", "--referer"].contains(line.flag) } else { false }
    }
  }

  /// Fails if the headers leave out what a URL sets.
  func checkLeftOut(inRequestsTo url: HTTPURL) throws(Failure) {
    guard url.credentials != nil, try leavesOut("Authorization") else { return }
    throw .usage(
      "-H leaves out Authorization, which the user and the password of the URL set: leave out one of them."
    )
  }

  /// Whether a header says what is decided elsewhere. Copied command lines have such headers.
  private func isOwnBusiness(
    _ line: HeaderLine, _ argument: Argument, _ body: PlannedBody, notes: inout [String]
  ) throws(Failure) -> Bool {
    let (name, value) = (line.name, line.value.lowercased())
    if name.isSameHeaderName(as: "Expect"), value == "100-continue" { return true }
    if line.asksForChunks {
      if case .none = body {
        notes.append("Transfer-Encoding is not taken from -H: there is no body to send in chunks.")
      }
      return true
    }
    if name.isSameHeaderName(as: "Content-Length") {
      // Whether it is true is checked when the body is known.
      guard line.statedLength != nil else {
        throw .usage("\(argument.named("-H")) has a Content-Length that is no number.")
      }
      return true
    }
    guard
      ["Connection", "Proxy-Connection"].contains(where: name.isSameHeaderName(as:)),
      ["keep-alive", "close"].contains(value)
    else { return false }
    notes.append("\(name) is not taken from -H: formstream manages its connections itself.")
    return true
  }

  /// Adds the form's boundary to a Content-Type of a form without one, as curl does: documentation of services has such
  /// headers.
  private func fitContentType(
    in headers: inout HTTPHeaders, of form: PlannedForm
  ) throws(Failure) {
    if try leavesOut("Content-Type") {
      throw .usage(
        "The Content-Type of a form can't be left out, because it names the boundary: leave out -H 'Content-Type:'."
      )
    }
    guard let text = headers["Content-Type"] else { return }
    let boundary = form.form.boundary.description
    let named = FormParser.boundary(inContentType: text)?.description
    guard let type = MediaType(text), type.essence == "multipart/form-data",
      headers.filter({ $0.name.isSameHeaderName(as: "Content-Type") }).count == 1,
      named == nil || type.isMultipart(withBoundary: boundary)
    else {
      throw .usage(
        "The Content-Type of a form is multipart/form-data, and names its boundary: leave out -H 'Content-Type: ...'; "
          + "--boundary sets the boundary, --type the type of a part.")
    }
    guard named == nil else { return }
    headers.remove("Content-Type")
    try HeaderLine(name: "Content-Type", value: "\(text); boundary=\(boundary)").add(to: &headers)
  }

  private func add(
    _ file: Argument, to headers: inout HTTPHeaders, notes: inout [String]
  ) throws(Failure) {
    guard sendsRequest || !file.isDash else { return }
    let secrets = try secretFile(file, for: "--header-file")
    notes += secrets.warnings
    for line in secrets.lines() {
      do throws(Failure) {
        try HeaderLine(secret: line.bytes).add(to: &headers)
      } catch {
        // The message shows nothing of the line, not even the name: any of it may be the secret.
        throw .usage(
          "Line \(line.number) of the file \"\(file.shown)\" of \(file.flag ?? "--header-file") is not a header that can be "
            + "sent: write Name: value, and no header about the body's length or framing.")
      }
    }
  }
}

/// What header lines say of the body.
extension [HeaderArgument] {
  /// Whether `-H 'Transfer-Encoding: chunked'` asks for a body in chunks.
  func asksForChunks() throws(Failure) -> Bool {
    for case .line(let argument) in self where try HeaderLine(argument).asksForChunks {
      return true
    }
    return false
  }

  /// The length of the body as `-H 'Content-Length: N'` states it; nil if it doesn't.
  func statedLength() throws(Failure) -> Int64? {
    var length: Int64?
    for case .line(let argument) in self {
      guard let stated = try HeaderLine(argument).statedLength else { continue }
      if let length, length != stated {
        throw .usage("-H states two lengths of the body: leave out Content-Length.")
      }
      length = stated
    }
    return length
  }

  /// What `-H` says of `Expect`; nil if nothing.
  func expectation() throws(Failure) -> ExpectMode? {
    var mode: ExpectMode?
    for case .line(let argument) in self {
      let line = try HeaderLine(argument)
      if line.name.isSameHeaderName(as: "Expect") { mode = line.leavesOut ? .never : .always }
    }
    return mode
  }
}
