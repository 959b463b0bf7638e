import FormStreamMultipart
import FormStreamPlatform
import FormStreamHTTP

extension HTTPHeaders {
  /// Adds the cookies of `-b`. As in curl, a value with `=` in it is sent as it is.
  mutating func addCookies(of typed: [Argument]) throws(Failure) {
    let typed = typed.filter(\.isCookie)
    guard !typed.isEmpty else { return }
    if contains("Cookie") {
      throw .usage("-b and a header both set the Cookie: leave one out.")
    }
    var pieces: [String] = []
    for argument in typed { pieces.append(try argument.text(for: "-b")) }
    guard HTTPSyntax.isFieldValue(pieces.joined().utf8) else {
      throw .usage("\(typed[0].named("-b")) has a control character in it: write NAME=VALUE.")
    }
    append("Cookie", pieces.joined(separator: "; "), isSecret: true)
    try convertingErrors(checkOfRequest)
  }
}

extension CookiePolicy {
  /// Whether the session keeps cookies, and the files that it loads cookies from.
  ///
  /// - Parameters:
  ///   - first: the request for the first URL of the command; nil if there is no URL. Cookies of files that name no host belong to the
  ///     host of this request, although others may be sent before it with `-j`.
  ///   - knowsPublicSuffixes: whether there is a list of the domains that no server may set cookies for.
  init(
    _ arguments: RequestArguments, first: TransferRequest?, _ notes: inout [String],
    knowsPublicSuffixes: @autoclosure () -> Bool = CookiePolicy.knowsPublicSuffixes
  ) throws(Failure) {
    let files = arguments.cookies.filter { !$0.isCookie }
    guard !files.isEmpty || arguments.cookieJar != nil else {
      self = .none
      return
    }
    if !knowsPublicSuffixes() {
      notes.append(
        "libpsl is not installed, so servers can set cookies for domains such as co.uk, where others get them, too: install libpsl5."
      )
    }
    var existing: [LocalPath] = []
    // As with curl, an empty name only makes the session keep the cookies that the server sets.
    for file in files where !file.bytes.isEmpty {
      if file.isDash {
        throw .usage("-b reads a file, and - is standard input: name a file.")
      } else if exists(file.path) {
        existing.append(file.path)
      } else if file.bytes != arguments.cookieJar?.bytes {
        // The note does not show the path: if the = of a cookie was forgotten, the path is the cookie itself. There is
        // no note about the file of -c: it does not exist yet when the first of several commands runs.
        notes.append(
          "The file of \(file.named("-b")) does not exist, so it has no cookies. A cookie is written NAME=VALUE."
        )
      }
    }
    self = .session(files: existing, withoutSessionCookies: arguments.skipsSessionCookies, first: first)
  }
}

extension Argument {
  /// Whether this value of `-b` is a cookie, and not a file.
  var isCookie: Bool { bytes.contains(UInt8(ascii: "=")) }
}

/// Fails before the first request if the file of `-c` can't be written. A device or FIFO is opened only after the last
/// request: if it were opened and closed here, its reader would take the closing for the end of the cookies.
func checkCookieFile(_ file: LocalPath?) throws(Failure) {
  guard let file else { return }
  switch try? OutputPlace(at: file) {
  case .standardOutput, .special: return
  default: try OutputFile(.path(file), of: "-c").discard()
  }
}

/// Begins a session: reads the file of `-b`, and checks the TLS files.
func startSession(
  _ configuration: TransferSession.Configuration, _ interruption: Interruption
) throws(Failure) -> TransferSession {
  let start = { @Sendable () throws(Failure) in
    try convertingErrors { () throws(TransferError) in try TransferSession(configuration) }
  }
  let tls = configuration.tls
  // If the user has named no files, nothing can block, and no thread is needed.
  guard
    !configuration.cookies.files.isEmpty || tls.certificate != nil || tls.key != nil || tls.pin != nil
      || tls.authorities != nil || tls.authoritiesDirectory != nil
      || configuration.proxy.authorities != nil
  else { return try start() }
  return try interruption.performBlocking(orElse: unreadCookies, start)
}

/// The message if a signal arrived before the session was begun.
let unreadCookies = "Nothing writes to the file of -b: the cookies could not be read."

/// Writes a session's cookies to the file of `-c`, which is treated like the file of `-o`: a link stays a link. A
/// device or FIFO also stays, and gets the contents that a file would get.
func saveCookies(
  of session: TransferSession, to file: LocalPath?, _ interruption: Interruption
) throws(Failure) {
  guard let file else { return }
  let target: LocalPath
  switch try? OutputPlace(at: file) {
  case .deadLink, .standardOutput, .special:
    let message = "Nothing reads the file \"\(file)\" of -c: the cookies could not be written."
    return try interruption.performBlocking(orElse: message) { () throws(Failure) in
      let output = try OutputFile(.path(file), of: "-c")
      try output.write(
        try convertingErrors { () throws(TransferError) in try session.cookieText() })
    }
  case .file: target = (try? resolved(file)) ?? file
  case .nothing, nil: target = file
  }
  try convertingErrors { () throws(TransferError) in try session.saveCookies(to: target) }
}

extension ResultReport.Ending {
  /// Saves the cookies of a session. If the request has failed, the exit code stays the request's.
  mutating func saveCookies(
    of session: TransferSession, to file: LocalPath?, _ interruption: Interruption
  ) {
    do throws(Failure) {
      try FormStreamCommand.saveCookies(of: session, to: file, interruption)
    } catch {
      add(error)
    }
  }
}
