import FormStreamIntake
import FormStreamMediaTypes
import FormStreamMultipart
import FormStreamHTTP

/// The checked arguments of `post` and `put`.
struct PostPlan {
  enum Product {
    /// The response's body, or a record of the request.
    case response
    /// An outline of what would be sent.
    case outline
    /// A curl command line that would send the same.
    case curlLine(CurlArguments)
  }

  /// Which request of the command it is, from 0.
  let number: Int
  /// The request without its body.
  let request: TransferRequest
  let body: PlannedBody
  let configuration: TransferSession.Configuration
  /// Nil if all types are given: opening libmagic's database takes time.
  let sniffer: MediaTypeSniffer?
  let verifiesBoundary: Bool
  let product: Product
  let printsRecord: Bool
  /// Where the cookies go at the end; nil if they are not written.
  let cookieJar: LocalPath?
  /// Where the response's body goes; nil if it goes into the record.
  let responseTarget: OutputTarget?
  /// The directory that is made for it, if it does not exist.
  let madeDirectory: LocalPath?
  let printing: PlannedPrinting
  /// Whether a file gets the response of a refused request, too.
  let outputsAnyStatus: Bool
  /// How many bytes of the response's body the record holds.
  let responseLimit: Int
  /// Messages that are printed before the work starts.
  let notes: [String]
  let isQuiet: Bool
  let progress: ProgressMode
}

extension LowArguments {
  /// A request of `send` without its body and options, and the settings of its session. Messages that are printed before
  /// the work starts are added to `notes`.
  func plannedRequest(
    _ verb: Verb, _ body: PlannedBody, _ notes: inout [String]
  ) throws(Failure) -> (TransferRequest, TransferSession.Configuration) {
    let url = try url(operands.first, for: verb, notes: &notes)
    return try plannedRequest(.post, to: try resolved([url])[0], body, &notes)
  }

  /// The URLs with what flags append to their queries.
  func resolved(_ arguments: [URLArgument]) throws(Failure) -> [HTTPURL] {
    let (query, data) = (try query(), try queryData())
    var urls: [HTTPURL] = []
    for argument in arguments {
      let url = try argument.url(appending: query, data, withPathAsIs: request.keepsPath)
      guard !request.requiresHTTPS || url.origin.scheme == "https" else {
        throw .usage(
          "The URL begins with \(url.origin.scheme):, and --proto allows only https: write https, or leave --proto out."
        )
      }
      try checkLeftOut(inRequestsTo: url)
      urls.append(url)
    }
    return urls
  }

  /// The same for a URL and a method.
  func plannedRequest(
    _ method: HTTPMethod, to url: HTTPURL, _ body: PlannedBody, _ notes: inout [String]
  ) throws(Failure) -> (TransferRequest, TransferSession.Configuration) {
    var planned = TransferRequest(method, url)
    if let method = request.method {
      guard let method = method.text.flatMap(HTTPMethod.init(parsing:)) else {
        throw .usage("\(method.named("-X")) is not a method: write a word, such as PATCH.")
      }
      planned.method = method
    }
    var configuration = try sessionConfiguration(for: planned.url, &notes)
    planned.headers = try headers(for: body, notes: &notes)
    try setCredentials(of: &planned, &configuration, notes: &notes)
    if let note = noteOnExposedCredentials(of: planned, configuration) { notes.append(note) }
    if let note = noteOnExposedProxyCredentials(to: url, configuration) { notes.append(note) }
    configuration.cookies = try cookiePolicy(&notes)
    configuration.userAgent = "formstream/\(version)"
    return (planned, configuration)
  }

  /// The warning about a request's credentials that others can read; nil if they can't, or may.
  func noteOnExposedCredentials(
    of planned: TransferRequest, _ configuration: TransferSession.Configuration
  ) -> String? {
    guard !request.allowsInsecureAuth, planned.exposesCredentials(in: configuration) else {
      return nil
    }
    return
      "The credentials are sent to \(planned.url.origin.host) without encryption, so others on the way can "
      + "read them: use https, or --insecure-auth if they may."
  }

  /// The same for the credentials of a proxy. Those of the environment are not of this command, and would bring a warning
  /// to each one.
  private func noteOnExposedProxyCredentials(
    to url: HTTPURL, _ configuration: TransferSession.Configuration
  ) -> String? {
    guard !request.allowsInsecureAuth,
      request.proxy.address != nil || request.proxy.credentials != nil,
      let proxy = configuration.exposedProxy(for: url)
    else { return nil }
    return
      "The credentials for the proxy \(proxy) are sent to it without encryption, so others on the way can read them: "
      + "use a proxy with https, or --insecure-auth if they may."
  }

  /// Whether a request is sent. If not, standard input is not read.
  var sendsRequest: Bool { !isDryRun && !request.printsCurlLine }

