import FormStreamMultipart
import FormStreamPlatform
import FormStreamHTTP

/// The credentials of a request, and the netrc file of its session.
struct PlannedCredentials {
  private(set) var credentials: Credentials?
  let netrc: Netrc?

  /// Warnings about files that contain secrets are added to `notes`.
  ///
  /// - Parameter planned: the request with its headers.
  init(
    _ arguments: RequestArguments, for planned: TransferRequest, _ input: InputReader,
    _ notes: inout [String]
  ) throws(Failure) {
    credentials = try arguments.credentials?.ofServer(input, &notes)
    netrc = try Netrc(arguments, input, &notes)
    if let netrc, !arguments.isNetrcOptional, credentials == nil,
      !planned.headers.contains("Authorization"), planned.ownCredentials(netrc) == nil
    {
      let host = planned.url.origin.host
      let flaw =
        netrc.hasEntry(for: host)
        ? "The entry of the netrc file for \(host) has neither a user nor a password"
        : "The netrc file has no entry for \(host)"
      notes.append("\(flaw), so the request has no credentials.")
    }
    guard let scheme = arguments.passwordScheme else { return }
    switch arguments.credentials {
    case .token, .tokenFile, .tokenVariable:
      throw .usage(
        "--basic, --digest and --anyauth are about a user and a password, and a token is sent as it is: leave them out."
      )
    case .user, .userFile: credentials = credentials?.using(scheme)
    case nil:
      credentials = Self.credentials(arguments, in: planned.url, netrc)
      guard planned.url.credentials == nil, netrc == nil, scheme != .basic else { break }
      throw .usage(
        "--digest and --anyauth need a user and a password: add -u, --user-file or --netrc.")
    }
  }

  /// The user and password in a URL, if the flags name a scheme for them and no other credentials.
  static func credentials(
    _ arguments: RequestArguments, in url: HTTPURL, _ netrc: Netrc?
  ) -> Credentials? {
    guard arguments.credentials == nil, let scheme = arguments.passwordScheme,
      netrc == nil || !url.namesUserOnly
    else { return nil }
    return url.credentials?.using(scheme)
  }
}

extension CredentialsArgument {
  /// The user and password, or the token, of the request.
  fileprivate func ofServer(
    _ input: InputReader, _ notes: inout [String]
  ) throws(Failure) -> Credentials {
    switch self {
    case .user(let argument):
      let pair = try UserAndPassword(
        argument.bytes, argument.named("-u"), askingFor: "the server", input)
      return .basic(user: pair.user, password: pair.password)
    case .token(let argument): return .bearer(try argument.token())
    case .userFile(let file) where input.leavesOut(file): return .basic(user: "", password: "")
    case .tokenFile(let file) where input.leavesOut(file): return .bearer("")
    case .userFile(let file):
      let secrets = try input.secretFile(file, for: "--user-file", &notes)
      let pair = try UserAndPassword(try secrets.onlyLine(), "The file of --user-file")
      return .basic(user: pair.user, password: pair.password)
    case .tokenFile(let file):
      return .bearer(try input.secretFile(file, for: "--token-file", &notes).token())
    case .tokenVariable(let name): return .bearer(try name.tokenInEnvironment())
    }
  }
}

extension Netrc {
  /// The file that flags name, or `~/.netrc`; nil if none is used.
  fileprivate init?(
    _ arguments: RequestArguments, _ input: InputReader, _ notes: inout [String]
  ) throws(Failure) {
    guard arguments.usesNetrc else { return nil }
    let flag = arguments.netrcFile == nil ? "--netrc" : "--netrc-file"
    let file: Argument
    if let named = arguments.netrcFile {
      file = named
    } else if let home = environmentVariable("HOME"), !home.isEmpty {
      file = Argument("\(home)/.netrc")
    } else if arguments.isNetrcOptional {
      return nil
    } else {
      throw .usage("HOME is not set, so there is no ~/.netrc: name the file with --netrc-file.")
    }
    if input.leavesOut(file) { return nil }
    if arguments.isNetrcOptional, !file.isDash, !exists(file.path) { return nil }
    guard let text = try input.secretFile(file, for: flag, &notes).text else {
      throw .usage("The file of \(flag) is not UTF-8: convert it, for example with iconv.")
    }
    self = try convertingErrors { () throws(TransferError) in try Netrc(parsing: text) }
    scheme = arguments.passwordScheme ?? .basic
  }
}

extension Argument {
  /// The token in the environment variable of this name. No message shows the name: if the user types a `$` before the
  /// name, the shell replaces both with the token.
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
