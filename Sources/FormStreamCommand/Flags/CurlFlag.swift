/// curl's flags that are none here, and what to do instead: fingers know them.
enum CurlFlag {
  /// What to do instead of a flag of curl's; nil where there is nothing to say.
  static func hint(_ long: String) -> String? {
    all.first { $0.long.contains(long) }?.hint
  }

  static func hint(_ short: Character) -> String? {
    all.first { $0.short == short }?.hint
  }

  private struct Entry {
    var short: Character?
    var long: [String]
    /// What follows the colon of the sentence.
    let hint: String

    init(_ short: Character?, _ long: String..., hint: String) {
      (self.short, self.long, self.hint) = (short, long, hint)
    }
  }

  private static let all = [
    Entry("k", hint: "--insecure is it, to be written out; --cacert FILE is nearly always better."),
    Entry("s", "silent", hint: "-q leaves out notes and progress; errors are always told."),
    Entry("S", "show-error", hint: "errors are always told."),
    Entry(
      "f", "fail", "fail-with-body",
      hint: "leave it out; the exit code tells, and the answer is printed all the same."),
    Entry(
      "i", "include", "show-headers",
      hint: "-v shows the heads on standard error, --json has the answer's headers in a record."),
    Entry("D", "dump-header", hint: "-v shows the heads, --json has them in a record."),
    Entry(
      "I", "head", hint: "no other requests are sent than those with a body; -v shows the heads."),
    Entry("w", "write-out", hint: "--json prints a record that has status, bytes and seconds."),
    Entry(
      "G", "get",
      hint: "nothing is asked by GET; --query NAME=VALUE adds to the URL of what is sent."),
    Entry("b", "cookie", hint: "-H 'Cookie: NAME=VALUE', or better --header-file FILE, sends one."),
    Entry("c", "cookie-jar", hint: "cookies are not kept; --json and -o leave nothing of them."),
    Entry("j", "junk-session-cookies", hint: "cookies are not kept."),
    Entry(
      "x", "proxy", "proxy1.0", "preproxy", "socks5", "socks5-hostname", "socks4", "socks4a",
      hint: "there are no proxies; requests go straight to the server."),
    Entry("U", "proxy-user", hint: "there are no proxies; requests go straight to the server."),
    Entry(nil, "noproxy", hint: "leave it out; proxies are never used."),
    Entry("p", "proxytunnel", hint: "there are no proxies; requests go straight to the server."),
    Entry("m", hint: "--max-time S is it, to be written out."),
    Entry(nil, "compressed", hint: "no coding is asked for; answers are taken as they are."),
    Entry(nil, "oauth2-bearer", hint: "--token-file FILE takes the token from a file."),
    Entry(
      nil, "retry-all-errors", "retry-connrefused",
      hint:
        "--retry tries again where that does no harm, --retry-unsafe even where it may."),
    Entry(
      nil, "retry-delay",
      hint: "the wait doubles and is drawn at random; a server's Retry-After goes before it."),
    Entry(nil, "url", hint: "the URL stands by itself, without a flag."),
    Entry(nil, "url-query", hint: "--query NAME=VALUE does the same."),
    Entry(nil, "data-ascii", hint: "-d does the same."),
    Entry(nil, "form-string", hint: "--field does the same."),
    Entry(nil, "form-escape", hint: "--escaping backslash does the same."),
    Entry(
      nil, "digest",
      hint:
        "--sha256 hashes the body as it goes out; curl means the login of that name, which is not "
        + "there, and -u would send the password as it is."),
    Entry(
      nil, "basic", hint: "leave it out; -u and --user-file are Basic."),
    Entry(
      nil, "anyauth", "ntlm", "negotiate", "aws-sigv4",
      hint: "there are Basic (--user-file) and Bearer (--token-file) alone."),
    Entry("n", "netrc", "netrc-file", "netrc-optional", hint: "--user-file FILE takes USER:PASS."),
    Entry("0", "http1.0", hint: "HTTP/1.1 and HTTP/2 are spoken, --http1.1 and --http2 choose."),
    Entry(
      nil, "http2-prior-knowledge", hint: "--http2 does the same where the URL begins with http:."),
    Entry(nil, "http3", "http3-only", hint: "HTTP/1.1 and HTTP/2 are spoken."),
    Entry("1", "tlsv1", "tlsv1.2", "tlsv1.3", hint: "TLS 1.2 is the least that is spoken."),
    Entry("2", "sslv2", hint: "TLS 1.2 is the least that is spoken."),
    Entry("3", "sslv3", hint: "TLS 1.2 is the least that is spoken."),
    Entry(
      "4", "ipv4", hint: "--resolve HOST:PORT:ADDRESS names the address to take."),
    Entry(
      "6", "ipv6", hint: "--resolve HOST:PORT:ADDRESS names the address to take."),
    Entry(
      nil, "connect-to", "interface", hint: "--resolve HOST:PORT:ADDRESS names the address to take."
    ),
    Entry("e", "referer", hint: "-H 'Referer: URL' does the same."),
    Entry("r", hint: "--range START:LENGTH, behind a part, sends a piece of its file."),
    Entry("g", "globoff", hint: "leave it out; [ ] { } are nothing special here."),
    Entry("a", "append", hint: "there is no FTP."),
    Entry("O", "remote-name", hint: "-o FILE names the file."),
    Entry("J", "remote-header-name", hint: "-o FILE names the file."),
    Entry(
      "C", "continue-at", hint: "uploads begin at the first byte; --range sends a piece of a file."),
    Entry("N", "no-buffer", hint: "leave it out; the answer is written as it comes."),
    Entry("#", "progress-bar", hint: "--progress bar does the same."),
    Entry(nil, "no-progress-meter", hint: "--progress none does the same."),
    Entry("y", "speed-time", hint: "--stall-timeout S is the time without a byte."),
    Entry("Y", "speed-limit", hint: "--stall-timeout S is the time without a byte."),
    Entry(nil, "location-trusted", hint: "to another server go no credentials, with -L either."),
    Entry("Z", "parallel", hint: "a command sends one request."),
    Entry(":", "next", hint: "a command sends one request."),
    Entry(
      nil, "libcurl", "trace", "trace-ascii", hint: "-v shows the heads, --to-curl a line of curl."),
  ]
}

/// Words that people write where a command stands.
enum OtherVerb {
  /// What to write instead; nil where there is nothing to say.
  static func hint(_ word: String) -> String? {
    if word.contains("://") {
      return "write what is to be done before it: formstream post \(Self.shown(word))"
    }
    let plain = word.lowercased()
    if let verb = Verb(rawValue: plain) {
      return "write it in small letters: formstream \(verb.rawValue)"
    }
    return switch plain {
    case "send", "upload": "formstream post sends, formstream put does so by PUT"
    case "patch", "delete": "formstream post -X \(plain.uppercased()) does that"
    case "get", "head", "download", "fetch": "formstream post and put send, and nothing gets"
    case "decode", "read": "formstream parse reads a body that was received"
    case "serve", "server", "listen": "formstream receive takes uploads"
    default: nil
    }
  }

  /// What stands before an @ may be a password.
  private static func shown(_ url: String) -> String { url.contains("@") ? "URL" : url }
}
