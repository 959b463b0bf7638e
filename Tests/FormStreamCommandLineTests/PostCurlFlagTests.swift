import FormStreamTestSupport
import Testing

/// `--to-curl` with each flag of `post`: the flag is translated, or a sentence says what curl does in its place.
@Suite struct PostCurlFlagTests {
  private enum Meaning {
    /// What the command line has because of the flag.
    case line(String)
    /// What a note says because of the flag.
    case note(String)
    /// What the message says that refuses it.
    case refused(String)
    /// Nothing: the request of curl is the same, for this reason.
    case same(because: String)
  }

  private struct Case {
    let arguments: [String]
    let meaning: Meaning
    var url = "http://h/"

    init(_ arguments: String..., url: String = "http://h/", is meaning: Meaning) {
      (self.arguments, self.url, self.meaning) = (arguments, url, meaning)
    }
  }

  private static let cases: [String: Case] = [
    "form": Case("-F", "c=d", is: .line("-F 'c=\"d\"'")),
    "field": Case("--field", "c=d", is: .line("-F 'c=\"d\"'")),
    "file": Case("--file", "c=f", is: .line("-F 'c=@\"f\"")),
    "type": Case("-F", "c=d", "--type", "x/y", is: .line(";type=x/y")),
    "filename": Case("-F", "c=@f", "--filename", "q", is: .line(";filename=\"q\"")),
    "part-header": Case("-F", "c=d", "--part-header", "X-A: 1", is: .line(";headers=\"X-A: 1\"")),
    "range": Case("-F", "c=@f", "--range", "0:1", is: .refused("--range")),
    "sniff": Case(
      "-F", "c=@f.png", "--sniff", "extension", is: .line(";type=image/png")),
    "type-for": Case("-F", "c=@f", "--type-for", "*=x/y", is: .line(";type=x/y")),
    "charset": Case("-F", "c=@f", "--charset", is: .line("charset=us-ascii")),
    "magic-file": Case(
      "-F", "c=@f", "--magic-file", "/usr/share/misc/magic.mgc", is: .line(";type=text/plain")),
    "boundary": Case("-F", "c=d", "--boundary", "B", is: .note("--boundary: curl ")),
    "escaping": Case("-F", "c=d", "--escaping", "backslash", is: .line("--form-escape")),
    "browser-text": Case("--field", "c=1\n2", "--browser-text", is: .refused("--browser-text")),
    "verify-boundary": Case(
      "-F", "c=@f", "--verify-boundary", is: .note("--verify-boundary: curl ")),
    "growing": Case("-F", "c=@f", "--growing", is: .note("--growing: curl ")),
    "verify-growing": Case("-F", "c=@f", "--verify-growing", is: .note("--verify-growing: curl ")),
    "upload-file": Case("-T", "f", is: .line("-T f")),
    "globoff": Case("-T", "f", "-g", url: "http://h/[1]", is: .line("--globoff")),
    "data": Case("-d", "c", is: .line("-d c")),
    "data-raw": Case("--data-raw", "c", is: .line("--data-raw c")),
    "data-binary": Case("--data-binary", "c", is: .line("--data-binary c")),
    "data-urlencode": Case("--data-urlencode", "c", is: .line("--data-urlencode c")),
    "json-body": Case("--json-body", "1", is: .line("--json 1")),
    "compressed-upload": Case(
      "-d", "a", "--compressed-upload", "gzip", is: .refused("--compressed-upload")),
    "request": Case("-d", "a", "-X", "PATCH", is: .line("-X PATCH")),
    "header": Case("-d", "a", "-H", "X-A: 1", is: .line("-H 'X-A: 1'")),
    "header-file": Case("-d", "a", "--header-file", "headers", is: .line("-H @headers")),
    "url-file": Case("-d", "a", "--url-file", "url", url: "", is: .line("\"$(cat -- url)\"")),
    "user-agent": Case("-d", "a", "-A", "me", is: .line("-A me")),
    "query": Case("-d", "a", "--query", "b=c", is: .line("?b=c")),
    "url-query": Case("-d", "a", "--url-query", "b=c", is: .line("?b=c")),
    "get": Case("-d", "a", "-G", is: .line("curl 'http://h/?a'")),
    "head": Case("-I", is: .line("--head")),
    "url": Case("-d", "a", "--url", "http://h/u", url: "", is: .line("http://h/u")),
    "path-as-is": Case("-d", "a", "--path-as-is", is: .line("--path-as-is")),
    "request-target": Case("-d", "a", "--request-target", "*", is: .line("--request-target '*'")),
    "referer": Case("-d", "a", "-e", "http://r/", is: .line("Referer: http://r/")),
    "proto": Case("-d", "a", "--proto", "=https", url: "https://h/", is: .line("--proto =https")),
    "proto-redir": Case("-d", "a", "--proto-redir", "=https", is: .line("--proto-redir =https")),
    "idempotency-key": Case("-d", "a", "--idempotency-key", "k", is: .line("Idempotency-Key: ")),
    "resumable": Case("-d", "a", "--resumable", is: .note("--resumable: curl's uploads ")),
    "resume-file": Case(
      "-d", "a", "--resumable", "--resume-file", "resume", is: .note("--resumable: curl's uploads ")),
    "piece-size": Case(
      "-d", "a", "--resumable", "--piece-size", "5M", is: .note("--resumable: curl's uploads ")),
    "upload-metadata": Case(
      "-d", "a", "--resumable", "--upload-metadata", "a=b", is: .note("--resumable: curl's uploads ")),
    "content-digest": Case("-d", "a", "--content-digest", is: .note("--content-digest: curl ")),
    "user": Case("-d", "a", "-u", "me:canary", is: .line("-u me ")),
    "user-file": Case("-d", "a", "--user-file", "user", is: .line("-u \"$(cat -- user)\"")),
    "basic": Case("-d", "a", "-u", "me:canary", "--basic", is: .line("--basic")),
    "digest": Case("-d", "a", "-u", "me:canary", "--digest", is: .line("--digest")),
    "anyauth": Case("-d", "a", "-u", "me:canary", "--anyauth", is: .line("--anyauth")),
    "token-file": Case("-d", "a", "--token-file", "token", is: .line("$(cat -- token)")),
    "token-env": Case("-d", "a", "--token-env", "HOME", is: .line("--oauth2-bearer \"$HOME\"")),
    "oauth2-bearer": Case("-d", "a", "--oauth2-bearer", "canary", is: .refused("--token-file")),
    "netrc": Case("-d", "a", "-n", is: .line("--netrc")),
    "netrc-optional": Case("-d", "a", "--netrc-optional", is: .line("--netrc-optional")),
    "netrc-file": Case("-d", "a", "--netrc-file", ".netrc", is: .line("--netrc-file .netrc")),
    "insecure-auth": Case(
      "-d", "a", "-u", "me:canary", "--insecure-auth", is: .same(because: "curl never warns")),
    "cookie": Case("-d", "a", "-b", "f", is: .line("-b f")),
    "cookie-jar": Case("-d", "a", "-c", "jar", is: .line("-c jar")),
    "junk-session-cookies": Case("-d", "a", "-b", "f", "-j", is: .line("--junk-session-cookies")),
    "read-ahead": Case("-d", "a", "--read-ahead", "0", is: .note("--read-ahead: curl ")),
    "spool": Case("-d", "a", "--spool", is: .note("--spool: curl ")),
    "retry": Case("-d", "a", "--retry", "1", is: .line("--retry 1")),
    "retry-max-time": Case("-d", "a", "--retry-max-time", "3", is: .line("--retry-max-time 3")),
    "retry-delay": Case("-d", "a", "--retry-delay", "3", is: .line("--retry-delay 3")),
    "max-retry-after": Case(
      "-d", "a", "--max-retry-after", "3", is: .note("--max-retry-after: curl ")),
    "retry-unsafe": Case("-d", "a", "--retry-unsafe", is: .line("--retry-all-errors")),
    "retry-all-errors": Case("-d", "a", "--retry-all-errors", is: .line("--retry-all-errors")),
    "connect-timeout": Case("-d", "a", "--connect-timeout", "3", is: .line("--connect-timeout 3")),
    "max-time": Case("-d", "a", "-m", "3", is: .line("--max-time 3")),
    "stall-timeout": Case("-d", "a", "--stall-timeout", "3", is: .line("--speed-time 3")),
    "response-timeout": Case(
      "-d", "a", "--response-timeout", "3", is: .note("--response-timeout: curl ")),
    "limit-rate": Case("-d", "a", "--limit-rate", "3", is: .line("--limit-rate 3")),
    "location": Case("-d", "a", "-L", is: .line("--location")),
    "post301": Case("-d", "a", "--post301", is: .line("--post301")),
    "post302": Case("-d", "a", "--post302", is: .line("--post302")),
    "post303": Case("-d", "a", "--post303", is: .line("--post303")),
    "max-redirs": Case("-d", "a", "--max-redirs", "2", is: .line("--max-redirs 2")),
    "expect": Case("-d", "a", "--expect", "always", is: .line("Expect: 100-continue")),
    "expect100-timeout": Case(
      "-d", "a", "--expect100-timeout", "2", is: .line("--expect100-timeout 2")),
    "http1.1": Case("-d", "a", "--http1.1", is: .line("--http1.1")),
    "http2": Case("-d", "a", "--http2", url: "https://h/", is: .line("--http2")),
    "http2-prior-knowledge": Case(
      "-d", "a", "--http2-prior-knowledge", is: .line("--http2-prior-knowledge")),
    "unix-socket": Case("-d", "a", "--unix-socket", "s", is: .line("--unix-socket s")),
    "resolve": Case(
      "-d", "a", "--resolve", "h:80:127.0.0.1", is: .line("--resolve h:80:127.0.0.1")),
    "connect-to": Case("-d", "a", "--connect-to", "h:80:i:81", is: .line("--connect-to h:80:i:81")),
    "ipv4": Case("-d", "a", "-4", is: .line("--ipv4")),
    "ipv6": Case("-d", "a", "-6", is: .line("--ipv6")),
    "interface": Case("-d", "a", "--interface", "lo", is: .line("--interface lo")),
    "keepalive-time": Case("-d", "a", "--keepalive-time", "3", is: .line("--keepalive-time 3")),
    "no-keepalive": Case("-d", "a", "--no-keepalive", is: .line("--no-keepalive")),
    "cacert": Case("-d", "a", "--cacert", "f", is: .line("--cacert f")),
    "capath": Case("-d", "a", "--capath", ".", is: .line("--capath .")),
    "cert": Case("-d", "a", "-E", "f", is: .line("--cert f")),
    "key": Case("-d", "a", "-E", "f", "--key", "g", is: .line("--key g")),
    "pass": Case("-d", "a", "-E", "f", "--pass", "canary", is: .refused("--pass-file")),
    "pass-file": Case("-d", "a", "-E", "f", "--pass-file", "token", is: .line("$(cat -- token)")),
    "pinnedpubkey": Case("-d", "a", "--pinnedpubkey", "f", is: .line("--pinnedpubkey f")),
    "tlsv1.2": Case("-d", "a", "--tlsv1.2", is: .line("--tlsv1.2")),
    "tlsv1.3": Case("-d", "a", "--tlsv1.3", is: .line("--tlsv1.3")),
    "tls-max": Case("-d", "a", "--tls-max", "1.2", is: .line("--tls-max 1.2")),
    "insecure": Case("-d", "a", "-k", is: .line("--insecure")),
    "proxy": Case("-d", "a", "-x", "p", is: .line("--proxy p")),
    "noproxy": Case("-d", "a", "--noproxy", "p", is: .line("--noproxy p")),
    "socks4": Case("-d", "a", "--socks4", "p", is: .line("--socks4 p")),
    "socks4a": Case("-d", "a", "--socks4a", "p", is: .line("--socks4a p")),
    "socks5": Case("-d", "a", "--socks5", "p", is: .line("--socks5 p")),
    "socks5-hostname": Case("-d", "a", "--socks5-hostname", "p", is: .line("--socks5-hostname p")),
    "proxy-user": Case("-d", "a", "-x", "p", "-U", "me:canary", is: .line("--proxy-user me ")),
    "proxy-user-file": Case(
      "-d", "a", "-x", "p", "--proxy-user-file", "user", is: .line("$(cat -- user)")),
    "proxy-cacert": Case("-d", "a", "--proxy-cacert", "f", is: .line("--proxy-cacert f")),
    "json": Case("-d", "a", "--json", is: .note("--json: curl ")),
    "output": Case("-d", "a", "-o", "x", is: .line("-o x")),
    "show-cookies": Case(
      "-d", "a", "-v", "--show-cookies", is: .same(because: "curl masks nothing")),
    "remote-name": Case("-d", "a", "-O", url: "http://h/x", is: .line("-O")),
    "output-dir": Case("-d", "a", "-o", "x", "--output-dir", "d", is: .line("--output-dir d")),
    "create-dirs": Case("-d", "a", "-o", "x/y", "--create-dirs", is: .line("--create-dirs")),
    "expect-status": Case("-d", "a", "--expect-status", "200", is: .note("--expect-status: curl ")),
    "output-any-status": Case(
      "-d", "a", "-o", "x", "--output-any-status", is: .same(because: "curl stores any response")),
    "compressed": Case("-d", "a", "--compressed", is: .line("--compressed")),
    "max-filesize": Case("-d", "a", "--max-filesize", "3", is: .line("--max-filesize 3")),
    "max-response": Case(
      "-d", "a", "--json", "--max-response", "3", is: .same(because: "curl prints no record")),
    "sha256": Case("-d", "a", "--sha256", is: .note("--sha256: curl ")),
    "progress": Case("-d", "a", "--progress", "bar", is: .line("--progress-bar")),
    "quiet": Case("-d", "a", "-q", is: .line("-sS")),
    "verbose": Case("-d", "a", "-v", is: .line("-v")),
    "include": Case("-d", "a", "-i", is: .line("--include")),
    "dump-header": Case("-d", "a", "-D", "x", is: .line("--dump-header x")),
    "write-out": Case("-d", "a", "-w", "x", is: .line("--write-out x")),
    "fail": Case("-d", "a", "-f", is: .line("--fail")),
    "silent": Case("-d", "a", "-s", is: .line(" -s ")),
    "show-error": Case("-d", "a", "-s", "-S", is: .line("-sS")),
    "dry-run": Case("-d", "a", "--dry-run", is: .refused("--dry-run")),
    "to-curl": Case("-d", "a", is: .line("curl -d a http://h/")),
  ]

