import FormStreamMultipart
import FormStreamHTTP

/// A request without its body, and the settings of the session that sends it.
struct PlannedRequest {
  var request: TransferRequest
  var session: TransferSession.Configuration
  private let arguments: RequestArguments

  /// This does not set the options of the request. Messages that are printed before the work starts are added to
  /// `notes`.
  ///
  /// - Parameters:
  ///   - method: the method, if no flag names one.
  ///   - url: the first URL of the command.
  ///   - isForNoURL: whether the command has no URL, so that nothing is sent, and `url` may be any.
  ///   - downloading: the arguments of `get`, which also set headers.
  init(
    _ method: HTTPMethod, to url: HTTPURL, isForNoURL: Bool = false, with body: PlannedBody, _ arguments: RequestArguments,
    _ downloading: DownloadArguments, _ input: InputReader, _ notes: inout [String]
  ) throws(Failure) {
    self.arguments = arguments
    request = TransferRequest(method, url)
    if let method = arguments.method {
      guard let method = method.text.flatMap(HTTPMethod.init(parsing:)) else {
        throw .usage("\(method.named("-X")) is not a method: write a word, such as PATCH.")
      }
      request.method = method
    }
    session = try TransferSession.Configuration(arguments, for: url, input, &notes)
    request.headers = try HTTPHeaders(arguments, downloading, for: body, input, &notes)
    let credentials = try PlannedCredentials(arguments, for: request, input, &notes)
    (request.credentials, session.netrc) = (credentials.credentials, credentials.netrc)
    if let note = noteOnExposedCredentials(of: request) { notes.append(note) }
    if let note = noteOnExposedProxyCredentials(to: url) { notes.append(note) }
    session.cookies = try CookiePolicy(arguments, first: isForNoURL ? nil : request, &notes)
    session.userAgent = "formstream/\(version)"
  }

  /// A copy of this request for another URL.
  func request(to url: HTTPURL, _ notes: inout [String]) -> TransferRequest {
    var copy = request
    copy.url = url
    // The credentials in a URL are only for the server of this URL.
    if arguments.credentials == nil {
      copy.credentials = PlannedCredentials.credentials(arguments, in: url, session.netrc)
    }
    if copy.options.idempotencyKey != nil, arguments.idempotencyKey?.text == "auto" {
      copy.options.idempotencyKey = .random()
    }
    if let note = noteOnExposedCredentials(of: copy), !notes.contains(note) { notes.append(note) }
    return copy
  }

  /// A copy of this request for a URL of a list. A list may have been written by somebody else, so the user and password, token,
  /// cookies and secret headers of the command line are only for the server of the first URL, as after a redirect.
  func request(toListed url: HTTPURL, _ notes: inout [String]) -> TransferRequest {
    guard url.origin != request.url.origin else { return request(to: url, &notes) }
    var other = self
    let secret = request.headers.fields.filter(\.isSecret)
    for field in secret { other.request.headers.remove(field.name) }
    other.request.credentials = nil
    if arguments.credentials != nil || !secret.isEmpty {
      let note =
        "The credentials of the command line are sent only to \(request.url.origin), the server of the first URL, and to no other server of a list."
      if !notes.contains(note) { notes.append(note) }
    }
    return other.request(to: url, &notes)
  }

  /// Makes the session allow as many attempts as --retry does. The session's own limit of attempts is for many
  /// requests.
  mutating func allowAttempts(_ attempts: Int...) {
    session.retryBudget = max(session.retryBudget, attempts.max().map { $0 - 1 } ?? 0)
  }

  /// The warning that others can read the request's credentials; nil if they can't, or if `--insecure-auth` is given.
  private func noteOnExposedCredentials(of planned: TransferRequest) -> String? {
    guard !arguments.allowsInsecureAuth, planned.exposesCredentials(in: session) else {
      return nil
    }
    return
      "The credentials are sent to \(planned.url.origin.host) without encryption, so others on the way can "
      + "read them: use https, or --insecure-auth if they may."
  }

  /// The warning that others can read the credentials for a proxy. Proxy credentials from the environment are not
  /// checked: they apply to every command.
  private func noteOnExposedProxyCredentials(to url: HTTPURL) -> String? {
    guard !arguments.allowsInsecureAuth,
      arguments.proxy.address != nil || arguments.proxy.credentials != nil,
      let proxy = session.exposedProxy(for: url)
    else { return nil }
    return
      "The credentials for the proxy \(proxy) are sent to it without encryption, so others on the way can read them: "
      + "use a proxy with https, or --insecure-auth if they may."
  }
}

extension HTTPMethod {
  /// Whether a request without a body says that its length is 0.
  var announcesEmptyBody: Bool { [.post, .put, .patch].contains(self) }
}