  func checkRequest() throws(Failure) {
    if isDryRun, request.printsCurlLine {
      throw .usage("--dry-run and --to-curl print two different things: choose one of them.")
    }
    if request.responseLimit != nil, !printsJSON || output != nil {
      throw .usage(
        "--max-response limits the response's body in the record of --json: without --json, or with -o, the "
          + "complete body is written.")
    }
    if request.session.tls.key != nil, request.session.tls.certificate == nil {
      throw .usage("--key is the key of a certificate, and there is none: add --cert FILE.")
    }
    if request.passphrase != nil, request.session.tls.certificate == nil {
      throw .usage(
        "The passphrase is that of a certificate's key, and there is none: add --cert FILE.")
    }
    let readers =
      parts.flatMap(\.leaves).filter(\.isStandardInput).map { "part \"\($0.name)\"" }
      + request.standardInputUses
      + operands.filter { $0.bytes == Array("@-".utf8) }.map { _ in "@-" }
      + pathLists.filter(\.file.isDash).map { _ in "a list of files" }
      + (readsConfigFromStandardInput ? ["--config"] : [])
    guard readers.count < 2 else {
      throw .usage(
        "Standard input is named twice, for \(readers[0]) and \(readers[1]): it can be read once.")
    }
  }

  /// - Parameter operand: the URL that was typed; nil if there is none.
  func url(
    _ operand: Argument?, for verb: Verb, notes: inout [String]
  ) throws(Failure) -> URLArgument {
    if let file = request.urlFile {
      if verb != .send, let operand {
        throw .usage(
          "\(operand.named("The URL")) and --url-file both name the URL: give one of them.")
      }
      let secrets = try secretFile(file, for: "--url-file")
      notes += secrets.warnings
      return try URLArgument(secrets, file)
    }
    guard let operand else {
      throw .usage(
        "Name the URL to send to: formstream \(verb.rawValue) [FLAG]... https://example.org/path.")
    }
    if verb == .send { try checkOrder(of: operand) }
    return try URLArgument(operand)
  }

  /// `send` takes the URL first: all other words are files.
  func checkOrder(of operand: Argument) throws(Failure) {
    guard !operand.bytes.isEmpty, !URLArgument.isURL(operand),
      exists(operand.path) || operands.dropFirst().contains(where: URLArgument.isURL)
    else { return }
    throw .usage(
      "\(operand.named("A word")) is no URL, and send takes the URL first: formstream send [FLAG]... https://example.org/ FILE..."
    )
  }

  func notes(on body: PlannedBody, for verb: Verb) -> [String] {
    var notes = parts.notes
    let method = request.method?.text.flatMap(HTTPMethod.init(parsing:)) ?? .post
    if case .none = body, verb != .get, !request.putsDataIntoURL, !request.asksForHead,
      method.announcesEmptyBody
    {
      notes.append(
        "An empty body is sent: -F adds a part, -T sends a file, -d and --json-body send data.")
    }
    if let note = noteOnJSON { notes.append(note) }
    if !request.session.tls.verifiesServer {
      notes.append(
        request.pinnedKeys == nil
          ? "--insecure: the server's identity is not checked, so others may read and change what is sent."
          : "--insecure: the server's certificate is not checked, only that it has the key of --pinnedpubkey."
      )
    }
    return notes
  }

  /// The text of `--url-query` and `-G`, which is appended as it is.
  private func queryData() throws(Failure) -> [String] {
    let data = request.queryData + (request.putsDataIntoURL ? request.data : [])
    var texts: [String] = []
    for piece in data {
      guard sendsRequest || !piece.isStandardInput else {
        throw .usage(
          "The data of \(piece.flag) is part of the URL, and comes from standard input, which is read only to send it: use a file."
        )
      }
      if piece.isStandardInput { announceKeyboard() }
      let bytes = try piece.bytes()
      guard !bytes.isEmpty else { continue }
      guard let text = String(validating: bytes, as: UTF8.self) else {
        throw .usage(
          "The data of \(piece.flag) is not UTF-8, so that it can't stand in a URL: --data-urlencode encodes it."
        )
      }
      texts.append(text)
    }
    return texts
  }

  /// Checks that the flags that choose a method agree with the body.
  func checkMethod(_ body: PlannedBody) throws(Failure) {
    if case .none = body { return }
    guard !request.asksForHead else {
      throw .usage(
        "-I asks for the head of a response, and sends no body: leave the data out, or put it into the URL with -G."
      )
    }
    guard !request.putsDataIntoURL else {
      throw .usage(
        "-G puts the data of -d into the URL, and nothing else: leave out -F, -T and --json-body.")
    }
  }

