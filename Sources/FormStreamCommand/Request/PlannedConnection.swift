import FormStreamPlatform
import FormStreamHTTP

extension LowArguments {
  /// The settings of the session that sends a request to a URL. Warnings about files that hold secrets are added to
  /// `notes`.
  func sessionConfiguration(
    for url: HTTPURL, _ notes: inout [String]
  ) throws(Failure) -> TransferSession.Configuration {
    var configuration = request.session
    configuration.sharesCredentials = true
    configuration.tls.passphrase = try passphrase(&notes)
    configuration.tls.trustEnvironment(for: url)
    configuration.proxy = try proxySettings(for: url, &notes)
    let name = try convertingErrors { () throws(TransferError) in
      try configuration.proxy.proxyName(for: url)
    }
    if isDryRun, configuration.unixSocket == nil, let name {
      notes.append("The request would go through the proxy \(name).")
    }
    return configuration
  }

  private func passphrase(_ notes: inout [String]) throws(Failure) -> String? {
    switch request.passphrase {
    case nil: return nil
    case .phrase(let phrase): return try phrase.text(for: "--pass")
    case .file(let file) where !sendsRequest && file.isDash: return ""
    case .file(let file):
      let secrets = try secretFile(file, for: "--pass-file")
      notes += secrets.warnings
      guard let phrase = String(validating: try secrets.onlyLine(), as: UTF8.self) else {
        throw .usage("The file of --pass-file holds no passphrase: it is not UTF-8.")
      }
      return phrase
    }
  }

  private func proxySettings(
    for url: HTTPURL, _ notes: inout [String]
  ) throws(Failure) -> ProxySettings {
    let arguments = request.proxy
    var settings: ProxySettings
    switch arguments.address {
    case nil: settings = .environment()
    case .url(let argument) where argument.bytes.isEmpty: settings = .none
    case .url(let argument): settings = try proxy(argument, "-x", scheme: "")
    case .host(let scheme, let argument):
      settings = try proxy(argument, ProxyArguments.flag(of: scheme), scheme: scheme + "://")
    }
    if settings.isExplicit, request.session.unixSocket != nil {
      throw .usage(
        "A proxy can't be reached over --unix-socket: leave out the proxy or the socket.")
    }
    if let hosts = arguments.exceptions {
      settings = settings.except(try hosts.text(for: "--noproxy"))
    }
    settings.credentials = try proxyCredentials(
      withPassword: !settings.hasUsersOnly(for: url), &notes)
    settings.authorities = arguments.authorities?.path
    if settings.losesPassword(for: url) {
      // The environment is that of all commands.
      guard arguments.credentials == nil, !settings.isExplicit else {
        throw .usage(
          "A proxy of SOCKS4 gets a user, and no password: leave the password out, or use a proxy of SOCKS5."
        )
      }
      notes.append(
        "The environment's proxy is one of SOCKS4, which gets the user, and not the password: use a proxy of SOCKS5 if it is to get both."
      )
    }
    return settings
  }

  private func proxy(
    _ argument: Argument, _ flag: String, scheme: String
  ) throws(Failure) -> ProxySettings {
    // As in curl, the environment's exceptions hold for every proxy.
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

  /// - Parameter hasPassword: whether the proxy gets a password; otherwise a user alone is enough.
  private func proxyCredentials(
    withPassword hasPassword: Bool, _ notes: inout [String]
  ) throws(Failure) -> ProxyCredentials? {
    let (user, password): (String, String)
    let mark = UInt8(ascii: ":")
    func complete(_ bytes: [UInt8]) -> [UInt8] {
      hasPassword || bytes.contains(mark) ? bytes : bytes + [mark]
    }
    switch request.proxy.credentials {
    case .user(let argument):
      (user, password) = try userAndPassword(
        complete(argument.bytes), argument.named("-U"), askedFor: "the proxy")
    case .userFile(let file) where !(!sendsRequest && file.isDash):
      let secrets = try secretFile(file, for: "--proxy-user-file")
      notes += secrets.warnings
      (user, password) = try userAndPassword(
        complete(try secrets.onlyLine()), "The file of --proxy-user-file")
    default: return nil
    }
    return ProxyCredentials(user: user, password: password)
  }
}
