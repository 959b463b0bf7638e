import FormStreamMediaTypes
import FormStreamMultipart
import FormStreamTransfer

/// What `post` and `put` are to do.
struct PostPlan {
  enum Product {
    /// The answer's body, or a record of all.
    case answer
    /// What would be sent.
    case skeleton
    /// The same, as a line of curl.
    case curlLine
  }

  /// All but the body.
  let request: TransferRequest
  let body: PlannedBody
  let configuration: TransferSession.Configuration
  /// Nil where all types are given: libmagic's database takes its time.
  let sniffer: MediaTypeSniffer?
  let verifiesBoundary: Bool
  let product: Product
  let printsRecord: Bool
  /// Where the answer's body goes; nil where the record takes it.
  let target: OutputTarget?
  /// What the person should know, and what keeps nothing from being done.
  let notes: [String]
  let isQuiet: Bool
  let progress: ProgressMode
  /// What was typed, for the line of curl.
  let typed: LowArguments
}

extension LowArguments {
  func postPlan(_ verb: Verb) throws(Failure) -> PostPlan {
    try checkRequest()
    var url = try url(for: verb)
    let body = try plannedBody()
    if case .none = body, verb == .put {
      throw .usage(
        "Name what to put: -T FILE for a file, or -F, -d or --json-body; -d '' puts nothing.")
    }
    if let upload = request.upload { url = url.naming(upload) }
    var notes = self.notes(on: body)
    var asked = try transferring { () throws(TransferError) in
      TransferRequest(verb == .put ? .put : .post, try HTTPURL(url.text))
    }
    if let method = request.method {
      guard let method = method.text.flatMap(HTTPMethod.init(parsing:)) else {
        throw .usage("The method \"\(method.shown)\" of -X is none: write a word, such as PATCH.")
      }
      asked.method = method
    }
    let query = try query()
    // The record tells the whole URL.
    asked.url = try transferring { () throws(TransferError) in try asked.url.appending(query) }
    if request.session.unixSocket == nil {
      if let note = ProxyNote.text(for: asked.url, environmentVariable) { notes.append(note) }
    }
    asked.headers = try headers(for: body, notes: &notes)
    asked.credentials = try credentials(notes: &notes)
    asked.options = try options()
    var configuration = request.session
    configuration.userAgent = "formstream/\(version)"
    // The session's own bound is for those who send much; here a person has said how often.
    configuration.retryBudget = max(
      configuration.retryBudget, asked.options.retry.attempts - 1)
    return PostPlan(
      request: asked, body: body, configuration: configuration,
      sniffer: body.needsTypes ? sniffer() : nil, verifiesBoundary: verifiesBoundary,
      product: isDryRun ? .skeleton : request.printsCurlLine ? .curlLine : .answer,
      printsRecord: printsJSON, target: try answerTarget(), notes: notes, isQuiet: request.isQuiet,
      progress: request.progress, typed: self)
  }

  /// Whether anything goes over the wire. Where not, standard input is left unread.
  var sendsRequest: Bool { !isDryRun && !request.printsCurlLine }

  private func checkRequest() throws(Failure) {
    if isDryRun, request.printsCurlLine {
      throw .usage("--dry-run and --to-curl are two things to print: ask for one of them.")
    }
    if request.answerLimit != nil, !printsJSON || output != nil {
      throw .usage(
        "--max-response says how much --json keeps of the answer's body: without --json, or with -o, all "
          + "of it is written.")
    }
    if request.session.tls.key != nil, request.session.tls.certificate == nil {
      throw .usage("--key belongs to a certificate, and there is none: add --cert FILE.")
    }
    let readers =
      parts.filter(\.isStandardInput).map { "part \"\($0.name)\"" } + request.standardInputUses
    guard readers.count < 2 else {
      throw .usage(
        "Standard input is named twice, for \(readers[0]) and \(readers[1]): it can be read once.")
    }
  }

  private func url(for verb: Verb) throws(Failure) -> TypedURL {
    guard let operand = operands.first else {
      throw .usage(
        "Name the URL to send to: formstream \(verb.rawValue) [FLAG]... https://example.org/path.")
    }
    return try TypedURL(operand)
  }

  private func notes(on body: PlannedBody) -> [String] {
    var notes: [String] = []
    if case .none = body {
      notes.append(
        "There is no body, so an empty one is sent: -F adds a part, -T a file, -d and --json-body data."
      )
    }
    if !request.session.tls.verifiesServer {
      notes.append(
        "--insecure: nobody proves who the server is, so others may read and change what is sent.")
    }
    return notes
  }

  private func query() throws(Failure) -> [URLEncodedField] {
    var fields: [URLEncodedField] = []
    for argument in request.query {
      let split = argument.splitAtEquals()
      fields.append(
        URLEncodedField(
          try (split?.name ?? argument).text(for: "--query"),
          try split.map { (split) throws(Failure) in try split.value.text(for: "--query") }))
    }
    return fields
  }

  private func options() throws(Failure) -> TransferOptions {
    var options = request.options
    options.expectation = request.expectation
    if let patience = request.continuePatience { options.expectation.timeout = patience }
    if let key = request.idempotencyKey {
      if key.bytes == Array("auto".utf8) {
        options.idempotencyKey = .random()
      } else if let key = key.text.flatMap(IdempotencyKey.init) {
        options.idempotencyKey = key
      } else {
        throw .usage(
          "--idempotency-key can't be \"\(key.shown)\": write 1 to 255 characters of ASCII, or auto."
        )
      }
    }
    if request.isVerbose {
      options.trace = { trace in
        for line in trace.description.split(separator: "\n") { StandardError.write(String(line)) }
      }
    }
    return options
  }

  private func answerTarget() throws(Failure) -> OutputTarget? {
    guard let output else { return printsJSON ? nil : .standardOutput }
    if output.bytes == Array("-".utf8) {
      if printsJSON {
        throw .usage(
          "--json and -o - both print to standard output: leave out -o, and the record holds the answer."
        )
      }
      return .standardOutput
    }
    guard !output.bytes.isEmpty, !output.bytes.contains(0) else {
      throw .usage("-o needs the name of a file, or - for standard output.")
    }
    return .path(output.path)
  }
}

extension TypedRequest {
  /// What asks for standard input, in words.
  fileprivate var standardInputUses: [String] {
    var uses: [String] = []
    func note(_ argument: Argument?, _ flag: String, marked mark: String = "") {
      if argument?.bytes == Array("\(mark)-".utf8) { uses.append(flag) }
    }
    note(upload, "-T")
    note(json, "--json-body", marked: "@")
    for piece in data where piece.kind != .raw {
      if piece.isStandardInput { uses.append(piece.spelling) }
    }
    for case .file(let file) in headers { note(file, "--header-file") }
    switch credentials {
    case .userFile(let file): note(file, "--user-file")
    case .tokenFile(let file): note(file, "--token-file")
    case .user, nil: break
    }
    return uses
  }
}

/// Does what throws an error of a transfer, and throws the command's.
func transferring<Result>(
  _ body: () throws(TransferError) -> Result
) throws(Failure) -> Result {
  do {
    return try body()
  } catch {
    throw Failure(error)
  }
}
