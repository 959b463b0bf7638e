import FormStreamPlatform
import FormStreamBatch
import FormStreamMultipart

/// The checked arguments of `report`.
struct ReportPlan {
  /// Nil if it is in one of the directories.
  let manifest: LocalPath?
  let shard: Shard?
  /// The directories with the journals.
  let directories: [LocalPath]
  /// Where the manifest of the files goes that were not accepted.
  let failed: OutputTarget?
  let printsRecord: Bool
}

extension LowArguments {
  func reportPlan() throws(Failure) -> ReportPlan {
    guard !operands.isEmpty else {
      throw .usage("Name the directories with the journals: those of send's --journal.")
    }
    return ReportPlan(
      manifest: manifest.manifest?.path, shard: try shard(environment: environmentVariable),
      directories: operands.map(\.path), failed: try failedTarget(), printsRecord: printsJSON)
  }

  /// What `--failed` names; nil if it was not given.
  func failedTarget() throws(Failure) -> OutputTarget? {
    guard let failed = manifest.failed else { return nil }
    if failed.isDash {
      guard !printsJSON else {
        throw .usage(
          "--json and --failed - both go to standard output: write one of them to a file.")
      }
      return .standardOutput
    }
    guard !failed.bytes.isEmpty, !failed.bytes.contains(0) else {
      throw .usage("--failed needs the name of a file, or - for standard output.")
    }
    return .path(failed.path)
  }
}
