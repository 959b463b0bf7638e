/// curl's flags that formstream does not list as its own, and what they mean here.
enum CurlFlag {
  enum Meaning {
    /// Another name of a flag. If curl's flag takes no value, `value` is the value that it stands for.
    case same(as: String, value: String? = nil)
    /// The flag changes nothing: formstream always does what the flag asks for.
    case always
    /// The flag changes nothing with this value: formstream always does what the flag asks for. Other values are
    /// refused.
    case only(String, hint: String)
    /// The flag is refused. The hint says what to use instead, and stands after the colon of the message.
    case refused(hint: String)
  }

  /// Nil if curl has no such flag, or nothing is known about it.
  static func meaning(_ long: String) -> Meaning? {
    all.first { $0.long.contains(long) }?.meaning
  }

  static func meaning(_ short: Character) -> Meaning? {
    all.first { $0.short == short }?.meaning
  }

  /// What to use instead of a flag; nil if the flag is accepted, or if there is no suggestion.
  static func hint(_ short: Character) -> String? {
    if case .refused(let hint)? = meaning(short) { hint } else { nil }
  }

  /// The long names that stand for flags of formstream.
  static var otherNames: [String] {
    accepted.filter { if case .same = $0.meaning { true } else { false } }.flatMap(\.long)
  }

  private struct Entry {
    var short: Character?
    let long: [String]
    let meaning: Meaning

    init(_ short: Character?, _ long: String..., is meaning: Meaning) {
      (self.short, self.long, self.meaning) = (short, long, meaning)
    }

    init(_ short: Character?, _ long: String..., hint: String) {
      (self.short, self.long, meaning) = (short, long, .refused(hint: hint))
    }
  }

  private static let all = accepted + refused + foreign

  /// Flags of curl that are accepted: other names of formstream's flags, and flags that change nothing.
  private static let accepted = [
    Entry(nil, "form-string", is: .same(as: "field")),
    Entry(nil, "form-escape", is: .same(as: "escaping", value: "backslash")),
    Entry(nil, "data-ascii", is: .same(as: "data")),
    Entry("#", "progress-bar", is: .same(as: "progress", value: "bar")),
    Entry(nil, "no-progress-meter", is: .same(as: "progress", value: "none")),
    Entry(nil, "remote-header-name", is: .same(as: "remote-name-safe")),
    Entry(nil, "show-headers", is: .same(as: "include")),
    // This is not a flag of curl, but the former name of --response-timeout.
    Entry(nil, "answer-timeout", is: .same(as: "response-timeout")),
    // The response of a refused request is printed, and the exit code says that it was refused.
    Entry(nil, "fail-with-body", is: .always),
    // The response is written while it arrives.
    Entry("N", "no-buffer", is: .always),
    // A configuration file is read only if it is named.
    Entry(nil, "disable", is: .always),
    // A file gets its name only when it is complete.
    Entry(nil, "remove-on-error", is: .always),
    // If a connection is refused, nothing was sent, so --retry tries again in any case.
    Entry(nil, "retry-connrefused", is: .always),
    Entry(nil, "proxy-basic", "socks5-basic", is: .always),
    Entry(nil, "suppress-connect-headers", is: .always),
    Entry(nil, "tcp-nodelay", is: .always),
    // A response without a status line is no response.
    Entry(nil, "no-http0.9", is: .always),
    // NPN is gone from TLS, and the other flags are for Windows.
    Entry(
      nil, "no-npn", "ssl-no-revoke", "ssl-revoke-best-effort", "ssl-auto-client-cert",
      "proxy-ssl-auto-client-cert", is: .always),
    Entry(nil, "styled-output", "no-styled-output", is: .always),
    Entry(
      nil, "cert-type", "key-type",
      is: .only("PEM", hint: "certificates and keys are read as PEM; openssl makes PEM of others.")
    ),
  ]

