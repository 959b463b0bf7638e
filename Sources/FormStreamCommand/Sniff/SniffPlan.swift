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

extension LowArguments {
  func sniffPlan() throws(Failure) -> SniffPlan {
    if operands.isEmpty, pathLists.isEmpty {
      throw .usage("Name the files, or a list of them with --files-from or --files-from0.")
    }
    if operands.contains(where: \.isDash) {
      throw .usage(
        "sniff does not read contents from standard input: name a file (./- if that is its name), or a list "
          + "with --files-from -.")
    }
    if printsJSON, endsWithNUL {
      throw .usage("--json and --null are two different formats: choose one of them.")
    }
    if pathLists.count(where: \.file.isDash) > 1 {
      throw .usage("Standard input is named twice: it can be read once.")
    }
    return SniffPlan(
      paths: operands.map(\.path), lists: pathLists, sniffer: sniffer(),
      format: printsJSON ? .records : .lines(terminator: endsWithNUL ? 0 : 0x0A))
  }
}
