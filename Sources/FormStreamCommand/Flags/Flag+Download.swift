import FormStreamDigest
import FormStreamPlatform

/// The flags of `get` about files, and about the conditions that files must meet.
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
      summary: "Use -O for every URL that has no -o or -O of its own"
    ) { (arguments, _) in arguments.downloading.namesAll = true },
    Flag(
      long: "remote-name-safe", short: "J", group: .output, verbs: [.get],
      summary: "Like -O for every URL without -o, with the name that the server sends",
      detail: """
        The name in Content-Disposition is made safe, too. If the server sends no name, the name at the end of the URL is \
        used. No file is replaced: if the name is taken, the file gets a number.
        """
    ) { (arguments, _) in arguments.downloading.usesServerNames = true },
    Flag(
      long: "output-dir", value: Value(placeholder: "DIR", completion: .directory, use: .directory),
      group: .output,
      verbs: Verb.likeCurl,
      summary: "The directory of files that -o and -O name",
      summaries: [
        .get: "The directory of files that -o, -O and -J name"
      ]
    ) { (arguments, argument) in arguments.downloading.directory = argument },
    Flag(
      long: "create-dirs", group: .output, verbs: Verb.likeCurl,
      summary: "Make the directories of -o, -D and --output-dir that don't exist"
    ) { (arguments, _) in arguments.downloading.makesDirectories = true },
    Flag(
      long: "no-clobber", group: .output, verbs: [.get],
      summary: "Replace no file: if a name is taken, add .1, .2 and so on",
      detail: "--clobber turns it off. The server's names of -J never replace a file."
    ) { (arguments, _) in arguments.downloading.keepsExisting = true },
    Flag(
      long: "skip-existing", group: .output, verbs: [.get],
      summary: "Request no URL whose file exists",
      detail: """
        What get stores has its name only when it is complete. So a long list goes on with --skip-existing -C -: complete files \
        are not requested again, and incomplete ones go on where they ended. Only whether a regular file exists is looked at, \
        and not who has written it, or whether the server has another version by now. The flag needs the name of the file before the request, so it can't be used with -J.
        """
    ) { (arguments, _) in arguments.downloading.skipsExisting = true },
    Flag(
      long: "remove-on-error", group: .output, verbs: [.get],
      summary: "Leave nothing of a download that failed",
      detail: """
        Without it, what has arrived stays in FILE.part, so that -C - can go on. A file has its own name only when it is \
        complete, in any case.
        """
    ) { (arguments, _) in arguments.downloading.removesOnError = true },
    Flag(
      long: "remote-time", short: "R", group: .output, verbs: [.get],
      summary: "Give a file the time of the server's Last-Modified"
    ) { (arguments, _) in arguments.downloading.setsTime = true },
    Flag(
      long: "time-cond", short: "z",
      value: Value(
        placeholder: "TIME", completion: .path,
        names: { ModificationCondition.file(of: $0).map { [$0] } ?? [] }),
      group: .output, verbs: [.get],
      summary: "Get only what is newer than TIME, or than the file TIME; older with -TIME",
      detail: """
        TIME is a date such as "12 Dec 1999 12:00:00 GMT" or 1999-12-12, in UTC, or the name of a file whose time of change \
        counts. If the server responds that nothing has changed (304), that is a success, and a file of -o stays. If it \
        sends the file nevertheless, the time of its Last-Modified is compared.
        """
    ) { (arguments, argument) in arguments.downloading.condition = argument },
    Flag(
      long: "continue-at", short: "C", value: Value(placeholder: "-|N"), group: .output,
      verbs: [.get], common: [.get],
      summary: "Go on with an incomplete download (-C -), or begin at byte N (-C N)",
      detail: """
        Until a file is complete, it is named FILE.part, and a second one beside it says what is known of the \
        server's version. If the server has another version by now, or does not say, the file is begun again: it \
        is never put together from two. Without the flag, an incomplete download always begins again. \
        -C N is --range N-: it prints the bytes from N on, or stores them in a new file. It adds nothing to a file that \
        exists, because nothing shows that both are of one version. It prints nothing else, such as the response of a refused \
        request. If the server says that there are just N bytes, there is nothing to print, and that is a success.
        """
    ) { (arguments, argument) throws(Failure) in
      if argument.isDash {
        (arguments.downloading.resumes, arguments.downloading.firstByte) = (true, nil)
        return
      }
      guard let text = argument.text, text.isASCIIDigits, let first = Int64(text) else {
        throw .usage(
          "\(argument.named("-C")) is neither a hyphen nor a number: -C - goes on where the file ends, and -C N gets what begins at byte N."
        )
      }
      arguments.downloading.resumes = false
      arguments.downloading.firstByte = first > 0 ? first : nil
    },
    Flag(
      long: "range", short: "r", value: Value(placeholder: "FIRST-LAST"), group: .output,
      verbs: [.get],
      summary: "Get only these bytes: FIRST-LAST, FIRST- or -COUNT (the last ones)",
      detail: """
        Bytes are counted from 0. It is an error if the server sends something else, such as the complete file. Several \
        ranges, as 0-99,500-599, are printed as the server sends them, in parts of multipart/byteranges.
        """
    ) { (arguments, argument) throws(Failure) in
      guard let range = argument.text.flatMap(RequestedRange.init) else {
        throw .usage(
          "\(argument.named("--range")) is not a range: write FIRST-LAST, FIRST-, or -COUNT for the last bytes."
        )
      }
      arguments.downloading.givenRange = range
    },
    Flag(
      long: "sha256", value: Value(placeholder: "HEX"), group: .output, verbs: [.get],
      common: [.get],
      summary: "The SHA-256 that the file must have; another file is not kept",
      detail: """
        The digest is computed from the bytes that are written. A line of sha256sum is accepted if it is one word, as in \
        --sha256 "$(cat film.sha256)"; its name is not compared. With several URLs, give the flag for each, in their order. \
        Bytes on standard output can't be taken back: only the exit code says that the digest is wrong.
        """
    ) { (arguments, argument) throws(Failure) in
      guard let digest = argument.text.flatMap(SHA256Digest.init(line:)) else {
        throw .usage(
          "\(argument.named("--sha256")) is not a digest: write 64 hexadecimal digits, as sha256sum does."
        )
      }
      arguments.downloading.digests.append(digest)
      arguments.downloading.digestArguments.append(argument)
    },
  ]
}

extension SHA256Digest {
  /// Reads a digest, or a line of sha256sum: the file's name comes after the digest or, as with --tag, before it. Nil
  /// if the text is something else.
  fileprivate init?(line: String) {
    let words = line.split { $0.isWhitespace }
    let isTagged = words.first == "SHA256" && words.dropLast().last == "="
    // If the file's name is escaped, the line begins with a backslash.
    guard let word = isTagged ? words.last : words.first else { return nil }
    self.init(String(word.first == "\\" ? word.dropFirst() : word))
  }
}