  private static let refused = [
    Entry(
      nil, "proxy1.0", "preproxy",
      hint:
        "--proxy has proxies of http, https, socks4, socks4a, socks5 and socks5h, one at a time."),
    Entry(
      "p", "proxytunnel",
      hint: "leave it out; only https URLs are reached through a tunnel, and always."),
    Entry(nil, "proto-default", hint: "write http:// or https:// before the URL."),
    Entry(
      nil, "proxy-anyauth", "proxy-digest", "proxy-ntlm", "proxy-negotiate", "socks5-gssapi",
      "socks5-gssapi-nec", "socks5-gssapi-service", "proxy-service-name",
      hint: "only Basic is supported for proxies (--proxy-user-file)."),
    Entry(
      nil, "proxy-insecure", "proxy-capath", "proxy-crlfile", "proxy-pinnedpubkey",
      "proxy-ciphers", "proxy-tls13-ciphers", "proxy-tlsv1", "proxy-ssl-allow-beast",
      hint: "--proxy-cacert FILE names the authorities to trust for a proxy of https."),
    Entry(
      nil, "proxy-cert", "proxy-cert-type", "proxy-key", "proxy-key-type", "proxy-pass",
      "proxy-tlsauthtype", "proxy-tlspassword", "proxy-tlsuser",
      hint: "only a user and a password are sent to a proxy (--proxy-user-file)."),
    Entry(nil, "proxy-header", hint: "only --proxy-user is sent to a proxy."),
    Entry(nil, "proxy-http2", hint: "leave it out; proxies are asked by HTTP/1.1."),
    Entry(
      nil, "ntlm", "ntlm-wb", "negotiate", "delegation", "service-name",
      hint: "only Basic, Digest (--digest) and Bearer (--token-file) are supported."),
    Entry(
      nil, "aws-sigv4",
      hint:
        "requests can't be signed here; a presigned URL needs no signature, and --url-file keeps it secret."
    ),
    Entry(
      "0", "http1.0", "http0.9",
      hint: "--http1.1 and --http2 choose the version; older ones are not supported."),
    Entry(nil, "http3", "http3-only", hint: "only HTTP/1.1 and HTTP/2 are supported."),
    Entry(
      "1", "tlsv1", "tlsv1.0", "tlsv1.1",
      hint: "TLS 1.2 is the oldest version that is supported; --tlsv1.3 demands a newer one."),
    Entry("2", "sslv2", hint: "TLS 1.2 is the oldest version that is supported."),
    Entry("3", "sslv3", hint: "TLS 1.2 is the oldest version that is supported."),
    Entry(
      nil, "ciphers", "tls13-ciphers", "curves", "sigalgs", "ech", "ssl-allow-beast",
      "false-start", "engine", "egd-file", "random-file",
      hint: "the system's OpenSSL decides; the file that OPENSSL_CONF names can change it."),
    Entry(
      nil, "cert-status", "crlfile",
      hint: "revoked certificates are not looked for; --pinnedpubkey accepts one key only."),
    Entry(
      nil, "tlsauthtype", "tlspassword", "tlsuser",
      hint: "--cert FILE authenticates by a certificate, -u by a password."),
    Entry(
      nil, "no-alpn", "no-sessionid", "tcp-fastopen",
      hint: "leave it out; --http1.1 chooses the version, and the rest is the system's choice."),
    Entry(
      nil, "tls-earlydata",
      hint: "leave it out; others can send such data again, so requests wait for the handshake."),
    Entry(nil, "ssl-sessions", hint: "leave it out; sessions of TLS end with the command."),
    Entry(
      nil, "ca-native", "proxy-ca-native", "dump-ca-embed",
      hint: "leave it out; the system's authorities are trusted, unless --cacert names others."),
    Entry(
      nil, "ip-tos", "vlan-priority", "keepalive-cnt", "mptcp",
      hint: "leave it out; the system's own settings decide."),
    Entry(
      nil, "local-port", hint: "--interface NAME sets the address; the system chooses the port."),
    Entry(
      nil, "dns-interface", "dns-ipv4-addr", "dns-ipv6-addr", "dns-servers", "doh-url",
      "doh-insecure", "doh-cert-status",
      hint: "the system's resolver is asked; --resolve HOST:PORT:ADDRESS sets an address."),
    Entry(
      nil, "happy-eyeballs-timeout-ms", hint: "-4 and -6 choose addresses of one family."),
    Entry(nil, "abstract-unix-socket", hint: "--unix-socket PATH connects to one with a path."),
    Entry(
      nil, "haproxy-protocol", "haproxy-clientip",
      hint: "no proxy's greeting is sent; connect to a port that expects none."),
    Entry(
      nil, "alt-svc", "hsts",
      hint: "leave it out; requests go to the URL as it is written, so write https."),
    Entry(
      nil, "tr-encoding", "raw", "ignore-content-length",
      hint: "leave it out; --compressed asks for a compressed response."),
    Entry(
      nil, "etag-compare", "time-cond",
      hint: "-H 'If-None-Match: ETAG' and -H 'If-Modified-Since: DATE' do the same."),
    Entry("z", hint: "-H 'If-Modified-Since: DATE' does the same."),
    Entry(nil, "etag-save", hint: "-D FILE keeps the headers, -w '%header{etag}' prints it."),
    Entry(
      nil, "location-trusted",
      hint:
        "credentials are never sent to another server, even with -L: send the request to that server's URL."
    ),
    Entry(
      nil, "disallow-username-in-url",
      hint: "leave it out, and write no user into the URL."),
    Entry("r", hint: "--range OFF:LEN, after a part, sends a piece of its file."),
    Entry("J", hint: "-O names a file by the URL, and -o FILE by your choice."),
    Entry("C", hint: "uploads start at the first byte; --range sends a piece of a file."),
    Entry(nil, "no-clobber", "skip-existing", hint: "formstream get has it; here -o replaces a file."),
    Entry(nil, "out-null", hint: "-o /dev/null does the same."),
    Entry(
      "R", "remote-time", "xattr",
      hint:
        "a file gets the time at which it is written; formstream get -R sets the server's."
    ),
    Entry(nil, "create-file-mode", hint: "umask decides who may read new files."),
    Entry("y", "speed-time", hint: "--stall-timeout S limits the time without a byte."),
    Entry("Y", "speed-limit", hint: "--stall-timeout S limits the time without a byte."),
    Entry(
      "Z", "parallel", "parallel-immediate", "parallel-max", "parallel-max-host",
      hint:
        "formstream get -j N URL... gets several files at the same time, and formstream send -j N uploads several."
    ),
    Entry(nil, "variable", hint: "the variables of the shell do the same."),
    Entry(nil, "rate", hint: "formstream send --max-rate N limits the requests in a second."),
    Entry(
      nil, "fail-early",
      hint: "after a failure, the other URLs are requested as well, and the exit code is that of the worst."),
    Entry(":", "next", hint: "all flags are for all URLs of a command."),
    Entry(nil, "stderr", hint: "2> FILE of the shell does the same."),
    Entry(
      nil, "libcurl", "trace", "trace-ascii", "trace-time", "trace-ids", "trace-config",
      hint: "-v prints the headers, --to-curl a curl command line."),
    Entry("M", "manual", hint: "formstream --generate man prints the manual."),
    Entry("B", "use-ascii", "crlf", hint: "bytes are sent as they are; unix2dos makes CRLF."),
  ]

