import FormStreamMultipart
import FormStreamTransfer

/// A request as a line of curl, for sh. It asks for the same method, URL, headers and body; what curl does in
/// another way is noted, and what it can't send is an error.
struct CurlLine {
  /// The words, quoted as sh takes them.
  private(set) var words: [[UInt8]] = [Array("curl".utf8)]
  /// What curl does not do, or does in another way.
  private(set) var differences: [String] = []

  private let plan: PostPlan
  private var typed: TypedRequest { plan.typed.request }

  init(_ plan: PostPlan) throws(Failure) {
    self.plan = plan
    if plan.request.url.credentials != nil {
      throw .usage(
        "The URL holds a user and a password, which would be printed: put them into a file, for --user-file."
      )
    }
    try addBody()
    try addMethod()
    try addHeaders()
    addDelivery()
    addConnection()
    addOutput()
    // curl takes [ ] { } for patterns, in a URL and behind -T.
    let patterned = plan.request.url.description.utf8 + (typed.upload?.bytes ?? [])
    if patterned.contains(where: "[]{}".utf8.contains) { add("--globoff") }
    add(plan.request.url.description)
  }

  /// The line, with a line break at its end.
  var line: [UInt8] { Array(words.joined(separator: [0x20])) + [0x0A] }

  // MARK: Words

  private mutating func add(_ flag: String, _ value: String) {
    add(flag, Array(value.utf8))
  }

  private mutating func add(_ flag: String, _ value: [UInt8]) {
    words.append(Array(flag.utf8))
    words.append(shellQuoted(value))
  }

  private mutating func add(_ word: String) {
    words.append(shellQuoted(Array(word.utf8)))
  }

  /// A file's only line as an argument, read when the line is run: the line itself does not hold it.
  private mutating func add(_ flag: String, contentsOf file: Argument) {
    words.append(Array(flag.utf8))
    words.append(
      file.bytes == Array("-".utf8)
        ? Array("\"$(cat)\"".utf8)
        : Array("\"$(cat -- ".utf8) + shellQuoted(file.bytes) + Array(")\"".utf8))
  }

  private mutating func differs(_ flag: String, _ how: String) {
    differences.append("\(flag): \(how).")
  }

  // MARK: What is sent

  private mutating func addMethod() throws(Failure) {
    let usual: String =
      switch plan.body {
      case .raw where typed.upload != nil: "PUT"
      case .none: "GET"
      default: "POST"
      }
    if plan.request.method.description != usual { add("-X", plan.request.method.description) }
  }

  private mutating func addBody() throws(Failure) {
    guard let layout = try plan.layout() else {
      // Without it, curl would not say that the body is empty.
      if ["POST", "PUT", "PATCH"].contains(plan.request.method.description) {
        add("-H", "Content-Length: 0")
      }
      return
    }
    if case .form = plan.body { try addForm(layout) }
    if let upload = typed.upload {
      words.append(Array("-T".utf8))
      words.append(shellQuoted(upload.bytes))
      if !plan.request.headers.contains("Content-Type") {
        add("-H", "Content-Type: \(layout.contentType)")
      }
    }
    for piece in typed.data { add(piece.spelling, piece.argument.bytes) }
    if let json = typed.json { add("--json", json.bytes) }
  }

  private mutating func addForm(_ layout: BodyLayout) throws(Failure) {
    switch plan.typed.escaping ?? .browser {
    case .browser: break
    case .backslash: add("--form-escape")
    case let other:
      throw .usage("curl has nothing like --escaping \(other): leave it out, or take backslash.")
    }
    if plan.typed.boundary != nil { differs("--boundary", "curl draws its own") }
    for (index, part) in plan.typed.parts.enumerated() {
      let word = try CurlPart(
        part, type: layout.placedPart(at: index).type?.description,
        makesLineBreaks: plan.typed.browserText
      ).word
      add("-F", word)
    }
  }

  private mutating func addHeaders() throws(Failure) {
    for header in typed.headers {
      switch header {
      case .line(let argument):
        let line = try HeaderLine(argument)
        guard !isSecretHeader(line.name) else {
          throw .usage(
            "The header \"\(line.name)\" is a secret, and would be printed: put it into a file, for "
              + "--header-file.")
        }
        add("-H", line.value.isEmpty ? "\(line.name);" : "\(line.name): \(line.value)")
      case .file(let file): add("-H", [UInt8(ascii: "@")] + file.bytes)
      }
    }
    if let agent = typed.userAgent { add("-A", agent.bytes) }
    switch typed.credentials {
    // Without the password: curl asks for it.
    case .user(let user): add("-u", Array(user.bytes.prefix { $0 != UInt8(ascii: ":") }))
    case .userFile(let file): add("-u", contentsOf: file)
    case .tokenFile(let file): add("--oauth2-bearer", contentsOf: file)
    case nil: break
    }
    if let key = plan.request.options.idempotencyKey {
      add("-H", "Idempotency-Key: \(key.fieldValue)")
    }
    if plan.request.options.sendsDigest { differs("--content-digest", "curl makes no such header") }
  }

