import FormStreamBatch
import FormStreamJSON
import FormStreamPlatform

/// The list that `report` prints.
struct ReportedList {
  enum Kind {
    case failures
    case accepted
    case deletable
  }

  let kind: Kind
  /// The byte after each line.
  let terminator: UInt8
  /// Whether each line is a record.
  let hasRecords: Bool

  /// The flag that asks for the list.
  var flag: String { Self.flag(of: kind) }

  private static func flag(of kind: Kind) -> String {
    switch kind {
    case .failures: "--failures"
    case .accepted: "--accepted"
    case .deletable: "--deletable"
    }
  }

  /// Nil if no list was asked for.
  init?(_ arguments: LowArguments) throws(Failure) {
    let manifest = arguments.manifest
    let chosen: [(isChosen: Bool, kind: Kind)] = [
      (manifest.listsFailures, .failures), (manifest.listsAccepted, .accepted), (manifest.listsDeletable, .deletable),
    ]
    let kinds = chosen.filter(\.isChosen).map(\.kind)
    guard let kind = kinds.first else {
      if arguments.endsWithNUL {
        throw .usage("--null is for the lists of --failures, --accepted and --deletable: add one of them.")
      }
      return nil
    }
    if kinds.count > 1 {
      throw .usage("\(Self.flag(of: kind)) and \(Self.flag(of: kinds[1])) are two lists: print one of them at a time.")
    }
    if kind == .deletable, manifest.manifest != nil {
      throw .usage("--deletable is about all rounds, and --manifest about one: leave one of them out.")
    }
    self.kind = kind
    terminator = arguments.endsWithNUL ? 0 : 0x0A
    hasRecords = arguments.printsJSON
    if hasRecords, kind != .failures {
      let flag = Self.flag(of: kind)
      throw .usage("\(flag) and --json both go to standard output, and \(flag) prints names: leave one out.")
    }
    if hasRecords, arguments.endsWithNUL {
      throw .usage("--null is for names, and --json prints records, which end with a line break: leave one out.")
    }
  }
}

/// Prints the list, a line for each file.
final class ReportListing {
  /// The files that were not accepted; nil if the list is of others.
  let failures: FailureList?
  private let list: ReportedList
  private let output: OutputFile
  private let lines: LineBuffer

  init(_ list: ReportedList) throws(Failure) {
    self.list = list
    output = try OutputFile(.standardOutput)
    lines = LineBuffer(output)
    failures = list.kind == .failures ? FailureList(in: LocalPath(bytes: temporaryDirectory)) : nil
  }

  /// Prints an accepted file, if it is still there as it was accepted; nil if the list is of others.
  var accepted: ((BatchFile) throws -> Void)? {
    guard list.kind == .accepted else { return nil }
    return { [self] file in if file.isOnDisk() { try write(file.path, "") } }
  }

  /// Prints what is left.
  ///
  /// - Parameter deletable: the files that may be deleted; nil if they are not listed.
  func finish(_ report: BatchReport, deletable: DeletableFiles?) throws {
    for path in deletable?.paths ?? [] { try write(path, "") }
    try failures?.forEach(of: report) { failure throws(Failure) in
      if list.hasRecords { return try lines.write(failure.record.line()) }
      let state = failure.state?.rawValue ?? "missing"
      try write(failure.path, "\t\(state)\t\(failure.status.map(String.init) ?? "")\t\(visible(failure.text))")
    }
    try lines.flush()
  }

  private func write(_ path: LocalPath, _ columns: String) throws(Failure) {
    try lines.write(
      (output.isTerminal ? Array(visible(path.description).utf8) : path.bytes) + Array(columns.utf8) + [list.terminator])
  }
}
