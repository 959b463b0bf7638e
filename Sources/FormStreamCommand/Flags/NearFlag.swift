/// What a flag is called elsewhere, and which one is meant: by those who know other servers.
enum NearFlag {
  /// What to do instead of a flag, as it was typed, that the command does not have; nil where there is nothing
  /// to say.
  static func hint(_ spelled: String, for verb: Verb) -> String? {
    all.first { $0.verbs.contains(verb) && $0.spelled.contains(spelled) }?.hint
  }

  private struct Entry {
    let spelled: Set<String>
    let verbs: Set<Verb>
    /// What follows the colon of the sentence.
    let hint: String

    init(_ spelled: String..., of verbs: Set<Verb> = [.receive], hint: String) {
      (self.spelled, self.verbs, self.hint) = (Set(spelled), verbs, hint)
    }
  }

  private static let all = [
    Entry(
      "-p", "-b", "-l", "--port", "--host", "--bind", "--addr", "--address", "--interface",
      hint: "--listen ADDR:PORT says where to listen, such as --listen 127.0.0.1:8080."),
    Entry(
      "-o", "-d", "-D", "-O", "--dir", "--directory", "--output", "--output-dir", "--upload-dir",
      "--root", of: [.receive, .parse],
      hint: "--into DIR names the directory that files are stored in."),
    Entry(
      "--max-size", "--max-filesize", "--max-file-size", "--max-upload-size",
      hint: "--max-body N bounds a request, --limit part-bytes=N each part of it."),
    Entry(
      "-u", "--user", "--user-file", "--token", "--auth", "--password",
      hint: "--token-file FILE asks for a token, also as the password of any user."),
    Entry(
      "-E", "--cert", "--key", "--certificate", "--private-key", "--tls", "--ssl", "--https",
      hint: "--tls-cert FILE and --tls-key FILE have it speak TLS."),
  ]
}
