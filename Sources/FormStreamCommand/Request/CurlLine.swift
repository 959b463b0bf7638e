import FormStreamIntake
import FormStreamMultipart
import FormStreamHTTP

/// A request as a curl command line for sh, with the same method, URL, headers and body. Differences in what curl does
/// are listed; a request that curl can't send is an error.
///
/// The file is longer than 400 lines because the flags of a line depend on each other: each flag is added where the
/// others are known.
struct CurlLine {
  /// The words, quoted for sh.
  private(set) var words: [[UInt8]] = [Array("curl".utf8)]
  /// Sentences about what curl does not do, or does differently.
  private(set) var differences: [String] = []

  private let plan: PostPlan.Item
  private let series: SeriesPlan
  private let arguments: CurlArguments

  init(
    _ plan: PostPlan.Item, of series: SeriesPlan, _ arguments: CurlArguments
  ) throws(Failure) {
    (self.plan, self.series, self.arguments) = (plan, series, arguments)
    try checkURL()
    let layout = try plan.layout()
    try addBody(layout)
    addMethod()
    try addHeaders()
    addDelivery()
    addTarget()
    try addConnection(layout)
    addOutput()
    // curl expands [ ] { } in a URL and in the value of -T.
    let expanded = plan.request.url.absoluteString.utf8 + (arguments.file?.path.bytes ?? [])
    if expanded.contains(where: "[]{}".utf8.contains) { add("--globoff") }
    if let file = arguments.request.urlFile {
      add(contentsOf: file)
    } else {
      add(plan.request.url.absoluteString)
    }
  }

  /// Fails if a secret in the URL would be printed.
  private func checkURL() throws(Failure) {
    let url = plan.request.url
    if arguments.request.urlFile != nil {
      guard arguments.request.query.isEmpty else {
        throw .usage("--to-curl has no --query for --url-file: write the query into the file.")
      }
    } else if url.credentials != nil {
      throw .usage(
        "The URL holds a user and a password, which would be printed: put them into a file for --user-file."
      )
    } else if url.description != url.absoluteString {
      throw .usage(
        "The URL holds a secret in its query, which would be printed: put the URL into a file for --url-file."
      )
    }
  }

  /// The command line with a line feed at its end.
  var line: [UInt8] { Array(words.joined(separator: [0x20])) + [0x0A] }

  private mutating func addTarget() {
    if arguments.request.keepsPath { add("--path-as-is") }
    if let target = plan.request.options.requestTarget { add("--request-target", target) }
    for status in arguments.request.options.redirects.repeatingStatuses.sorted() {
      add("--post\(status)")
    }
    if arguments.request.skipsSessionCookies { add("--junk-session-cookies") }
  }

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

  /// Adds a file's only line as a value that the shell reads when it runs the command: the command line itself does not
  /// contain the line.
  private mutating func add(_ flag: String, contentsOf file: Argument) {
    words.append(Array(flag.utf8))
    add(contentsOf: file)
  }

  private mutating func add(contentsOf file: Argument) {
    words.append(
      file.isDash
        ? Array("\"$(cat)\"".utf8)
        : Array("\"$(cat -- ".utf8) + shellQuoted(file.bytes) + Array(")\"".utf8))
  }

  private mutating func addDifference(_ flag: String, _ description: String) {
    differences.append("\(flag): \(description).")
  }

  // MARK: What is sent

  private mutating func addMethod() {
    let usual: String =
      switch plan.body {
      case .raw where arguments.file?.namesURL == true: "PUT"
      case .none: plan.request.method == .head ? "HEAD" : "GET"
      default: "POST"
      }
    if plan.request.method.description != usual { add("-X", plan.request.method.description) }
  }

  private mutating func addBody(_ layout: BodyLayout?) throws(Failure) {
    if plan.request.options.bodyCoding != .none {
      throw .usage("curl can't compress a body: leave out --compressed-upload, or compress a file.")
    }
    guard let layout else {
      // Without this header, curl would not say that the body is empty.
      if plan.request.method.announcesEmptyBody { add("-H", "Content-Length: 0") }
      return
    }
    if case .form = plan.body { try addForm(layout) }
    if let file = arguments.file {
      if file.namesURL {
        add("-T", file.path.bytes)
      } else {
        add("--data-binary", [UInt8(ascii: "@")] + file.path.bytes)
      }
      if !plan.request.headers.contains("Content-Type"),
        !plan.request.options.omits("Content-Type")
      {
        add("-H", "Content-Type: \(layout.contentType)")
      }
    }
    // With -G, the data is in the URL.
    for piece in arguments.request.data where !arguments.request.putsDataIntoURL {
      add(piece.spelling, piece.argument.bytes)
    }
    for json in arguments.request.json { add("--json", json.bytes) }
    addFraming()
  }

