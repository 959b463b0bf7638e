import FormStreamBatch
import FormStreamJSON
import FormStreamPlatform

/// The list that `report` prints.
struct ReportedList {
  enum Kind {
    case failures
    case accepted
  }

  let kind: Kind
  /// The byte after each line.
  let terminator: UInt8
  /// Whether each line is a record.
  let hasRecords: Bool

  /// The flag that asks for the list.
  var flag: String { kind == .failures ? "--failures" : "--accepted" }

  /// Nil if no list was asked for.
  init?(_ arguments: LowArguments) throws(Failure) {
    switch (arguments.manifest.listsFailures, arguments.manifest.listsAccepted) {
    case (true, true): throw .usage("--failures and --accepted are two lists: print one of them at a time.")
    case (true, false): kind = .failures
    case (false, true): kind = .accepted
    case (false, false):
      if arguments.endsWithNUL { throw .usage("--null is for the lists of --failures and --accepted: add one of them.") }
      return nil
    }
    terminator = arguments.endsWithNUL ? 0 : 0x0A
    hasRecords = arguments.printsJSON
    if hasRecords, kind == .accepted {
      throw .usage("--accepted and --json both go to standard output, and --accepted prints names: leave one out.")
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
  func finish(_ report: BatchReport) throws {
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
