/// curl's flags that formstream does not have, and what to use instead.
enum CurlFlag {
  /// What to use instead of a flag; nil if curl has no such flag, or there is no suggestion.
  static func hint(_ long: String) -> String? {
    all.first { $0.long.contains(long) }?.hint
  }

  static func hint(_ short: Character) -> String? {
    all.first { $0.short == short }?.hint
  }

  private struct Entry {
    var short: Character?
    var long: [String]
    /// The sentence after the colon of the message.
    let hint: String

    init(_ short: Character?, _ long: String..., hint: String) {
      (self.short, self.long, self.hint) = (short, long, hint)
    }
  }

  private static let all = [
    Entry("s", "silent", hint: "-q leaves out notes and progress; errors are always printed."),
    Entry("S", "show-error", hint: "errors are always printed."),
    Entry(
      "f", "fail", "fail-with-body",
      hint: "leave it out; the exit code says so, and the response is printed anyway."),
    Entry(
      "i", "include", "show-headers",
      hint: "-v prints the headers on standard error, --json prints them in a record."),
    Entry("D", "dump-header", hint: "-v prints the headers, --json prints them in a record."),
    Entry("I", "head", hint: "-v prints the headers, --json prints them in a record."),
    Entry("w", "write-out", hint: "--json prints a record with status, bytes and seconds."),
    Entry(
      "G", "get",
      hint: "formstream get sends GET requests; --query NAME=VALUE adds to the URL."),
    Entry(
      "j", "junk-session-cookies",
      hint: "leave it out; all cookies in the file of -b are used, also those without an end."),
    Entry(
      nil, "proxy1.0", "preproxy", "socks4", "socks4a",
      hint: "--proxy has proxies of http, https, socks5 and socks5h, one at a time."),
    Entry(
      "p", "proxytunnel",
      hint: "leave it out; only https URLs are reached through a tunnel, and always."),
    Entry(nil, "proxy-basic", "socks5-basic", hint: "leave it out; --proxy-user uses Basic."),
    Entry(
      nil, "proxy-anyauth", "proxy-digest", "proxy-ntlm", "proxy-negotiate", "socks5-gssapi",
      hint: "only Basic is supported for proxies (--proxy-user-file)."),
    Entry(
      nil, "proxy-insecure", "proxy-capath",
      hint: "--proxy-cacert FILE names the authorities to trust for a proxy of https."),
    Entry(nil, "proxy-header", hint: "only --proxy-user is sent to a proxy."),
    Entry("m", hint: "write --max-time S in full."),
    Entry(
      nil, "retry-all-errors", "retry-connrefused",
      hint:
        "--retry repeats requests if that is safe, --retry-unsafe also if it is not."),
    Entry(
      nil, "retry-delay",
      hint: "the wait doubles each time and is random; a server's Retry-After takes precedence."),
    Entry(
      nil, "url",
      hint: "write the URL without a flag; --url-file FILE reads one that is a secret."),
    Entry(nil, "url-query", hint: "--query NAME=VALUE does the same."),
    Entry(nil, "data-ascii", hint: "-d does the same."),
    Entry(nil, "form-string", hint: "--field does the same."),
    Entry(nil, "form-escape", hint: "--escaping backslash does the same."),
    Entry(
      nil, "ntlm", "negotiate", "aws-sigv4",
      hint: "only Basic, Digest (--digest) and Bearer (--token-file) are supported."),
    Entry(
      "0", "http1.0",
      hint: "--http1.1 and --http2 choose the version; older ones are not supported."),
    Entry(
      nil, "http2-prior-knowledge", hint: "--http2 does the same if the URL begins with http:."),
    Entry(nil, "http3", "http3-only", hint: "only HTTP/1.1 and HTTP/2 are supported."),
    Entry(
      "1", "tlsv1", "tlsv1.0", "tlsv1.1",
      hint: "TLS 1.2 is the oldest version that is supported; --tlsv1.3 demands a newer one."),
    Entry("2", "sslv2", hint: "TLS 1.2 is the oldest version that is supported."),
    Entry("3", "sslv3", hint: "TLS 1.2 is the oldest version that is supported."),
    Entry(nil, "connect-to", hint: "--resolve HOST:PORT:ADDRESS sets the address."),
    Entry(
      nil, "local-port", hint: "--interface NAME sets the address; the system chooses the port."),
    Entry("e", "referer", hint: "-H 'Referer: URL' does the same."),
    Entry("r", hint: "--range OFF:LEN, after a part, sends a piece of its file."),
    Entry("g", "globoff", hint: "leave it out; [ ] { } are not special here."),
    Entry("a", "append", hint: "FTP is not supported."),
    Entry("O", hint: "-o FILE names the file."),
    Entry("J", hint: "-o FILE names the file."),
    Entry(
      nil, "remote-header-name",
      hint: "formstream get has -J for it, and other commands -o FILE."),
    Entry(nil, "no-clobber", hint: "only -J of formstream get never replaces a file."),
    Entry("C", hint: "uploads start at the first byte; --range sends a piece of a file."),
    Entry("N", "no-buffer", hint: "leave it out; the response is written while it arrives."),
    Entry("#", "progress-bar", hint: "--progress bar does the same."),
    Entry(nil, "no-progress-meter", hint: "--progress none does the same."),
    Entry("y", "speed-time", hint: "--stall-timeout S limits the time without a byte."),
    Entry("Y", "speed-limit", hint: "--stall-timeout S limits the time without a byte."),
    Entry(
      nil, "location-trusted", hint: "credentials are never sent to another server, even with -L."),
    Entry("Z", "parallel", hint: "requests are sent one after another."),
    Entry(":", "next", hint: "all flags are for all URLs of a command."),
    Entry(
      nil, "libcurl", "trace", "trace-ascii",
      hint: "-v prints the headers, --to-curl a curl command line."),
  ]
}
