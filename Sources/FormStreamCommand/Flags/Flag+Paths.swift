import FormStreamBatch

/// The flags that name lists of files.
extension Flag {
  static let pathFlags = [
    Flag(
      long: "files-from", value: Value(placeholder: "FILE", completion: .path), group: .paths,
      verbs: [.sniff, .send, .plan],
      summary: "Read more paths from FILE, one a line; - is standard input"
    ) { (arguments, argument) in
      arguments.pathLists.append(PathList(file: argument, ending: .lineFeed))
    },
    Flag(
      long: "files-from0", value: Value(placeholder: "FILE", completion: .path), group: .paths,
      verbs: [.sniff, .send, .plan], common: [.send, .plan],
      summary: "Like --files-from, with NUL in place of line breaks, as find -print0 writes them"
    ) { (arguments, argument) in
      arguments.pathLists.append(PathList(file: argument, ending: .nul))
    },
  ]
}
