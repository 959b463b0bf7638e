package import FormStreamMultipart
import FormStreamPlatform

extension RecordedListing {
  /// The paths of the manifests that runs have written beside their journals, in the order of the rounds. The first one may
  /// be incomplete, and is then the only one.
  package static func manifests(in directory: LocalPath) throws(BatchError) -> [LocalPath] {
    let complete = try RecordedRounds(in: directory).manifests
    guard complete.isEmpty else { return complete }
    let partial = directory.appending(partialName.bytes)
    return (try? RandomAccessFile(reading: partial)) ?? nil != nil ? [partial] : []
  }
}
