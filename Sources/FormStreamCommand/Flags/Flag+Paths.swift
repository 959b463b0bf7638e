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
        With get, the lines are URLs as they are, without patterns, and are read while others are received: a list may have any \
        number of them. -O is for all of them. A line that is no URL, or whose file another URL has, is refused before anything \
        is requested if FILE is a regular file; otherwise the others are received nevertheless, and the exit code is 66. -u, a token, -b and secret headers are sent only to \
        the server of the first URL.
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
