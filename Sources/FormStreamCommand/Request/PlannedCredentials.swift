import FormStreamMultipart
import FormStreamPlatform
import FormStreamHTTP

extension LowArguments {
  /// Sets the credentials of a request, and the netrc file of its session. Warnings about files that hold secrets are added to
  /// `notes`.
  func setCredentials(
    of planned: inout TransferRequest, _ configuration: inout TransferSession.Configuration,
    notes: inout [String]
  ) throws(Failure) {
    planned.credentials = try credentials(notes: &notes)
    configuration.netrc = try netrc(for: planned, notes: &notes)
    guard let scheme = request.passwordScheme else { return }
    switch request.credentials {
    case .token, .tokenFile, .tokenVariable:
      throw .usage(
        "--basic, --digest and --anyauth are about a user and a password, and a token is sent as it is: leave them out."
      )
    case .user, .userFile: planned.credentials = planned.credentials?.using(scheme)
    case nil:
      planned.credentials = credentials(in: planned.url, configuration.netrc)
      guard planned.url.credentials == nil, configuration.netrc == nil, scheme != .basic else {
        break
      }
      throw .usage(
        "--digest and --anyauth need a user and a password: add -u, --user-file or --netrc.")
    }
  }

  /// The user and password in a URL, if the flags name a scheme for them and no others.
  func credentials(in url: HTTPURL, _ netrc: Netrc?) -> Credentials? {
    guard request.credentials == nil, let scheme = request.passwordScheme,
      netrc == nil || !url.namesUserOnly
    else { return nil }
    return url.credentials?.using(scheme)
  }

  /// The user and password, or the token, of the request.
  private func credentials(notes: inout [String]) throws(Failure) -> Credentials? {
    switch request.credentials {
    case .user(let argument):
      let (user, password) = try userAndPassword(
        argument.bytes, argument.named("-u"), askedFor: "the server")
      return .basic(user: user, password: password)
    case .token(let argument): return .bearer(try argument.token())
    case .userFile(let file) where !sendsRequest && file.isDash:
      return .basic(user: "", password: "")
    case .tokenFile(let file) where !sendsRequest && file.isDash:
      return .bearer("")
    case .userFile(let file):
      let secrets = try secretFile(file, for: "--user-file")
      notes += secrets.warnings
      return try basic(try secrets.onlyLine(), "The file of --user-file")
    case .tokenFile(let file):
      let secrets = try secretFile(file, for: "--token-file")
      notes += secrets.warnings
      return .bearer(try secrets.token())
    case .tokenVariable(let name): return .bearer(try name.tokenInEnvironment())
    case nil: return nil
    }
  }

  private func basic(_ bytes: [UInt8], _ origin: String) throws(Failure) -> Credentials {
    let (user, password) = try userAndPassword(bytes, origin)
    return .basic(user: user, password: password)
  }

  /// - Parameters:
  ///   - origin: where the bytes come from, for messages.
  ///   - owner: whom the password is for, if it is asked for on a terminal; nil if it is not.
  func userAndPassword(
    _ bytes: [UInt8], _ origin: String, askedFor owner: String? = nil
  ) throws(Failure) -> (user: String, password: String) {
    guard let text = String(validating: bytes, as: UTF8.self), HTTPSyntax.isFieldValue(text.utf8)
    else {
      throw .usage("\(origin) has a control character in it, or is not UTF-8: write USER:PASS.")
    }
    let words = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    guard words.count == 2 else {
      guard let owner, !text.isEmpty else {
        throw .usage("\(origin) has no colon in it: write USER:PASS.")
      }
      return (text, sendsRequest ? try typedPassword(of: text, for: owner, origin) : "")
    }
    return (String(words[0]), String(words[1]))
  }

  /// The netrc file that is used; nil if there is none.
  private func netrc(
    for planned: TransferRequest, notes: inout [String]
  ) throws(Failure) -> Netrc? {
    guard request.usesNetrc else { return nil }
    let flag = request.netrcFile == nil ? "--netrc" : "--netrc-file"
    let file: Argument
    if let named = request.netrcFile {
      file = named
    } else if let home = environmentVariable("HOME"), !home.isEmpty {
      file = Argument("\(home)/.netrc")
    } else if request.isNetrcOptional {
      return nil
    } else {
      throw .usage("HOME is not set, so there is no ~/.netrc: name the file with --netrc-file.")
    }
    if !sendsRequest, file.isDash { return nil }
    if request.isNetrcOptional, !file.isDash, !exists(file.path) { return nil }
    let secrets = try secretFile(file, for: flag)
    notes += secrets.warnings
    guard let text = secrets.text else {
      throw .usage("The file of \(flag) is not UTF-8: convert it, for example with iconv.")
    }
    var netrc = try convertingErrors { () throws(TransferError) in try Netrc(parsing: text) }
    netrc.scheme = request.passwordScheme ?? .basic
    if !request.isNetrcOptional, planned.credentials == nil,
      !planned.headers.contains("Authorization"), planned.ownCredentials(netrc) == nil
    {
      let host = planned.url.origin.host
      let flaw =
        netrc.hasEntry(for: host)
        ? "The entry of the netrc file for \(host) has neither a user nor a password"
        : "The netrc file has no entry for \(host)"
      notes.append("\(flaw), so the request has no credentials.")
    }
    return netrc
  }
}

extension Argument {
  /// The token in the variable of this name. No message shows the name: it is the token itself if the shell has put its value
  /// in place of it.
  fileprivate func tokenInEnvironment() throws(Failure) -> String {
    guard isVariableName, let value = environmentVariable(shown), !value.isEmpty else {
      throw .usage(
        "\(named("--token-env")) is not the name of a variable that is set: write it without $, and export it."
      )
    }
    guard value.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
      throw .usage(
        "The variable of \(named("--token-env")) holds no token: it must have only ASCII characters and no blanks, and no word such as Bearer before it."
      )
    }
    return value
  }

  /// POSIX, XBD 8.1: names of variables consist of letters, digits and the underscore.
  var isVariableName: Bool {
    !bytes.isEmpty && !(0x30...0x39).contains(bytes[0])
      && bytes.allSatisfy { $0.isASCIILetterOrDigit || $0 == UInt8(ascii: "_") }
  }

  /// A token on the command line.
  fileprivate func token() throws(Failure) -> String {
    // RFC 6750 §2.1: a b64token has no blanks.
    guard let text, !bytes.isEmpty, bytes.allSatisfy({ (0x21...0x7E).contains($0) }) else {
      throw .usage(
        "\(named("--oauth2-bearer")) is not a token: write it without blanks, and without a word such as Bearer before it."
      )
    }
    return text
  }
}
