import FormStreamTransfer

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
    configuration.proxy = try proxySettings(&notes)
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
      let secrets = try SecretFile(file, for: "--pass-file")
      notes += secrets.warnings
      guard let phrase = String(validating: try secrets.onlyLine(), as: UTF8.self) else {
        throw .usage("The file of --pass-file holds no passphrase: it is not UTF-8.")
      }
      return phrase
    }
  }

  private func proxySettings(_ notes: inout [String]) throws(Failure) -> ProxySettings {
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
    settings.credentials = try proxyCredentials(&notes)
    settings.authorities = arguments.authorities?.path
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

  private func proxyCredentials(_ notes: inout [String]) throws(Failure) -> ProxyCredentials? {
    let (user, password): (String, String)
    switch request.proxy.credentials {
    case .user(let argument):
      (user, password) = try userAndPassword(
        argument.bytes, argument.named("-U"), askedFor: "the proxy")
    case .userFile(let file) where !(!sendsRequest && file.isDash):
      let secrets = try SecretFile(file, for: "--proxy-user-file")
      notes += secrets.warnings
      (user, password) = try userAndPassword(
        try secrets.onlyLine(), "The file of --proxy-user-file")
    default: return nil
    }
    return ProxyCredentials(user: user, password: password)
  }
}
