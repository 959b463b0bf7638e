import FormStreamBatch

/// An environment variable or a file in the manual.
struct ManualEntry: Sendable {
  let name: String
  let meaning: String
  /// The commands whose pages have this entry.
  let verbs: [Verb]

  private init(_ name: String, _ meaning: String, of verbs: [Verb]) {
    (self.name, self.meaning, self.verbs) = (name, meaning, verbs)
  }

  static let environment = [
    ManualEntry(
      "http_proxy, https_proxy, all_proxy",
      "The proxy for URLs that begin with http, with https, and for both, unless --proxy names one. HTTPS_PROXY and "
        + "ALL_PROXY are read as well; HTTP_PROXY is not, because web servers set it to what a client sends.",
      of: Verb.requesting),
    ManualEntry(
      "no_proxy", "The hosts that are reached without these proxies; also NO_PROXY.",
      of: Verb.requesting),
    ManualEntry(
      "CURL_CA_BUNDLE, SSL_CERT_FILE, SSL_CERT_DIR",
      "The trusted authorities, unless --cacert or --capath names them: the first is a PEM file; without it, the others "
        + "are a PEM file and a directory.",
      of: Verb.requesting),
    ManualEntry(
      "HOME", "The directory of .netrc, for --netrc and --netrc-optional.", of: Verb.requesting),
    ManualEntry(
      "NO_COLOR", "If it is not empty, progress has no color.", of: Verb.requesting),
    ManualEntry(
      "TERM", "If it is empty or dumb, no bar is shown unless --progress bar asks for one.",
      of: Verb.requesting),
    ManualEntry(
      Shard.variables.joined(separator: ", "),
      "The number of the task, for --shard auto: the first of them that is set.",
      of: [.send, .report]),
    ManualEntry(
      "TMPDIR", "The directory of temporary files, in place of /tmp.", of: [.plan]),
    ManualEntry(
      "MAGIC", "libmagic's database, in place of the system's, unless --magic-file names one.",
      of: detecting),
  ]

  static let files = [
    ManualEntry(
      "~/.netrc", "Users and passwords of hosts. It is read only with --netrc or --netrc-optional.",
      of: Verb.requesting),
    ManualEntry(
      "FILE.part, FILE.part.json",
      "An incomplete download, and what is known about the server's version of the file. --continue-at - goes on with "
        + "the download; without that flag it starts again.",
      of: [.get]),
    ManualEntry(
      "/etc/mime.types", "Media types by extension, in addition to the built-in table.",
      of: detecting),
    ManualEntry(
      "DIR/.formstream-*",
      "Files that are still arriving in DIR, the directory of --into. kill -9 leaves them behind.",
      of: [.parse, .receive]),
  ]

  private static let detecting: [Verb] = [.encode, .post, .put, .send, .plan, .sniff]
}
