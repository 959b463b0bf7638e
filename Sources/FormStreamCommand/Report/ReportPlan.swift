import FormStreamPlatform
import FormStreamBatch
import FormStreamMultipart

/// The checked arguments of `report`.
struct ReportPlan {
  /// Nil if the manifest is in one of the directories.
  let manifest: LocalPath?
  let shard: Shard?
  /// The directories with the journals.
  let directories: [LocalPath]
  /// The output for the manifest of the files that were not accepted.
  let failed: OutputTarget?
  /// The output for the page of `--html`.
  let page: OutputTarget?
  /// Whether the files that may have been accepted twice are settled.
  let settlesDoubts: Bool
  /// The list that is printed; nil if there is none.
  let list: ReportedList?
  /// Whether the report is printed as a record. The records of a list leave no room for it.
  let printsRecord: Bool
}

extension ReportPlan {
  init(_ arguments: LowArguments) throws(Failure) {
    guard !arguments.operands.isEmpty else {
      throw .usage("Name the directories with the journals: those of send's --journal.")
    }
    manifest = arguments.manifest.manifest?.path
    shard = try arguments.manifest.chosenShard(environment: environmentVariable)
    directories = arguments.operands.map(\.path)
    failed = try arguments.manifest.failedTarget(besideRecords: arguments.printsJSON)
    page = try arguments.manifest.page.map { argument throws(Failure) in
      let target = try OutputTarget(argument, of: "--html", besideRecords: arguments.printsJSON)
      // The page and the report would be one text.
      if NamedOutput("--html", target)?.isStandardOutput == true {
        throw .usage("--html \(argument.shown) is standard output: say --html -.")
      }
      return target
    }
    if failed.isStandardOutput, page.isStandardOutput {
      throw .usage("--failed - and --html - both go to standard output: write one of them to a file.")
    }
    settlesDoubts = arguments.manifest.settlesDoubts
    list = try ReportedList(arguments)
    if let list {
      let others = [
        ("--failed -", failed.isStandardOutput), ("--html -", page.isStandardOutput),
      ]
      if let other = others.first(where: \.1)?.0 {
        throw .usage("\(list.flag) and \(other) both go to standard output: leave one out, or write one to a file.")
      }
    }
    printsRecord = arguments.printsJSON && list == nil
  }
}

extension ManifestArguments {
  /// The output that `--failed` names; nil if the flag was not given.
  func failedTarget(besideRecords printsJSON: Bool) throws(Failure) -> OutputTarget? {
    try failed.map { argument throws(Failure) in
      try OutputTarget(argument, of: "--failed", besideRecords: printsJSON)
    }
  }
}
