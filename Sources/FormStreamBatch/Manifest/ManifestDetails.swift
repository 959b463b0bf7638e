import FormStreamDigest
package import FormStreamMediaTypes
import FormStreamMultipart

/// What a manifest may say about files beside their paths, sizes and times: for this, each file is opened.
package struct ManifestDetails: Sendable {
  private let sniffer: MediaTypeSniffer
  private let hasTypes: Bool
  private let hasDigests: Bool

  /// - Parameters:
  ///   - sniffer: detects the types; nil if there are to be none.
  ///   - hasDigests: whether there are to be digests.
  package init(types sniffer: MediaTypeSniffer?, hasDigests: Bool) {
    self.sniffer = sniffer ?? MediaTypeSniffer(policy: .none)
    hasTypes = sniffer != nil
    self.hasDigests = hasDigests
  }

  /// Adds the type and the digest of a file that was listed. If the file can't be read, or is not the same from the listing
  /// until the end, it can't be sent.
  package func add(to file: inout BatchFile) {
    guard file.problem == nil else { return }
    do throws(BatchError) {
      let opened = try OpenedBatchFile(
        file, sniffer: sniffer, computesDigest: hasDigests, staysOpen: true)
      if hasTypes { file.type = opened.type.type }
      if hasDigests { file.sha256 = opened.digest }
    } catch {
      file.problem = error
    }
  }
}
