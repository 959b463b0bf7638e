import FormStreamDigest
import FormStreamMultipart
import FormStreamPlatform

extension BatchSource {
  /// The UUID of a listing. It depends only on the sources, the rules and the working directory.
  ///
  /// A resumed run compares this UUID with the UUID of the earlier run. The contents of lists do not count.
  package static func listingName(
    of sources: [BatchSource], _ options: ListingOptions
  ) throws(BatchError) -> String {
    let directory: LocalPath
    do throws(SystemError) { directory = try currentDirectory() } catch {
      throw .unreadable(at: ".", error)
    }
    var texts: [[UInt8]] = [[options.includesHidden ? 1 : 0, options.followsLinks ? 1 : 0]]
    for source in sources {
      switch source.kind {
      case .path(let path): texts += [Array("path".utf8), directory.joined(path).bytes]
      case .list(let name, let ending, _):
        texts += [Array("list".utf8), [ending.rawValue], Array(name.utf8), directory.bytes]
      }
    }
    for pattern in options.includes { texts += [Array("include".utf8), pattern.bytes] }
    for pattern in options.excludes { texts += [Array("exclude".utf8), pattern.bytes] }
    do throws(DigestError) {
      return try UUIDText.named("\(texts)")
    } catch {
      throw BatchError(.writeFailed, on: "the manifest", "The manifest can't be named: \(error).")
    }
  }
}
