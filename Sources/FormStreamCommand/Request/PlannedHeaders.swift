import FormStreamMultipart
import FormStreamHTTP

extension HTTPHeaders {
  /// The headers of a request. Warnings about files that contain secrets are added to `notes`.
  ///
  /// - Parameter downloading: the arguments of `get`, which also set headers.
  init(
    _ arguments: RequestArguments, _ downloading: DownloadArguments, for body: PlannedBody,
    _ input: InputReader, _ notes: inout [String]
  ) throws(Failure) {
    self.init()
    for header in arguments.headers {
      switch header {
      case .line(let argument):
        let line = try HeaderLine(argument)
        if line.leavesOut {
          try line.checkLeftOut(by: argument, arguments, downloading)
        } else if try !line.isOfFormStream(argument, body, &notes) {
          try line.add(to: &self)
        }
      case .file(let file): try add(file, input, &notes)
      }
    }
    let omitted = try OmittedHeaders(arguments)
    try addCookies(of: arguments.cookies)
    if case .form(let form) = body { try fitContentType(of: form, omitted) }
    if let agent = arguments.userAgent, !agent.bytes.isEmpty {
      if contains("User-Agent") {
        throw .usage("-A and -H both set the User-Agent: leave one out.")
      }
      try HeaderLine(name: "User-Agent", value: try agent.text(for: "-A")).add(to: &self)
    }
    if !arguments.json.isEmpty, !contains("Accept"), !omitted.contain("Accept") {
      try HeaderLine(name: "Accept", value: "application/json").add(to: &self)
    }
  }

  /// Adds the form's boundary to a typed Content-Type without a boundary, as curl does. The documentation of many
  /// services shows such headers.
  private mutating func fitContentType(
    of form: PlannedForm, _ omitted: OmittedHeaders
  ) throws(Failure) {
    if omitted.contain("Content-Type") {
      throw .usage(
        "The Content-Type of a form can't be left out, because it names the boundary: leave out -H 'Content-Type:'."
      )
    }
    guard let text = self["Content-Type"] else { return }
    let boundary = form.form.boundary.description
    let named = FormParser.boundary(inContentType: text)?.description
    guard let type = MediaType(text), type.essence == "multipart/form-data",
      filter({ $0.name.isSameHeaderName(as: "Content-Type") }).count == 1,
      named == nil || type.isMultipart(withBoundary: boundary)
    else {
      throw .usage(
        "The Content-Type of a form is multipart/form-data, and names its boundary: leave out -H 'Content-Type: ...'; "
          + "--boundary sets the boundary, --type the type of a part.")
    }
    guard named == nil else { return }
    remove("Content-Type")
    try HeaderLine(name: "Content-Type", value: "\(text); boundary=\(boundary)").add(to: &self)
  }

  private mutating func add(
    _ file: Argument, _ input: InputReader, _ notes: inout [String]
  ) throws(Failure) {
    guard !input.leavesOut(file) else { return }
    let secrets = try input.secretFile(file, for: "--header-file", &notes)
    for line in secrets.lines() {
      do throws(Failure) {
        try HeaderLine(secret: line.bytes).add(to: &self)
      } catch {
        // The message shows nothing of the line, not even the name: any part of the line may be the secret.
        throw .usage(
          "Line \(line.number) of the file \"\(file.shown)\" of \(file.flag ?? "--header-file") is not a header that can be "
            + "sent: write Name: value, and no header about the body's length or framing.")
      }
    }
  }
}

extension HeaderLine {
  /// Fails if a header can't be left out.
  fileprivate func checkLeftOut(
    by argument: Argument, _ arguments: RequestArguments, _ downloading: DownloadArguments
  ) throws(Failure) {
    let flags = [
      ("Authorization", arguments.credentials != nil || arguments.usesNetrc, "-u or the token"),
      ("Cookie", !arguments.cookies.isEmpty, "-b"),
      ("Referer", arguments.headers.contains(where: \.isReferer), "-e"),
      ("Range", downloading.range != nil || downloading.resumes, "--range or -C"),
      ("If-Range", downloading.resumes, "-C"),
      ("User-Agent", arguments.userAgent?.bytes.isEmpty == false, "-A"),
      ("Idempotency-Key", arguments.idempotencyKey != nil, "--idempotency-key"),
      ("Content-Encoding", arguments.options.bodyCoding != .none, "--compressed-upload"),
      ("Content-Digest", arguments.options.sendsDigest, "--content-digest"),
      ("Accept-Encoding", arguments.options.responseCompression != nil, "--compressed"),
    ]
    if let (name, _, flag) = flags.first(where: { $0.1 && name.isSameHeaderName(as: $0.0) }) {
      throw .usage(
        "\(argument.named("-H")) leaves out \(name), which \(flag) sets: leave out one of them.")
    }
    var needed = ["Host", "Content-Length"]
    // A body whose length is stated is not sent in chunks.
    if try arguments.headers.statedLength() == nil { needed.append("Transfer-Encoding") }
    if let name = needed.first(where: { name.isSameHeaderName(as: $0) }) {
      throw .usage(
        "\(argument.named("-H")) can't leave out \(name): without it, the server can't read the request."
      )
    }
  }

  /// Whether formstream itself sets this header, so that the typed header is not added. Copied command lines may have
  /// such headers.
  fileprivate func isOfFormStream(
    _ argument: Argument, _ body: PlannedBody, _ notes: inout [String]
  ) throws(Failure) -> Bool {
    if name.isSameHeaderName(as: "Expect"), value.lowercased() == "100-continue" { return true }
    if asksForChunks {
      if case .none = body {
        notes.append("Transfer-Encoding is not taken from -H: there is no body to send in chunks.")
      }
      return true
    }
    if name.isSameHeaderName(as: "Content-Length") {
      // The stated length is checked later, when the body is known.
      guard statedLength != nil else {
        throw .usage("\(argument.named("-H")) has a Content-Length that is no number.")
      }
      return true
    }
    guard
      ["Connection", "Proxy-Connection"].contains(where: name.isSameHeaderName(as:)),
      ["keep-alive", "close"].contains(value.lowercased())
    else { return false }
    notes.append("\(name) is not taken from -H: formstream manages its connections itself.")
    return true
  }
}

extension HeaderArgument {
  /// Whether this is the header of `-e`, whose value is kept as a header line.
  fileprivate var isReferer: Bool {
    if case .line(let line) = self { ["-e", "--referer"].contains(line.flag) } else { false }
  }
}

/// What header lines say about the body.
extension [HeaderArgument] {
  /// Whether `-H 'Transfer-Encoding: chunked'` asks for a body in chunks.
  func asksForChunks() throws(Failure) -> Bool {
    for case .line(let argument) in self where try HeaderLine(argument).asksForChunks {
      return true
    }
    return false
  }

  /// The length of the body as `-H 'Content-Length: N'` states it; nil if no header states it.
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

  /// The mode that `-H` sets for `Expect`; nil if `-H` does not set it.
  func expectation() throws(Failure) -> ExpectMode? {
    var mode: ExpectMode?
    for case .line(let argument) in self {
      let line = try HeaderLine(argument)
      if line.name.isSameHeaderName(as: "Expect") { mode = line.leavesOut ? .never : .always }
    }
    return mode
  }
}
