/// The flags about sending many files.
extension Flag {
  static let batchFlags = [
    Flag(
      long: "jobs", short: "j", value: Value(placeholder: "N"), group: .batch, verbs: [.send],
      common: [.send],
      summary: "Send N requests at the same time (default: 4 to 128)",
      detail: """
        Each has a connection, which is used again. Without -j, the run begins with 4, and adds more as long as \
        that is faster; of files over 64 MiB, it sends at most 4 at the same time. With --limit-rate it sends 4. \
        If the server responds 429 or 503 again and again, fewer requests are sent for a while.
        """
    ) { (arguments, argument) throws(Failure) in
      arguments.sending.concurrency = try argument.jobs()
    },
    Flag(
      long: "jobs", value: Value(placeholder: "N"), group: .batch, verbs: [.get], common: [.get],
      summary: "Get N URLs at the same time (default: 1), and print a summary",
      detail: """
        -j N does the same; without a number after it, -j is curl's --junk-session-cookies. The bodies have to go to \
        files (-O or -o, without -J and --no-clobber), or into the records of --json, which come in the order in which the responses end. \
        What the server says about a refused request is in the message. After a failure, the other URLs are received as well, and \
        the exit code is that of the worst.
        """
    ) { (arguments, argument) throws(Failure) in
      arguments.sending.concurrency = try argument.jobs()
    },
    Flag(
      long: "as", value: Value(placeholder: "NAME"), group: .batch, verbs: [.send], common: [.send],
      summary: "The name of the field that holds the file (default: file)"
    ) { (arguments, argument) throws(Failure) in
      arguments.sending.fieldName = try argument.text(for: "--as")
    },
    Flag(
      long: "field-template", value: Value(placeholder: "NAME=TEMPLATE"), group: .batch,
      verbs: [.send],
      summary: "Add a text field; {name}, {size} and others stand for values of the file",
      detail: """
        The values are {path} {relative} {name} {stem} {extension} {size} {type} {sha256} and {index}; {{ is a brace. \
        They are also expanded in the values of -F, and not in those of --field. {relative} is the path below the \
        directory that was named; if several paths were named, the directory's own name comes before it.
        """
    ) { (arguments, argument) throws(Failure) in
      let flag = "--field-template"
      let (name, value) = try PartArguments.split(argument, of: flag, as: "NAME=TEMPLATE")
      arguments.form.add(PartArguments(name: name, content: .value(value), spelling: flag))
    },
    Flag(
      long: "put", group: .batch, verbs: [.send],
      summary: "Send files as they are, by PUT; the URL is a template",
      detail: """
        The values of --field-template can stand in the path and the query of the URL, and are percent-encoded. If the \
        URL ends in a slash, {relative} is added: send --put URL/ DIR puts DIR/a/b to URL/a/b, without the name of DIR. If several \
        paths are named, each directory keeps its name: URL/DIR/a/b. A file that is named goes to URL/NAME. Two files never go to one URL: if a template may repeat, such as {name}, all \
        files are listed first, and two with one URL are an error. A file whose path would have the component . or .. is not sent. Sending \
        a file twice does no harm, so all requests are repeated, and nothing is marked as a possible duplicate.
        """
    ) { (arguments, _) in arguments.sending.puts = true },
    Flag(
      long: "make-collections", group: .batch, verbs: [.send],
      summary: "Make missing folders of --put on a WebDAV server (MKCOL)",
      detail: """
        If the server refuses a file with 409, 404 or 500, as WebDAV servers do if its folder is missing, the folder is made, \
        and before it those that it is in. Then the file is sent again. Each folder is made once, with the headers and credentials \
        of the file, except those about its contents. After 500 (nginx), a file with an If-... header is not sent again. \
        If a folder can't be made, the file's error is folder-not-made, with the message and the status of the MKCOL.
        """
    ) { (arguments, _) in arguments.sending.makesCollections = true },
    Flag(
      long: "verify", value: Value(placeholder: "PATH"), group: .batch, verbs: [.send],
      summary:
        "Compare the value at PATH in the JSON response, such as a.b[0].sha256, with the file",
      detail: """
        A text must be the SHA-256 of the file, a number its size. Otherwise the file has failed, with the code \
        digest-mismatch, and is not sent again. The path has only names and indices; {i} is the place of the file in the \
        request, from 0.
        """
    ) { (arguments, argument) in arguments.sending.check = argument },
    Flag(
      long: "map", value: Value(placeholder: "FILE", completion: .path, use: .appended),
      group: .output, verbs: [.send],
      summary: "Add a line to FILE for each accepted file: its path, a tab, the value of --map-value",
      detail: """
        FILE is only added to. If a file is sent again, as in a later round, its last line counts. The line is written \
        before the journal says that the file was accepted. Characters that can't be displayed are spelled out, such as \
        \\u{A}; if that changes the path, or if it is not UTF-8, a third column has the path in base 64. If the response has no \
        text or integer there, a message says so, and there is no line.
        """
    ) { (arguments, argument) in arguments.sending.map = argument },
    Flag(
      long: "map-value", value: Value(placeholder: "PATH"), group: .output, verbs: [.send],
      summary: "The place of the value of --map in the JSON response, such as a.b[0].id",
      detail: "The path is written like that of --verify; {i} is the place of the file in the request, from 0."
    ) { (arguments, argument) in arguments.sending.mappedValue = argument },
    Flag(
      long: "log", value: Value(placeholder: "FILE", completion: .path, use: .appended),
      group: .output, verbs: [.send],
      summary: "Add a line to FILE for the result of each file: time, outcome, bytes, path",
      detail: """
        The columns are separated by tabs. If the file was not accepted, the next column is the code of its error. The path \
        is written as by --map; if it has a column in base 64, that column comes after the code. If FILE is renamed or \
        removed, the next line begins a new one.
        """
    ) { (arguments, argument) in arguments.sending.log = argument },
    Flag(
      long: "max-rate", value: Value(placeholder: "N"), group: .batch, verbs: [.send],
      summary: "Begin at most N requests a second; a fraction such as 0.5 may be given"
    ) { (arguments, argument) throws(Failure) in
      guard let text = argument.text, text.allSatisfy({ $0.isASCII && ($0.isNumber || $0 == ".") }),
        let rate = Double(text), rate >= 0.001, rate <= 1_000_000
      else {
        throw .usage(
          "\(argument.named("--max-rate")) is not a number of requests, such as 20 or 0.5.")
      }
      arguments.sending.requestRate = rate
    },
    Flag(
      long: "max-failures", value: Value(placeholder: "N"), group: .batch, verbs: [.send],
      summary: "End the run after N files that were not accepted (default: none)",
      detail: """
        Files that are being sent then are sent to their end, and no other is begun. The run is also ended if nothing accepts \
        connections, or if credentials are refused; and without the flag, if the first requests are refused with 401, or with \
        403 for forms.
        """
    ) { (arguments, argument) throws(Failure) in
      let count = try argument.count(for: "--max-failures", upTo: 1_000_000_000)
      guard count > 0 else {
        throw .usage("\(argument.named("--max-failures")) is 0: write a number from 1.")
      }
      arguments.sending.maximumFailures = count
    },
    Flag(
      long: "at-least", value: Value(placeholder: "N"), group: .batch, verbs: [.send, .plan],
      summary: "Send nothing if there are fewer than N files (default: 0)",
      summaries: [.plan: "Make no manifest if there are fewer than N files (default: 0)"],
      detail: """
        A folder is empty if the disk that it stands for is not mounted. The first N files are listed before any is sent. If there \
        are fewer, the exit code is 66. A run that goes on with files that an earlier run has listed does not count them again.
        """
    ) { (arguments, argument) throws(Failure) in
      arguments.sending.minimumFiles = try argument.count(for: "--at-least", upTo: 1_000_000_000)
    },
    Flag(
      long: "journal", value: Value(placeholder: "DIR", completion: .directory, use: .directory),
      group: .batch,
      verbs: [.send], common: [.send],
      summary: "Record in DIR what was sent; the same command then sends what is left, or new",
      detail: """
        DIR is made if it does not exist. It gets a manifest of the files, and a journal for each run. If a run was ended \
        before it had gone through all files, the same command goes on with the rest. Otherwise, the same command begins \
        a new round: it lists the files again, and sends those that are new, have another size or time, or are not proven \
        accepted. A file that an earlier run may have sent is sent again, and its record says maybe_duplicate. After \
        SIGTERM the exit code is 75.
        """
    ) { (arguments, argument) throws(Failure) in
      guard !argument.bytes.isEmpty else {
        throw .usage("--journal needs the path of a directory.")
      }
      arguments.sending.journal = argument
    },
    Flag(
      long: "skip-unknown", group: .batch, verbs: [.send],
      summary: "With --journal: leave out files that an earlier run may have sent"
    ) { (arguments, _) in arguments.sending.skipsDoubtful = true },
    Flag(
      long: "all", group: .batch, verbs: [.send],
      summary: "With --journal: send all files in a new round, even if they are unchanged"
    ) { (arguments, _) in arguments.sending.sendsAll = true },
    Flag(
      long: "checksum", group: .batch, verbs: [.send, .plan],
      summary: "In a new round, compare files by their contents, in place of their times",
      detail: """
        The digest of each file is computed before it is sent, and recorded. In a new round, a file of the same size is read, \
        and is sent again if its digest is another. If no earlier run has computed the digest, the time is compared.
        """
    ) { (arguments, _) in arguments.sending.comparesContents = true },
    Flag(
      long: "resume-only", group: .batch, verbs: [.send],
      summary: "With --journal: send what is left of the last round, and begin no new one"
    ) { (arguments, _) in arguments.sending.resumesOnly = true },
  ]
}

extension Argument {
  /// The value of `--jobs`.
  fileprivate func jobs() throws(Failure) -> Int {
    let count = try count(for: "--jobs", upTo: 1000)
    guard count > 0 else {
      throw .usage("\(named("--jobs")) is 0: write a number from 1 to 1000.")
    }
    return count
  }
}
