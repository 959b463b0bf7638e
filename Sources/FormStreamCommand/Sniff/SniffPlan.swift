import FormStreamMediaTypes
import FormStreamMultipart

/// What `sniff` is to do.
struct SniffPlan {
  enum Form {
    case lines(terminator: UInt8)
    case records
  }

  let paths: [LocalPath]
  let lists: [PathList]
  let sniffer: MediaTypeSniffer
  let form: Form
}

extension LowArguments {
  func sniffPlan() throws(Failure) -> SniffPlan {
    if operands.isEmpty, pathLists.isEmpty {
      throw .usage("Name the files, or a list of them with --files-from or --files-from0.")
    }
    if operands.contains(where: { $0.bytes == Array("-".utf8) }) {
      throw .usage(
        "sniff takes no bytes from standard input: name a file (./- where it is called that), or a list "
          + "with --files-from -.")
    }
    if printsJSON, endsWithNUL {
      throw .usage("--json and --null are two ways to print: ask for one of them.")
    }
    if pathLists.count(where: { $0.file.bytes == Array("-".utf8) }) > 1 {
      throw .usage("Standard input is named twice: it can be read once.")
    }
    return SniffPlan(
      paths: operands.map(\.path), lists: pathLists, sniffer: sniffer(),
      form: printsJSON ? .records : .lines(terminator: endsWithNUL ? 0 : 0x0A))
  }
}
