import FormStreamMultipart
import FormStreamHTTP

/// The flags about bodies whose length is unknown or changes: pipes, and files that grow.
extension Flag {
  /// The largest value of `--read-ahead`. There is a limit because the bytes are kept in memory.
  private static let maximumReadAhead: Int64 = 64 << 20

  static let framingFlags = [
    Flag(
      long: "read-ahead", value: Value(placeholder: "SIZE"), group: .delivery, verbs: Verb.sending,
      summary: "Read up to SIZE of a pipe before the request (default: 1M; 0: none)",
      detail: """
        A pipe, FIFO or compressed body that ends within SIZE is sent with Content-Length, as many servers need it, and can \
        be sent again by --retry. A longer one is sent in chunks, from its first byte on. Nothing is sent before SIZE \
        was read or the pipe has ended: for what comes slowly and must be sent as it comes, use 0. At most 64M.
        """
    ) { (arguments, argument) throws(Failure) in
      guard let size = Int64(size: argument.shown), size <= maximumReadAhead else {
        throw .usage(
          "\(argument.named("--read-ahead")) is not a size: write bytes up to 64M, with or without K or M at the end; "
            + "--spool is for more.")
      }
      arguments.request.readAhead = Int(size)
    },
    Flag(
      long: "spool", group: .delivery, verbs: Verb.sending,
      summary: "Store a pipe in a temporary file first, and send it with its length",
      detail: """
        For a pipe, FIFO or compressed body that is longer than --read-ahead, and servers that refuse chunks (411, 501, HTTP/1.0). The \
        file is in TMPDIR, or in /tmp. It has no name, only its owner can read it, and it is gone after the request. A body \
        that was stored can be sent again by --retry. If there is no room for it, nothing is sent, and the exit code is 74.
        """
    ) { (arguments, _) in arguments.request.options.spoolsBody = true },
    Flag(
      long: "growing", group: .paths, verbs: [.encode, .post, .put],
      summary: "Send the bytes that files have at the start, even if they grow meanwhile",
      summaries: [
        .encode: "Write the bytes that files have at the start, even if they grow meanwhile"
      ],
      detail: """
        Without the flag, a file that grows while it is sent is an error, unless --range says how many of its bytes \
        are sent. The file is looked at again after each piece that is read, and in each attempt. It is an error if it is \
        shorter than before, was replaced, or was written to and has the same size. If it is longer, only \
        --verify-growing notices that something was overwritten, or that it was cut and filled again.
        """
    ) { (arguments, _) in if arguments.form.growth == .refused { arguments.form.growth = .allowed }
    },
    Flag(
      long: "verify-growing", group: .paths, verbs: [.encode, .post, .put],
      summary: "Like --growing, but read files twice, to notice bytes that are overwritten",
      detail: """
        Files are read before anything is sent, and again while they are sent: the bytes must be the same.
        """
    ) { (arguments, _) in arguments.form.growth = .compared },
  ]
}
