import FormStreamMultipart
import FormStreamPlatform

/// Settings of a session that are out of range, or contradict each other.
extension TransferError {
  static func engineCountOutOfRange(_ count: Int) -> TransferError {
    TransferError(
      .invalidSetting, on: "engines", "A session can't have \(count) engines: use 1 to 64.")
  }

  static func connectionCountTooSmall(_ count: Int) -> TransferError {
    TransferError(
      .invalidSetting, on: "maximumConnectionsPerHost",
      "A session can't have \(count) connections to a host: allow 1 or more.")
  }

  static func controlCharacterInUserAgent(_ userAgent: String) -> TransferError {
    TransferError(
      .invalidSetting, on: "userAgent",
      "The user agent \(userAgent.quoted) contains a control character: remove it.")
  }

  static func exceptionUnusable(_ word: String) -> TransferError {
    TransferError(
      .invalidSetting, on: "unencryptedHosts",
      "The exception \(word.quoted) in unencryptedHosts matches no host, or all: name a host without scheme, port and wildcard "
        + "(xn--… if it is not ASCII), an address without brackets, or a block such as 10.0.0.0/8.")
  }

  static let exceptionsWithoutRule = TransferError(
    .invalidSetting, on: "unencryptedHosts",
    "The session has exceptions (unencryptedHosts), but not the rule: set requiresHTTPS, or leave the exceptions out.")

  static func bufferSizeOutOfRange(_ size: Int) -> TransferError {
    TransferError(
      .invalidSetting, on: "uploadBufferSize",
      "The upload buffer can't have \(counted(size, "byte", "bytes")): use 16 KiB to 2 MiB.")
  }

  static func keepAliveTimeOutOfRange(_ time: Duration) -> TransferError {
    TransferError(
      .invalidSetting, on: "keepAliveTime",
      "The time until keep-alive probes can't be \(time.inSeconds): use 1 to 32767 seconds.")
  }

  static let interfaceMalformed = TransferError(
    .invalidSetting, on: "localInterface",
    "The interface (\(SettingName.localInterface)) is empty, has more than 254 bytes, or has a NUL in it: name one, or "
      + "an address.")

  static let certificatesNotDecidable = TransferError(
    .invalidSetting, on: "serverTrust",
    "This libcurl doesn't use the OpenSSL that this program uses, so that no program can decide on certificates: leave "
      + "serverTrust out, or install libcurl4-openssl.")
}

/// Settings of TLS.
extension TransferError {
  static func noTLSVersionLeft(_ settings: TLSSettings, newest: TLSSettings.Version)
    -> TransferError
  {
    TransferError(
      .invalidSetting, on: "maximumVersion",
      "No version of TLS is left: the newest one that is allowed (\(SettingName.maximumTLSVersion)) is "
        + "\(newest), and the oldest one (\(SettingName.minimumTLSVersion)) is \(settings.minimumVersion)."
    )
  }

  static let nulInPassphrase = TransferError(
    .invalidSetting, on: "passphrase",
    "The passphrase of the client's key has a NUL in it: remove it.")

  /// - Parameter content: the kind of file that the setting needs, with its article, such as "a PEM file".
  static func fileUnreadable(
    _ path: LocalPath, of setting: SettingName, _ content: String, _ reason: SystemError
  ) -> TransferError {
    TransferError(
      .tlsFileUnusable, on: path.description,
      "The file \(path.description.quoted) of \(setting) can't be read: \(reason). Name \(content)."
    )
  }

  static func noPublicKey(in path: LocalPath) -> TransferError {
    TransferError(
      .tlsFileUnusable, on: path.description,
      "The file \(path.description.quoted) has no public key (\(SettingName.pin)): name one as openssl pkey -pubout "
        + "writes it, PEM or DER.")
  }
}

/// Settings of proxies.
extension TransferError {
  static let invalidProxy = invalidProxy("The proxy")

  static func invalidProxy(ofVariable name: String) -> TransferError {
    invalidProxy("The environment's \(name)")
  }

  private static func invalidProxy(_ what: String) -> TransferError {
    // The proxy is not shown, because its text may contain a password.
    TransferError(
      .invalidSetting, on: "proxy",
      "\(what) is not one that can be used: write [SCHEME://]HOST[:PORT], with the scheme "
        + "\(Proxy.Kind.allCases.map(\.rawValue).joined(separator: ", ")).")
  }

  static let colonInUserOfProxy = TransferError(
    .invalidSetting, on: "proxy",
    "The user for the proxy contains a colon, and the proxy would take what comes after it for the password: use another "
      + "user.")

  static let controlCharacterInCredentialsOfProxy = TransferError(
    .invalidSetting, on: "proxy",
    "The user or the password for the proxy has a control character in it: remove it.")

  static func authoritiesOfProxyUnreadable(_ path: LocalPath, _ reason: SystemError)
    -> TransferError
  {
    TransferError(
      .tlsFileUnusable, on: path.description,
      "The file \(path.description.quoted) with the proxy's authorities can't be read: \(reason). Name a PEM file."
    )
  }

  static let proxyBesideSocket = TransferError(
    .invalidSetting, on: "unixSocket",
    "A proxy can't be reached over a Unix-domain socket: set a proxy or a socket, not both.")
}

/// Files of users, passwords and cookies.
extension TransferError {
  static func netrcMalformed(line: Int) -> TransferError {
    TransferError(
      .netrcMalformed, on: "netrc",
      "Line \(line) of the netrc file is not valid: write machine HOST login USER password PASSWORD, with words "
        + "that have blanks in double quotes.")
  }

  static func notACookie(line: Int, of path: LocalPath) -> TransferError {
    cookiesUnusable(
      line, path,
      "is no cookie: a cookie has seven fields with tabs between them, or begins with Set-Cookie:.")
  }

  static func cookieTooLong(line: Int, of path: LocalPath, limit: Int) -> TransferError {
    cookiesUnusable(
      line, path, "is a cookie of more than \(counted(limit, "byte", "bytes")), which can't be sent: remove it.")
  }

  static func controlCharacterInCookie(line: Int, of path: LocalPath) -> TransferError {
    cookiesUnusable(
      line, path, "is a cookie with a control character, which servers refuse: remove it.")
  }

  static func cookieOfNoHost(line: Int, of path: LocalPath) -> TransferError {
    cookiesUnusable(
      line, path, "is a cookie that names no host: add Domain=HOST to the line, or say which host the file is from.")
  }

  private static func cookiesUnusable(
    _ line: Int, _ path: LocalPath, _ fault: String
  ) -> TransferError {
    TransferError(
      .cookiesUnusable, on: path.description,
      "Line \(line) of the file \(path.description.quoted) \(fault)")
  }

  static func cookiesNotWritten(to path: LocalPath, _ error: any Error) -> TransferError {
    TransferError(
      .cookiesUnusable, on: path.description,
      "The cookies could not be written to \(path.description.quoted): \(error).",
      underlying: error)
  }

  static let noCookiesKept = TransferError(
    .invalidSetting, on: "cookies",
    "The session keeps no cookies, so there are none to save: set its configuration's cookies.")
}
