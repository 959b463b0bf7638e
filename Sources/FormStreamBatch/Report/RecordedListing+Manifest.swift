package import FormStreamMultipart
import FormStreamPlatform

extension RecordedListing {
  /// Whether a path is that of a manifest that is still being written.
  package static func isPartial(_ manifest: LocalPath) -> Bool { manifest.name == partialName }

  /// The manifest that a run has made in the directory of its journal, as far as it came; nil if there is none.
  package static func manifest(in directory: LocalPath) -> LocalPath? {
    [completeName, partialName].lazy.map { directory.appending($0.bytes) }
      .first { (try? RandomAccessFile(reading: $0)) ?? nil != nil }
  }
}
