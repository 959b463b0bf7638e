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
    if request.json != nil, !headers.contains("Accept") {
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

  /// The user and password, or the token, of the request.
  func credentials(notes: inout [String]) throws(Failure) -> Credentials? {
    switch request.credentials {
    case .user(let argument): return try basic(argument.bytes, argument.named("-u"))
    case .userFile(let file) where !sendsRequest && file.isDash:
      return .basic(user: "", password: "")
    case .tokenFile(let file) where !sendsRequest && file.isDash:
      return .bearer("")
    case .userFile(let file):
      let secrets = try SecretFile(file, for: "--user-file")
      notes += secrets.warnings
      return try basic(try secrets.onlyLine(), "The file of --user-file")
    case .tokenFile(let file):
      let secrets = try SecretFile(file, for: "--token-file")
      notes += secrets.warnings
      return .bearer(try secrets.token())
    case nil: return nil
    }
  }

  private func basic(_ bytes: [UInt8], _ origin: String) throws(Failure) -> Credentials {
    let (user, password) = try userAndPassword(bytes, origin)
    return .basic(user: user, password: password)
  }

  /// - Parameter origin: where the bytes come from, for messages.
  func userAndPassword(
    _ bytes: [UInt8], _ origin: String
  ) throws(Failure) -> (user: String, password: String) {
    guard let text = String(validating: bytes, as: UTF8.self), HTTPSyntax.isFieldValue(text.utf8)
    else {
      throw .usage("\(origin) has a control character in it, or is not UTF-8: write USER:PASS.")
    }
    let words = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    guard words.count == 2 else {
      throw .usage("\(origin) has no colon in it: write USER:PASS.")
    }
    return (String(words[0]), String(words[1]))
  }
}