  @Test func `every flag in the help is run here`() throws {
    #expect(try flags(inHelpOf: "post") == Set(Self.cases.keys))
  }

  /// Regression: `--max-retry-after`, `--verify-boundary`, `--progress` and `--tlsv1.2` were dropped without a word.
  @Test(arguments: cases.keys.sorted())
  func `a flag is translated, or a sentence says what curl does`(_ flag: String) throws {
    let example = try #require(Self.cases[flag])
    let place = try TemporaryDirectory()
    for (name, contents) in [
      ("f", "words\n"), ("f.png", "words\n"), ("headers", "X-A: 1\n"), ("user", "me:canary\n"),
      ("token", "canary\n"), ("url", "http://h/hook\n"),
      (".netrc", "machine h login me password canary\n"),
    ] { try place.write(name, contents) }
    let url = example.url.isEmpty ? [] : [example.url]
    let result = try run(
      "formstream", ["post", "--to-curl"] + example.arguments + url, in: place,
      environment: ["HOME": place.path])
    #expect(!(result.output + result.stderr).contains("canary"))
    switch example.meaning {
    case .line(let text):
      #expect(result.output.contains(text), "\(result)")
    case .note(let text):
      #expect(result.exit == 0 && result.stderr.contains(text), "\(result)")
    case .refused(let text):
      #expect(result.exit == 64 && result.stderr.contains(text), "\(result)")
    case .same: #expect(result.exit == 0, "\(result)")
    }
  }

  @Test(arguments: [
    (["--progress", "none"], "--no-progress-meter", ""),
    (["--progress", "json"], "", "--progress json: curl "), (["--progress", "auto"], "", ""),
    (["--tlsv1.3", "--tlsv1.2"], "--tlsv1.2", ""),
    (["--retry", "2"], "--retry 2", "--retry: curl "),
  ])
  func `values of a flag have their own translations`(
    _ flags: [String], _ line: String, _ note: String
  ) throws {
    let result = try run("formstream", ["post", "--to-curl", "-d", "a"] + flags + ["http://h/"])
    #expect(
      result.output == "curl -d a \(line.isEmpty ? "" : line + " ")http://h/\n", "\(result.stderr)")
    #expect(note.isEmpty ? result.stderr.isEmpty : result.stderr.contains(note), "\(result.stderr)")
  }
}