  private mutating func addFraming() {
    let options = plan.request.options
    if options.spoolsBody {
      addDifference("--spool", "curl sends a pipe in chunks, or reads all of it into memory")
    }
    if options.readAhead != RequestArguments().readAhead {
      addDifference("--read-ahead", "curl decides by the flag whether a pipe is read first")
    }
    if arguments.form.growth == .allowed {
      addDifference("--growing", "curl sends what a file has when it is read")
    } else if arguments.form.growth == .compared {
      addDifference("--verify-growing", "curl does not compare what it sends")
    }
  }

  private mutating func addForm(_ layout: BodyLayout) throws(Failure) {
    switch arguments.form.escaping ?? .browser {
    case .browser: break
    case .backslash: add("--form-escape")
    case let other:
      throw .usage("curl has nothing like --escaping \(other): leave it out, or use backslash.")
    }
    if arguments.form.boundary != nil { addDifference("--boundary", "curl uses a random one") }
    if arguments.form.verifiesBoundary {
      addDifference("--verify-boundary", "curl does not look for its boundary in files")
    }
    for (index, part) in arguments.form.parts.enumerated() {
      if part.name.isEmpty {
        throw .usage("curl can't send part \"\": its form language has no fields without a name.")
      }
      let curlPart = try CurlPart(
        part, type: layout.placedPart(at: index).type, browserText: arguments.form.browserText)
      for word in curlPart.words { add("-F", word) }
    }
    if arguments.form.parts.contains(where: { !$0.children.isEmpty }) {
      addDifference("-F", "curl guesses types inside a part with parts by their file names")
    }
  }

  private mutating func addHeaders() throws(Failure) {
    for header in arguments.request.headers {
      switch header {
      case .line(let argument):
        let line = try HeaderLine(argument)
        if line.leavesOut {
          add("-H", "\(line.name):")
          continue
        }
        try check(line)
        add("-H", line.value.isEmpty ? "\(line.name);" : "\(line.name): \(line.value)")
      case .file(let file): add("-H", [UInt8(ascii: "@")] + file.bytes)
      }
    }
    if let agent = arguments.request.userAgent {
      try check(HeaderLine(name: "User-Agent", value: agent.text(for: "-A")))
      add("-A", agent.bytes)
    }
    switch arguments.request.credentials {
    // The password is left out: curl asks for it.
    case .user(let user): add("-u", Array(user.bytes.prefix { $0 != UInt8(ascii: ":") }))
    case .userFile(let file): add("-u", contentsOf: file)
    case .tokenFile(let file): add("--oauth2-bearer", contentsOf: file)
    case .tokenVariable(let name):
      words += [Array("--oauth2-bearer".utf8), Array("\"$".utf8) + name.bytes + Array("\"".utf8)]
    case .token:
      throw .usage(
        "--oauth2-bearer holds a token, which would be printed: put it into a file for --token-file."
      )
    case nil: break
    }
    addAuthentication()
    try addCookies()
    if let key = plan.request.options.idempotencyKey {
      add("-H", "Idempotency-Key: \(key.fieldValue)")
    }
    if plan.request.options.sendsDigest {
      addDifference("--content-digest", "curl does not send this header")
    }
    if plan.request.options.resumption.isChosen {
      addDifference("--resumable", "curl's uploads don't go on where they broke")
    }
  }

  /// Fails if a secret header, or a header with a secret in a URL, would be printed.
  private func check(_ line: HeaderLine) throws(Failure) {
    var headers = HTTPHeaders()
    headers.append(line.name, line.value)
    guard headers.shown(at: plan.request.url).allSatisfy({ $0.value == headers[$0.name] }) else {
      throw .usage(
        "The header \"\(line.name)\" is a secret, or holds one, and would be printed: put it into a file for "
          + "--header-file.")
    }
  }

  private mutating func addAuthentication() {
    switch arguments.request.passwordScheme {
    case .basic: add("--basic")
    case .digest:
      add("--digest")
      addDifference("--digest", "curl first sends the request without its body")
    case .strongestOffered:
      add("--anyauth")
      addDifference("--anyauth", "curl first sends the request without its body")
    case nil: break
    }
    guard arguments.request.usesNetrc else { return }
    if let file = arguments.request.netrcFile { add("--netrc-file", file.bytes) }
    if arguments.request.isNetrcOptional {
      add("--netrc-optional")
    } else if arguments.request.netrcFile == nil {
      add("--netrc")
    }
    addDifference("--netrc", "curl also uses the entry \"default\"")
  }

  private mutating func addCookies() throws(Failure) {
    for argument in arguments.request.cookies {
      guard !argument.isCookie else {
        throw .usage(
          "-b holds a cookie, which would be printed: put the header Cookie into a file for --header-file."
        )
      }
      add("-b", argument.bytes)
    }
    if let jar = arguments.request.cookieJar { add("-c", jar.bytes) }
  }

