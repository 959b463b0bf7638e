import FormStreamDigest

/// The flags of `get` about files, and what they must be.
extension Flag {
  static let downloadFlags = [
    Flag(
      long: "remote-name", short: "O", group: .output, verbs: Verb.likeCurl, common: [.get],
      summary: "Write to a file with the name at the end of the URL",
      detail: """
        The name is made safe as by --into: it has no directory, is not hidden, and does not begin like a flag. \
        An existing file is replaced when the new one is complete. With get, the flag is for one URL: the first -o or -O \
        is for the first one, and so on. With post and put, a single one is for all requests.
        """
    ) { (arguments, _) in arguments.downloading.outputs.append(.remoteName) },
    Flag(
      long: "remote-name-all", group: .output, verbs: [.get],
      summary: "-O for all URLs without an -o or -O of their own"
    ) { (arguments, _) in arguments.downloading.namesAll = true },
    Flag(
      long: "remote-name-safe", short: "J", group: .output, verbs: [.get],
      summary: "-O for all URLs without -o, with the name that the server sends",
      detail: """
        The name in Content-Disposition is made safe, too. If there is none, it is that at the end of the URL. No \
        file is replaced: if the name is taken, the file gets a number.
        """
    ) { (arguments, _) in arguments.downloading.usesServerNames = true },
    Flag(
      long: "output-dir", value: Value(placeholder: "DIR", completion: .directory, use: .directory),
      group: .output,
      verbs: Verb.likeCurl,
      summary: "The directory of files that -o, -O and -J name"
    ) { (arguments, argument) in arguments.downloading.directory = argument },
    Flag(
      long: "create-dirs", group: .output, verbs: Verb.likeCurl,
      summary: "Make the directories of -o, -D and --output-dir that don't exist"
    ) { (arguments, _) in arguments.downloading.makesDirectories = true },
    Flag(
      long: "continue-at", short: "C", value: Value(placeholder: "-"), group: .output,
      verbs: [.get], common: [.get],
      summary: "Go on with a file that was not completed; write -C -",
      detail: """
        Until a file is complete, it is named FILE.part, and a second one beside it says what is known of the \
        server's version. If the server has another version by now, or does not say, the file is begun again: it \
        is never put together from two. Without the flag, what an earlier run has left is begun again in any case.
        """
    ) { (arguments, argument) throws(Failure) in
      guard argument.isDash else {
        throw .usage(
          "\(argument.named("-C")) is not a hyphen: -C - goes on where the file ends, and --range N- gets what begins at a byte."
        )
      }
      arguments.downloading.resumes = true
    },
    Flag(
      long: "range", short: "r", value: Value(placeholder: "FIRST-LAST"), group: .output,
      verbs: [.get],
      summary: "Get these bytes only: FIRST-LAST, FIRST- or -COUNT",
      detail: """
        Bytes are counted from 0. It is an error if the server sends something else, such as the complete file.
        """
    ) { (arguments, argument) throws(Failure) in
      guard let range = argument.text.flatMap(RequestedRange.init) else {
        throw .usage(
          "\(argument.named("--range")) is not a range: write FIRST-LAST, FIRST-, or -COUNT for the last bytes."
        )
      }
      arguments.downloading.range = range
    },
    Flag(
      long: "sha256", value: Value(placeholder: "HEX"), group: .output, verbs: [.get],
      common: [.get],
      summary: "The SHA-256 that the file must have; it is not kept otherwise",
      detail: """
        The digest is that of what is written. With several URLs, give the flag for each, in their order. \
        Standard output can't be taken back: there, the exit code says it.
        """
    ) { (arguments, argument) throws(Failure) in
      guard let digest = argument.text.flatMap(SHA256.Digest.init(hexadecimal:)) else {
        throw .usage(
          "\(argument.named("--sha256")) is not a digest: write 64 hexadecimal digits, as sha256sum does."
        )
      }
      arguments.downloading.digests.append(digest)
    },
  ]
}