  /// Flags for other protocols.
  private static let foreign = [
    Entry(
      "a", "append", "disable-eprt", "disable-epsv", "ftp-account", "ftp-alternative-to-user",
      "ftp-create-dirs", "ftp-method", "ftp-pasv", "ftp-port", "ftp-pret", "ftp-skip-pasv-ip",
      "ftp-ssl-ccc", "ftp-ssl-ccc-mode", "ftp-ssl-control", "list-only", "quote", "krb", "ssl",
      "ssl-reqd", hint: "it is for FTP and mail, and only http and https are supported."),
    Entry("P", hint: "it is for FTP, and only http and https are supported."),
    Entry("l", hint: "it is for FTP, and only http and https are supported."),
    Entry("Q", hint: "it is for FTP, and only http and https are supported."),
    Entry(
      nil, "upload-flags", "mail-auth", "mail-from", "mail-rcpt", "mail-rcpt-allowfails", "login-options",
      "sasl-authzid", "sasl-ir", hint: "it is for mail, and only http and https are supported."),
    Entry(
      nil, "compressed-ssh", "hostpubmd5", "hostpubsha256", "knownhosts", "pubkey",
      hint: "it is for SSH, and only http and https are supported."),
    Entry(
      "t", "telnet-option", "tftp-blksize", "tftp-no-options",
      hint: "it is for Telnet and TFTP, and only http and https are supported."),
    Entry(
      nil, "ipfs-gateway", hint: "it is for IPFS, and only http and https are supported."),
    Entry(nil, "metalink", hint: "Metalink files are not supported: name the URL itself."),
  ]
}
