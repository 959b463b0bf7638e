import FormStreamDigest
package import FormStreamMediaTypes
import FormStreamMultipart

/// Adds types and digests to the files of a manifest. For this, it opens each file.
package struct ManifestDetails: Sendable {
  private let sniffer: MediaTypeSniffer
  private let hasTypes: Bool
  private let hasDigests: Bool

  /// - Parameters:
  ///   - sniffer: detects the types; nil if the manifest gets no types.
  ///   - hasDigests: whether the manifest gets digests.
  package init(types sniffer: MediaTypeSniffer?, hasDigests: Bool) {
    self.sniffer = sniffer ?? MediaTypeSniffer(policy: .none)
    hasTypes = sniffer != nil
    self.hasDigests = hasDigests
  }

  /// Adds the type and the digest of a file that was listed. If the file can't be read, or changes between the listing and
  /// the end of this call, the reason is noted in ``BatchFile/problem``.
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
