/// Flags of other programs, and the flags of this command that replace them.
enum FlagAlias {
  /// What to use instead of a flag that the command does not have; nil if there is no suggestion.
  static func hint(_ spelled: String, for verb: Verb) -> String? {
    all.first { $0.verbs.contains(verb) && $0.spelled.contains(spelled) }?.hint
  }

  private struct Entry {
    let spelled: Set<String>
    let verbs: Set<Verb>
    /// The sentence after the colon of the message.
    let hint: String

    init(_ spelled: String..., of verbs: Set<Verb> = [.receive], hint: String) {
      (self.spelled, self.verbs, self.hint) = (Set(spelled), verbs, hint)
    }
  }

  private static let all = [
    Entry(
      "-p", "-b", "-l", "--port", "--host", "--bind", "--addr", "--address", "--interface",
      hint: "--listen ADDR:PORT sets the address and port, such as --listen 127.0.0.1:8080."),
    Entry(
      "-o", "-d", "-D", "-O", "--dir", "--directory", "--output", "--output-dir", "--upload-dir",
      "--root", of: [.receive, .parse],
      hint: "--into DIR names the directory for the files."),
    Entry(
      "--max-size", "--max-filesize", "--max-file-size", "--max-upload-size",
      hint: "--max-body N limits a request, --limit part-bytes=N each part."),
    Entry(
      "--timeout", of: Set(Verb.requesting),
      hint:
        "--max-time S limits an attempt, --connect-timeout S the connection, and --stall-timeout S the time without a byte."
    ),
    Entry(
      "--bwlimit", "--bandwidth", "--bandwidth-limit", of: Set(Verb.requesting),
      hint: "--limit-rate RATE limits the bytes of a second, such as --limit-rate 2M."),
    Entry(
      "-Z", "--parallel", "--parallel-max", "--parallel-immediate", "--threads", "--transfers", "--workers", of: [.send],
      hint: "-j N sends N requests at the same time. Without it, send finds the number itself."),
    Entry(
      "--threads", "--transfers", "--workers", of: [.get],
      hint: "-j N gets N URLs at the same time."),
    Entry("--list", "--input-file", of: [.get], hint: "--files-from FILE gets the URLs in FILE, one a line."),
    Entry(
      "-F", "--form", "--field", "--file", "-T", "--upload-file", "--json-body", of: [.get],
      hint: "it makes a body, and get sends none: formstream post sends it, with -X GET as well."),
    Entry(
      "--to-curl", "--dry-run", of: [.get],
      hint: "it shows requests with bodies, of post and put. -v shows the head that get sends."),
    Entry(
      "--growing", "--verify-growing", of: [.send, .plan],
      hint:
        "a manifest and a journal know files by their size and time. post and put send a file that grows, or copy it first."
    ),
    Entry(
      "--make-collections", of: [.put, .post],
      hint: "it is one of formstream send --put --make-collections, which puts a file, or a directory with all that is in it."),
    Entry(
      "-u", "--user", "--user-file", "--token", "--auth", "--password",
      hint: "--token-file FILE requires a token, which may also be the password of any user."),
    Entry(
      "--status", "--status-code", "--response-code",
      hint: "--answer STATUS is the status of the responses."),
    Entry(
      "--latency", "--sleep", "--wait",
      hint: "--delay S waits before each response."),
    Entry(
      "-E", "--cert", "--key", "--certificate", "--private-key", "--tls", "--ssl", "--https",
      hint: "--tls-cert FILE and --tls-key FILE turn on TLS."),
  ]
}
