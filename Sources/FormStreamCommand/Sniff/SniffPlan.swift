import FormStreamMediaTypes
import FormStreamMultipart

/// The checked arguments of `sniff`.
struct SniffPlan {
  enum Format {
    case lines(terminator: UInt8)
    case records
  }

  let paths: [LocalPath]
  let lists: [PathList]
  let sniffer: MediaTypeSniffer
  let format: Format
}

extension SniffPlan {
  init(_ arguments: LowArguments) throws(Failure) {
    if arguments.operands.isEmpty, arguments.pathLists.isEmpty {
      throw .usage("Name the files, or a list of them with --files-from or --files-from0.")
    }
    if arguments.operands.contains(where: \.isDash) {
      throw .usage(
        "sniff does not read contents from standard input: name a file (./- if that is its name), or a list "
          + "with --files-from -.")
    }
    if arguments.printsJSON, arguments.endsWithNUL {
      throw .usage("--json and --null are two different formats: choose one of them.")
    }
    if arguments.pathLists.count(where: \.file.isDash) > 1 {
      throw .usage("Standard input is named twice: it can be read once.")
    }
    paths = arguments.operands.map(\.path)
    lists = arguments.pathLists
    sniffer = MediaTypeSniffer(arguments.types)
    format =
      arguments.printsJSON ? .records : .lines(terminator: arguments.endsWithNUL ? 0 : 0x0A)
  }
}
