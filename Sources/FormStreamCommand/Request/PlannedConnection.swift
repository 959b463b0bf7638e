import FormStreamPlatform
import FormStreamHTTP

extension TransferSession.Configuration {
  /// The settings of the session that sends requests to a URL. Warnings about files that contain secrets are added to
  /// `notes`.
  init(
    _ arguments: RequestArguments, for url: HTTPURL, _ input: InputReader, _ notes: inout [String]
  ) throws(Failure) {
    self = arguments.session
    sharesCredentials = true
    tls.passphrase = try arguments.passphrase?.text(input, &notes)
    tls.trustEnvironment(for: url)
    proxy = try ProxySettings(
      arguments.proxy, for: url, hasSocket: unixSocket != nil, input, &notes)
    let name = try convertingErrors { [proxy] () throws(TransferError) in
      try proxy.proxyName(for: url)
    }
    if arguments.isDryRun, unixSocket == nil, let name {
      notes.append("The request would go through the proxy \(name).")
    }
  }
}

extension PassphraseArgument {
  fileprivate func text(
    _ input: InputReader, _ notes: inout [String]
  ) throws(Failure) -> String {
    switch self {
    case .phrase(let phrase): return try phrase.text(for: "--pass")
    case .file(let file) where input.leavesOut(file): return ""
    case .file(let file):
      let secrets = try input.secretFile(file, for: "--pass-file", &notes)
      guard let phrase = String(validating: try secrets.onlyLine(), as: UTF8.self) else {
        throw .usage("The file of --pass-file holds no passphrase: it is not UTF-8.")
      }
      return phrase
    }
  }
}

extension ProxySettings {
  /// - Parameter hasSocket: whether the connection is to the socket of `--unix-socket`.
  fileprivate init(
    _ arguments: ProxyArguments, for url: HTTPURL, hasSocket: Bool, _ input: InputReader,
    _ notes: inout [String]
  ) throws(Failure) {
    switch arguments.address {
    case nil: self = .environment()
    case .url(let argument) where argument.bytes.isEmpty: self = .none
    case .url(let argument): self = try .proxy(argument, "-x", scheme: "")
    case .host(let scheme, let argument):
      self = try .proxy(argument, ProxyArguments.flag(of: scheme), scheme: scheme + "://")
    }
    if isExplicit, hasSocket {
      throw .usage(
        "A proxy can't be reached over --unix-socket: leave out the proxy or the socket.")
    }
    if let hosts = arguments.exceptions { self = except(try hosts.text(for: "--noproxy")) }
    credentials = try arguments.credentials?.ofProxy(
      withPassword: !hasUsersOnly(for: url), input, &notes)
    authorities = arguments.authorities?.path
    if losesPassword(for: url) {
      // The environment applies to all commands, so a proxy from the environment is no reason to fail.
      guard arguments.credentials == nil, !isExplicit else {
        throw .usage(
          "A proxy of SOCKS4 gets a user, and no password: leave the password out, or use a proxy of SOCKS5."
        )
      }
      notes.append(
        "The environment's proxy is one of SOCKS4, which gets the user, and not the password: use a proxy of SOCKS5 if it is to get both."
      )
    }
  }

  private static func proxy(
    _ argument: Argument, _ flag: String, scheme: String
  ) throws(Failure) -> ProxySettings {
    // As in curl, the environment's exceptions apply to every proxy.
    let exceptions = ["no_proxy", "NO_PROXY"].lazy.compactMap(environmentVariable)
      .first { !$0.isEmpty }
    guard let text = argument.text,
      let settings = try? ProxySettings.proxy(scheme + text, except: exceptions ?? "")
    else {
      let form =
        scheme.isEmpty
        ? "[SCHEME://]HOST[:PORT], with the scheme http, https, socks4, socks4a, socks5 or socks5h"
        : "HOST[:PORT]"
      throw .usage("\(argument.named(flag)) is not a proxy that can be used: write \(form).")
    }
    return settings
  }
}

extension CredentialsArgument {
  /// - Parameter hasPassword: whether the proxy gets a password; otherwise a user alone is enough.
  fileprivate func ofProxy(
    withPassword hasPassword: Bool, _ input: InputReader, _ notes: inout [String]
  ) throws(Failure) -> ProxyCredentials? {
    let pair: UserAndPassword
    let mark = UInt8(ascii: ":")
    func complete(_ bytes: [UInt8]) -> [UInt8] {
      hasPassword || bytes.contains(mark) ? bytes : bytes + [mark]
    }
    switch self {
    case .user(let argument):
      pair = try UserAndPassword(
        complete(argument.bytes), argument.named("-U"), askingFor: "the proxy", input)
    case .userFile(let file) where !input.leavesOut(file):
      let secrets = try input.secretFile(file, for: "--proxy-user-file", &notes)
      pair = try UserAndPassword(complete(try secrets.onlyLine()), "The file of --proxy-user-file")
    default: return nil
    }
    return ProxyCredentials(user: pair.user, password: pair.password)
  }
}
