import FormStreamMultipart

/// How many files a request has.
public enum Packing: Hashable, Sendable {
  /// One file.
  case single
  /// As many consecutive files as are within both limits. A file that is larger than `bytes` is sent alone.
  case upTo(files: Int, bytes: Int64)
  /// All files.
  case together

  /// The most files in one request. Each file takes a few kilobytes of memory until the request has ended.
  public static let maximumFiles = 100_000

  /// Whether a request may have several files.
  package var isShared: Bool {
    switch self {
    case .single: false
    case .upTo(let files, _): files > 1
    case .together: true
    }
  }
}

extension Packing {
  /// Throws if a manifest has fields for a file, and requests have several files. Without this check, the run would fail
  /// only after it has sent the files before that file.
  ///
  /// - Throws: `notPackable`. If the manifest can't be read to its end, the check ends without an error, and the run
  ///   reports the problem.
  package func check(_ manifest: ManifestReader) throws(BatchError) {
    guard isShared else { return }
    while let file = try? manifest.next() { try check(file) }
  }

  fileprivate func check(_ file: BatchFile) throws(BatchError) {
    guard isShared, !file.fields.isEmpty else { return }
    throw BatchError(
      .notPackable, on: file.path.description,
      "The manifest has fields for the file \(file.path.description.quoted), and a request with several files has no "
        + "fields that are those of one: send each file in a request of its own.")
  }
}

/// Puts consecutive files into packs, one pack for each request.
struct FilePacker {
  private let packing: Packing
  private let maximumFiles: Int
  private var pack: [BatchFile] = []
  /// The number of bytes that the files of the pack have.
  private var bytes: Int64 = 0

  /// - Parameter maximumFiles: how many files are sent together at most; tests use fewer.
  init(_ packing: Packing, maximumFiles: Int = Packing.maximumFiles) {
    self.packing = packing
    self.maximumFiles = maximumFiles
  }

  /// Adds a file. Returns a pack if one is complete, otherwise nil.
  ///
  /// - Throws: `notPackable`.
  mutating func add(_ file: BatchFile) throws(BatchError) -> [BatchFile]? {
    guard packing.isShared else { return [file] }
    try packing.check(file)
    switch packing {
    case .single: return [file]
    case .upTo(let maximumFiles, let maximumBytes):
      let (sum, overflow) = bytes.addingReportingOverflow(file.size)
      let isFull = !pack.isEmpty && (overflow || sum > maximumBytes)
      let full = isFull ? takePack() : nil
      pack.append(file)
      bytes = isFull ? file.size : sum
      return full ?? (pack.count >= maximumFiles ? takePack() : nil)
    case .together:
      guard pack.count < maximumFiles else {
        throw BatchError(
          .notPackable, on: "the files",
          "There are more than \(maximumFiles) files, and one request can't bring more: send them in several."
        )
      }
      pack.append(file)
      return nil
    }
  }

  /// Returns the files that were added and not yet returned in a pack.
  mutating func takePack() -> [BatchFile] {
    defer { (pack, bytes) = ([], 0) }
    return pack
  }
}
