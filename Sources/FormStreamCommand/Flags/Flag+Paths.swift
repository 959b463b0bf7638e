import FormStreamBatch

/// The flags that name lists of files.
extension Flag {
  static let pathFlags = [
    Flag(
      long: "files-from", value: Value(placeholder: "FILE", completion: .path), group: .paths,
      verbs: [.sniff, .send, .plan],
      summary: "Read paths from FILE too, one a line; - is standard input"
    ) { (arguments, argument) in
      arguments.pathLists.append(PathList(file: argument, ending: .lineFeed))
    },
    Flag(
      long: "files-from0", value: Value(placeholder: "FILE", completion: .path), group: .paths,
      verbs: [.sniff, .send, .plan], common: [.send, .plan],
      summary: "The same with a NUL after each path, as find -print0 writes them"
    ) { (arguments, argument) in
      arguments.pathLists.append(PathList(file: argument, ending: .nul))
    },
  ]
}