  /// What stands in the request line in place of the URL's path and query; nil for these.
  private func requestTarget() throws(Failure) -> String? {
    guard let argument = request.requestTarget else { return nil }
    guard let text = argument.text, !text.isEmpty, text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
    else {
      throw .usage(
        "\(argument.named("--request-target")) has a blank or a character beyond ASCII in it, or is empty: write it as it is sent."
      )
    }
    if let scheme = request.passwordScheme, scheme != .basic {
      throw .usage(
        "--request-target and \(scheme == .digest ? "--digest" : "--anyauth") exclude each other: Digest is computed from the URL."
      )
    }
    return text
  }

  func query() throws(Failure) -> [URLEncodedField] {
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

  /// - Parameter isKeyTaken: whether the idempotency key is another's business.
  func options(isKeyTaken: Bool = false) throws(Failure) -> TransferOptions {
    var options = request.options
    options.omittedHeaders = try omittedHeaders()
    // As in curl.
    if options.redirects.allowsOtherOrigins { options.redirects.limit = 50 }
    if let limit = request.redirectLimit { options.redirects.limit = limit }
    let isExpectGiven = request.expectation != .auto
    switch try isExpectGiven ? request.expectation : request.headers.expectation() ?? .auto {
    case .auto: options.expectation = .automatic
    case .always: options.expectation = .always
    case .never: options.expectation = .never
    }
    options.readAhead = request.readAhead
    options.sendsChunks = try request.headers.asksForChunks()
    options.requestTarget = try requestTarget()
    if let timeout = request.continueTimeout { options.expectation.timeout = timeout }
    if !isKeyTaken, let key = request.idempotencyKey {
      if key.bytes == Array("auto".utf8) {
        options.idempotencyKey = .random()
      } else if let key = key.text.flatMap(IdempotencyKey.init) {
        options.idempotencyKey = key
      } else {
        throw .usage(
          "\(key.named("--idempotency-key")) is not a key: write 1 to 255 ASCII characters, or auto."
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

  /// With `-L`, the response of a redirect is not printed, as in curl. Nil if it is, or if it has another place.
  func leavesOutRedirects(
    except printed: Set<Int>
  ) -> (@Sendable (TransferResponse) -> Bool)? {
    guard request.options.redirects.allowsOtherOrigins, !printsJSON, !request.outputsAnyStatus
    else { return nil }
    let wanted = printed.union(request.options.acceptedStatuses ?? [])
    return { response in
      (300...399).contains(response.status) && !wanted.contains(response.status)
        && response.headers["Location"]?.isEmpty == false
    }
  }

  /// - Parameter output: what `-o` or `-O` names; nil if neither is for this request.
  func responseTarget(
    of url: HTTPURL, _ output: DownloadArguments.Output?
  ) throws(Failure) -> OutputTarget? {
    let target = try outputTarget(of: url, output)
    if printsJSON, case .standardOutput = target {
      throw .usage(
        "--json and -o - both print to standard output: leave out -o, and the record holds the response."
      )
    }
    return printsJSON ? target : target ?? .standardOutput
  }

  private func outputTarget(
    of url: HTTPURL, _ output: DownloadArguments.Output?
  ) throws(Failure) -> OutputTarget? {
    switch output {
    case nil: return nil
    case .remoteName?:
      return .path(pathInDirectory(try nameAtEnd(of: url)))
    case .file(let argument)?:
      let target = try OutputTarget(argument)
      guard case .path(let path) = target else { return target }
      return .path(pathInDirectory(path.bytes))
    }
  }
}

extension HTTPMethod {
  /// Whether a request without a body says that its length is 0.
  var announcesEmptyBody: Bool { [.post, .put, .patch].contains(self) }
}

extension RequestArguments {
  /// The flags that read standard input.
  fileprivate var standardInputUses: [String] {
    var uses: [String] = []
    uses += uploads.filter(\.isDash).map { _ in "-T" }
    uses += json.filter { DataOrFile($0, of: "--json-body").file?.isDash ?? false }
      .map { $0.flag ?? "--json-body" }
    if let writeOut, DataOrFile(writeOut, of: "-w").file?.isDash ?? false { uses.append("-w") }
    uses += queryData.filter(\.isStandardInput).map(\.flag)
    uses += data.filter(\.isStandardInput).map(\.flag)
    for case .file(let file) in headers where file.isDash {
      uses.append(file.flag ?? "--header-file")
    }
    if let urlFile, urlFile.isDash { uses.append("--url-file") }
    if case .file(let file)? = passphrase, file.isDash { uses.append("--pass-file") }
    if case .userFile(let file)? = proxy.credentials, file.isDash {
      uses.append("--proxy-user-file")
    }
    switch credentials {
    case .userFile(let file) where file.isDash: uses.append("--user-file")
    case .tokenFile(let file) where file.isDash: uses.append("--token-file")
    default: break
    }
    if let netrcFile, netrcFile.isDash { uses.append("--netrc-file") }
    return uses
  }
}
