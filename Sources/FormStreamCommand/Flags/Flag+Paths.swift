import FormStreamBatch

/// The flags that name lists of files.
extension Flag {
  static let pathFlags = [
    Flag(
      long: "files-from", value: Value(placeholder: "FILE", completion: .path), group: .paths,
      verbs: [.sniff, .get, .send, .plan],
      summary: "Read more paths from FILE, one a line; - is standard input",
      summaries: [.get: "Get the URLs in FILE, too, one a line; - is standard input"],
      detail: """
        With get, each line is one URL as it is, without patterns, comments and blanks around it. The lines are read while others \
        are received: a list may have any number of them. -O is for all of them. If a line is no URL, or if its file has another \
        URL, too, nothing is requested if FILE is a regular file; otherwise the other URLs are received, and the exit code is 66. \
        -u, a token, -b and secret headers are sent only to the server of the first URL.
        """
    ) { (arguments, argument) in
      arguments.pathLists.append(PathList(file: argument, ending: .lineFeed))
    },
    Flag(
      long: "files-from0", value: Value(placeholder: "FILE", completion: .path), group: .paths,
      verbs: [.sniff, .get, .send, .plan], common: [.send, .plan],
      summary: "Like --files-from, with NUL in place of line breaks, as find -print0 writes them"
    ) { (arguments, argument) in
      arguments.pathLists.append(PathList(file: argument, ending: .nul))
    },
  ]
}