  // MARK: How the request is sent

  private mutating func addDelivery() {
    let (options, usual) = (plan.request.options, TransferOptions())
    if options.retry.attempts > 1 {
      add("--retry", "\(options.retry.attempts - 1)")
      addDifference("--retry", "curl also repeats requests that the server may have acted on")
    }
    if let delay = options.retry.fixedDelay { add("--retry-delay", delay.curlWholeSeconds) }
    if options.retry.maximumRetryAfter != usual.retry.maximumRetryAfter {
      addDifference(
        "--max-retry-after", "curl waits as long as the server asks, within --retry-max-time")
    }
    if let total = options.retry.timeLimit { add("--retry-max-time", total.curlWholeSeconds) }
    if options.retry.retriesUnsafe { add("--retry-all-errors") }
    if options.timeLimits.connect != usual.timeLimits.connect {
      add("--connect-timeout", options.timeLimits.connect?.curlSeconds ?? "0")
    }
    if let time = options.timeLimits.attempt { add("--max-time", time.curlSeconds) }
    if options.timeLimits.stall != usual.timeLimits.stall, let time = options.timeLimits.stall {
      add("--speed-limit", "1")
      add("--speed-time", time.curlWholeSeconds)
    }
    if options.timeLimits.response != usual.timeLimits.response {
      addDifference("--response-timeout", "curl has no such limit")
    }
    if let rate = options.maximumRate { add("--limit-rate", "\(rate)") }
    if options.redirects.allowsOtherOrigins {
      add("--location")
      addDifference(
        "-L", "curl sends the headers of -H to other servers, and makes a GET of a POST")
    }
    if let limit = arguments.request.redirectLimit { add("--max-redirs", "\(limit)") }
    switch arguments.request.expectation {
    case .always: add("-H", "Expect: 100-continue")
    case .never: add("-H", "Expect:")
    default: break
    }
    if let timeout = arguments.request.continueTimeout {
      add("--expect100-timeout", timeout.curlSeconds)
    }
  }

  private mutating func addConnection(_ layout: BodyLayout?) throws(Failure) {
    let session = series.session
    if arguments.request.requiresHTTPS { add("--proto", "=https") }
    if plan.request.options.redirects.requiresHTTPS { add("--proto-redir", "=https") }
    let isEncrypted = plan.request.url.origin.scheme == "https"
    switch session.version {
    case .http11: add("--http1.1")
    case .http2: add(isEncrypted ? "--http2" : "--http2-prior-knowledge")
    case .http2OverTLS: add(isEncrypted ? "--http2" : "--http1.1")
    default: if prefersHTTP11(layout) { add("--http1.1") }
    }
    if let path = session.unixSocket { add("--unix-socket", path.bytes) }
    for address in session.addresses { add("--resolve", address.text) }
    for host in session.replacedHosts { add("--connect-to", host.text) }
    if session.addressFamily == .ipv4 { add("--ipv4") }
    if session.addressFamily == .ipv6 { add("--ipv6") }
    if let name = session.localInterface { add("--interface", name) }
    let usual = TransferSession.Configuration()
    switch session.keepAliveTime {
    case nil: add("--no-keepalive")
    case let time? where time != usual.keepAliveTime:
      add("--keepalive-time", time.curlWholeSeconds)
    default: break
    }
    try addTLS(session.tls)
    try addProxy()
  }

  /// Whether HTTP/1.1 is used for a long body, although the server may support HTTP/2.
  private func prefersHTTP11(_ layout: BodyLayout?) -> Bool {
    guard series.session.version == .automatic, let layout,
      plan.request.url.origin.scheme == "https"
    else { return false }
    return layout.contentLength.map { $0 > longestHTTP2Body } ?? true
  }

  private mutating func addTLS(_ tls: TLSSettings) throws(Failure) {
    // Only typed flags are added, because curl reads the same environment variables itself.
    let typed = arguments.request.session.tls
    if let path = typed.authorities { add("--cacert", path.bytes) }
    if let path = typed.authoritiesDirectory { add("--capath", path.bytes) }
    if let path = tls.certificate {
      // For curl, the text after a colon is the passphrase.
      let backslash = UInt8(ascii: "\\")
      add(
        "--cert",
        path.bytes.flatMap {
          [backslash, UInt8(ascii: ":")].contains($0) ? [backslash, $0] : [$0]
        })
    }
    if let path = tls.key { add("--key", path.bytes) }
    switch arguments.request.passphrase {
    case .phrase(let phrase):
      throw .usage(
        "The passphrase of \(phrase.named("--pass")) would be printed: put it into a file for --pass-file."
      )
    case .file(let file): add("--pass", contentsOf: file)
    case nil: break
    }
    if let keys = arguments.request.pinnedKeys { add("--pinnedpubkey", keys.bytes) }
    if let version = arguments.request.minimumTLSVersion { add("--tlsv\(version)") }
    if let version = tls.maximumVersion { add("--tls-max", "\(version)") }
    if !tls.verifiesServer { add("--insecure") }
  }