  private func isSecretHeader(_ name: String) -> Bool {
    var headers = HTTPHeaders()
    try? headers.append(name: name, value: "")
    return headers.fields.first?.isSecret ?? true
  }

  // MARK: How it is sent

  private mutating func addDelivery() {
    let (options, usual) = (plan.request.options, TransferOptions())
    if options.retry.attempts > 1 {
      add("--retry", "\(options.retry.attempts - 1)")
      differs("--retry", "curl also sends again what may have been carried out")
    }
    if let total = options.retry.timeLimit { add("--retry-max-time", total.wholeText) }
    if options.retry.retriesUnsafe { add("--retry-all-errors") }
    if options.limits.connect != usual.limits.connect {
      add("--connect-timeout", options.limits.connect?.text ?? "0")
    }
    if let time = options.limits.attempt { add("--max-time", time.text) }
    if options.limits.stall != usual.limits.stall, let time = options.limits.stall {
      add("--speed-limit", "1")
      add("--speed-time", time.wholeText)
    }
    if options.limits.response != usual.limits.response {
      differs("--answer-timeout", "curl has no such limit")
    }
    if let rate = options.maximumRate { add("--limit-rate", "\(rate)") }
    if options.redirects.allowsOtherOrigins {
      add("--location")
      differs("-L", "curl sends headers of -H to other servers, and makes a GET of a POST")
    }
    if options.redirects.limit != usual.redirects.limit {
      add("--max-redirs", "\(options.redirects.limit)")
    }
    if options.expectation == .always.waiting(options.expectation.timeout) {
      add("-H", "Expect: 100-continue")
    } else if options.expectation == .never.waiting(options.expectation.timeout) {
      add("-H", "Expect:")
    }
    if let patience = typed.continuePatience { add("--expect100-timeout", patience.text) }
  }

  private mutating func addConnection() {
    let session = plan.configuration
    if session.version == .http11 { add("--http1.1") }
    if session.version == .http2 {
      add(plan.request.url.origin.scheme == "https" ? "--http2" : "--http2-prior-knowledge")
    }
    if let path = session.unixSocket { add("--unix-socket", path.bytes) }
    for address in session.addresses { add("--resolve", address.text) }
    if let path = session.tls.authorities { add("--cacert", path.bytes) }
    if let path = session.tls.certificate { add("--cert", path.bytes) }
    if let path = session.tls.key { add("--key", path.bytes) }
    if !session.tls.verifiesServer { add("--insecure") }
  }

  private mutating func addOutput() {
    if let output = plan.typed.output { add("-o", output.bytes) }
    if typed.isQuiet { add("-sS") }
    if typed.isVerbose { add("-v") }
    if plan.printsRecord { differs("--json", "curl prints the answer, and no record") }
    if plan.request.options.computesDigest { differs("--sha256", "curl makes none") }
    if plan.request.options.acceptedStatuses != nil {
      differs("--expect-status", "curl ends with 0 whatever the status")
    }
  }
}

extension PostPlan {
  /// The line of curl. What is different is told on standard error.
  func curlLine() throws(Failure) -> [UInt8] {
    let curl = try CurlLine(self)
    if !isQuiet { for how in curl.differences { StandardError.write("formstream: \(how)") } }
    return curl.line
  }
}

/// A word as sh takes it: as it is where nothing in it is special, else between single quotes.
private func shellQuoted(_ word: [UInt8]) -> [UInt8] {
  let plain = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:@%+,=".utf8)
  if !word.isEmpty, word.allSatisfy(plain.contains) { return word }
  let quoted = word.split(separator: UInt8(ascii: "'"), omittingEmptySubsequences: false)
  return Array("'".utf8) + quoted.joined(separator: "'\\''".utf8) + Array("'".utf8)
}

extension ContinuePolicy {
  fileprivate func waiting(_ timeout: Duration) -> ContinuePolicy {
    var copy = self
    copy.timeout = timeout
    return copy
  }
}

extension Duration {
  /// Seconds as curl takes them: `2`, `0.5`.
  fileprivate var text: String {
    let (seconds, attoseconds) = components
    let milliseconds = attoseconds / 1_000_000_000_000_000
    if milliseconds == 0 { return "\(seconds)" }
    let digits = String(milliseconds)
    return "\(seconds)." + String(repeating: "0", count: 3 - digits.count) + digits
  }

  /// Whole seconds, at least one.
  fileprivate var wholeText: String { "\(max(components.seconds, 1))" }
}
