/// The flags that name files one by one; every command that takes many knows them.
extension Flag {
  static let pathFlags = [
    Flag(
      long: "files-from", value: Value(placeholder: "FILE", completion: .path), group: .paths,
      verbs: [.sniff],
      summary: "Take paths from FILE too, one a line; - is standard input"
    ) { (typed, argument) in
      typed.pathLists.append(PathList(file: argument, terminator: 0x0A))
    },
    Flag(
      long: "files-from0", value: Value(placeholder: "FILE", completion: .path), group: .paths,
      verbs: [.sniff],
      summary: "The same with a NUL behind each path, as find -print0 writes them"
    ) { (typed, argument) in
      typed.pathLists.append(PathList(file: argument, terminator: 0))
    },
  ]
}