  private mutating func addProxy() throws(Failure) {
    let proxy = arguments.request.proxy
    // Only a typed flag is added, because curl reads the same environment variables itself.
    switch proxy.address {
    case .url(let argument): try addProxy("--proxy", argument)
    case .host(let scheme, let argument):
      try addProxy(ProxyArguments.flag(of: scheme), argument)
    case nil: break
    }
    if let hosts = proxy.exceptions { add("--noproxy", hosts.bytes) }
    switch proxy.credentials {
    // The password is left out: curl asks for it.
    case .user(let user): add("--proxy-user", Array(user.bytes.prefix { $0 != UInt8(ascii: ":") }))
    case .userFile(let file): add("--proxy-user", contentsOf: file)
    default: break
    }
    if let file = proxy.authorities { add("--proxy-cacert", file.bytes) }
  }

  private mutating func addProxy(_ flag: String, _ address: Argument) throws(Failure) {
    guard !address.bytes.contains(UInt8(ascii: "@")) else {
      throw .usage(
        "The proxy's URL holds a user, which would be printed: put user and password into a file for --proxy-user-file."
      )
    }
    add(flag, address.bytes)
  }

  private mutating func addFile() {
    let downloading = arguments.downloading
    var isAbsolute = false
    switch arguments.output {
    case nil: break
    case .file(let output)?:
      add("-o", output.bytes)
      isAbsolute = output.bytes.first == UInt8(ascii: "/")
    case .remoteName?:
      add("-O")
      let name = SafeName(lastSegmentOf: plan.request.url).numbered(1).bytes
      if !plan.request.url.absoluteString.utf8.reversed().starts(
        with: name.reversed() + [UInt8(ascii: "/")])
      {
        addDifference("-O", "curl takes the name at the end of the URL as it is")
      }
    }
    if let directory = downloading.directory, !isAbsolute { add("--output-dir", directory.bytes) }
    if downloading.makesDirectories { add("--create-dirs") }
  }

  private mutating func addOutput() {
    if plan.request.method == .head { add("--head") }
    addFile()
    if plan.request.options.responseCompression != nil {
      add("--compressed")
      addDifference(
        "--compressed", "curl asks for other codings, too, and has no limit after decompression")
    }
    if let size = plan.request.options.maximumResponseSize {
      add("--max-filesize", "\(size)")
      addDifference("--max-filesize", "curl before 8.4 looks only at the announced size")
    }
    if let file = arguments.request.headFile { add("--dump-header", file.bytes) }
    if let format = arguments.request.writeOut { add("--write-out", format.bytes) }
    if arguments.request.includesHeads, plan.request.method != .head { add("--include") }
    if series.printing.hidesRefused { add("--fail") }
    switch arguments.request.progress {
    case .auto: break
    case .bar: add("--progress-bar")
    case .none: add("--no-progress-meter")
    case .json: addDifference("--progress json", "curl prints no records of progress")
    }
    if arguments.request.isQuiet { add(series.printing.hidesFailures ? "-s" : "-sS") }
    if arguments.request.isVerbose { add("-v") }
    if series.printing.printsRecord {
      addDifference("--json", "curl prints the response, and no record")
    }
    if plan.request.options.computesDigest { addDifference("--sha256", "curl computes no digest") }
    if plan.request.options.acceptedStatuses != nil {
      addDifference("--expect-status", "curl ends with 0 for every status")
    }
  }
}

/// A word for sh: unchanged if it has no special characters, otherwise in single quotes.
private func shellQuoted(_ word: [UInt8]) -> [UInt8] {
  let plain = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:@%+,=".utf8)
  if !word.isEmpty, word.allSatisfy(plain.contains) { return word }
  let quoted = word.split(separator: UInt8(ascii: "'"), omittingEmptySubsequences: false)
  return Array("'".utf8) + quoted.joined(separator: "'\\''".utf8) + Array("'".utf8)
}

extension Duration {
  /// Seconds as curl reads them: `2`, `0.5`.
  fileprivate var curlSeconds: String {
    let (seconds, attoseconds) = components
    let milliseconds = attoseconds / 1_000_000_000_000_000
    if milliseconds == 0 { return "\(seconds)" }
    let digits = String(milliseconds)
    return "\(seconds)." + String(repeating: "0", count: 3 - digits.count) + digits
  }

  /// Whole seconds, at least one, for flags of curl that read no fractions.
  fileprivate var curlWholeSeconds: String { "\(max(components.seconds, 1))" }
}
