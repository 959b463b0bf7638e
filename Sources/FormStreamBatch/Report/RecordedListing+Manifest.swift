package import FormStreamMultipart
import FormStreamPlatform

extension RecordedListing {
  /// Whether a path has the name of a manifest that is still being written.
  package static func isPartial(_ manifest: LocalPath) -> Bool { manifest.name == partialName }

  /// The path of the manifest that a run has written beside its journal, complete or not; nil if there is none.
  package static func manifest(in directory: LocalPath) -> LocalPath? {
    [completeName, partialName].lazy.map { directory.appending($0.bytes) }
      .first { (try? RandomAccessFile(reading: $0)) ?? nil != nil }
  }
}
