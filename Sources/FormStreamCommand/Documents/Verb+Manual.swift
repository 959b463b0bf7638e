/// What the manual says about each command, apart from its flags.
extension Verb {
  /// The name of the command's page: `formstream-post`.
  var pageName: String { "formstream-\(rawValue)" }

  /// The paragraphs under "description".
  var explanation: [String] {
    switch self {
    case .post:
      [
        "Sends one request by POST, and prints the response. Its body is a form (-F, --field, --file), a file (-T, or "
          + "@FILE before the URL), data as curl's -d sends it, or JSON (--json-body). With several files of -T, each is "
          + "sent in a request of its own.",
        "Nothing is sent if an input is missing. A file that changes while it is sent ends the request as an error, "
          + "before its last byte: no server takes it for the complete file.",
      ]
    case .put:
      [
        "Sends one request by PUT, and prints the response. Its body is a file (-T, or FILE before the URL), data, JSON or "
          + "a form. If the URL ends in a slash, the name of the file is added.",
        "Several files are sent one after another, each in a request of its own, to a URL that ends in a slash, or each to "
          + "its own URL. If one fails, the others are sent anyway.",
      ]
    case .get:
      [
        "Prints the response from a URL, or stores it in a file. The file gets its name when all of it has arrived and is on "
          + "the disk; until then it is FILE.part. A file is never put together from two versions on the server.",
        "Several URLs are requested one after another. If one fails, the others are requested anyway.",
      ]
    case .send:
      [
        "Sends many files over a few connections that are used again and again: each in a form of its own, several in a "
          + "form, in slices, or as they are by PUT. The files are those on the command line, all below the directories "
          + "there, and those of --files-from and --files-from0. Sending begins while files are still being listed, and "
          + "memory does not grow with their number, except with --per-request and --together.",
        "With --journal, the same command goes on where it ended, even after kill -9 or a power failure.",
      ]
    case .plan:
      [
        "Lists files in a manifest, a line of JSON for each, which formstream send takes, in parts (--shard) or completely. "
          + "The manifest is written completely or not at all.",
        "Names are bytes: they may be invalid UTF-8, and with --files-from0 hold line breaks. The part of a path before "
          + "/./ is the directory that the file must not leave; relative paths without /./ are below the "
          + "current directory.",
      ]
    case .report:
      [
        "Reads the journals that runs of formstream send have written below the directories DIR, and says what became of "
          + "each file of the manifest: how many files were accepted, how many of them twice or more, how many may have been "
          + "accepted, how many failed, and how many were not sent."
      ]
    case .receive:
      [
        "Is a server that accepts forms, URL-encoded fields and bodies of any type, by POST or PUT, at any path. It "
          + "responds to each upload with a record of what has arrived, prints a line for each, and has a page for browsers "
          + "at /.",
        "By default only programs on this machine can reach it, and nothing is stored: --listen and --into change "
          + "that. It uses HTTP/1.1, with TLS if --tls-cert is given.",
        "The first Ctrl-C or SIGTERM gives uploads in progress 10 seconds; a second one ends it at once.",
      ]
    case .encode:
      [
        "Makes the body of a form, and writes it to standard output or a file. The Content-Type of "
          + "the body, which names its boundary, goes to standard error. --headers prints the Content-Type and the "
          + "Content-Length instead of the body, --dry-run an outline.",
        "In -F, some characters are special, as in curl. In --field and --file, everything after the first = is the value "
          + "or the path. Flags that describe a part follow it.",
      ]
    case .parse:
      [
        "Reads the body of a form from FILE, or from standard input if FILE is -, and lists its parts. With --into, it stores "
          + "the files. If neither --boundary nor --content-type is given, the boundary is that of the first line that begins "
          + "with two hyphens; a note says which one it is.",
        "A body that is malformed, cut off or over a limit ends with 1, after the parts that could be read, and the "
          + "message names the byte.",
      ]
    case .bench:
      [
        "Uploads the same bytes in a form, by this program and by each of --with, in turn and in several rounds, and prints what "
          + "that has cost: the medians of the time, of the processor's time, and of the memory that a program had at most. Without URL, "
          + "they are sent to a receiver of this program, which checks that each upload was complete.",
        "The first round is not counted. A ratio is shown with the range in which it lies, and \"no difference\" "
          + "stands for a difference that may be chance. If other programs work meanwhile, or if the receiver or the processors are "
          + "busy all the time, a note says so.",
        "Another program stands after two hyphens, as a command in which {url} and {file} stand for what it uploads.",
      ]
    case .sniff:
      [
        "Prints a line for each file: its path, its media type, and what decided it. The first 64 KiB of a file are read."
      ]
    }
  }

  /// The commands under "see also" on the page of this command.
  var related: [Verb] {
    switch self {
    case .post: [.put, .send, .encode, .receive]
    case .put: [.post, .send, .get]
    case .get: [.put]
    case .send: [.plan, .report, .post]
    case .plan: [.send, .report, .sniff]
    case .report: [.send, .plan]
    case .receive: [.post, .parse]
    case .encode: [.parse, .post, .sniff]
    case .parse: [.encode, .receive]
    case .sniff: [.encode]
    case .bench: [.post, .receive]
    }
  }

  /// The pages of other programs under "see also".
  var foreignPages: [String] {
    switch self {
    case .post, .put, .get: ["curl"]
    case .send, .plan: ["find"]
    case .sniff: ["file"]
    default: []
    }
  }

  /// What is special about the exit code of this command; nil if nothing is.
  var exitNote: String? {
    switch self {
    case .send:
      "The code is the first of these that applies to any file: 70, 3, 1, 74, 66, 64, 75, 0. It does not depend on the "
        + "order in which files are sent."
    case .post, .put:
      "With several files of -T, the code is the first of these that applies to any: 70, 3, 1, 74, 66, 75, 0."
    case .get:
      "With several URLs, the code is the first of these that applies to any: 70, 3, 1, 74, 66, 75, 0."
    case .report:
      "The code is 0 only if each file was accepted exactly once, and otherwise the first of these that applies to any "
        + "file: 3 if it may have been accepted, or accepted twice; 1 if it failed, or was accepted twice; 74 if it has "
        + "changed; 66 if it is missing; 75 if it was not sent."
    default: nil
    }
  }

  /// How the end of this command after SIGTERM differs from the end of other commands; nil if it does not.
  var afterSIGTERM: String? {
    switch self {
    case .send: "With --journal, the code after SIGTERM is 75."
    case .receive: "After SIGTERM the code is 0 if nothing was cut off, unless --once is given."
    case .get: "FILE.part of a download stays."
    default: nil
    }
  }
}
