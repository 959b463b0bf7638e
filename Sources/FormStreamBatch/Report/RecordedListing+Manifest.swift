package import FormStreamMultipart
import FormStreamPlatform

extension RecordedListing {
  /// The paths of the manifests that runs have written beside their journals, in the order of the rounds. The first one may
  /// be incomplete, and is then the only one.
  ///
  /// - Parameter state: sums up rounds, which are left out; nil if none are.
  package static func manifests(
    in directory: LocalPath, besides state: RecordedState? = nil
  ) throws(BatchError) -> [LocalPath] {
    let complete = try RecordedRounds(in: directory, besides: state).manifests
    guard complete.isEmpty else { return complete }
    let partial = directory.appending(partialName.bytes)
    return (try? RandomAccessFile(reading: partial)) ?? nil != nil ? [partial] : []
  }
}
