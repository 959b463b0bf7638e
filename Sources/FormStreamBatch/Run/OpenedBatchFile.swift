import FormStreamDigest
import FormStreamMediaTypes
import FormStreamMultipart
import FormStreamPlatform

/// A file of a batch that was opened for sending, and is still the file that was listed.
struct OpenedBatchFile: Sendable {
  let file: BatchFile
  let identity: FileIdentity
  let type: SniffedType
  let digest: SHA256Digest?
  private let contents: Contents

  private enum Contents {
    case open(PinnedFile)
    /// The file is sent in a request with several files. A request may have more files than can be open at the same time.
    case closed(ClosedFile)
  }

  init(_ file: BatchFile, _ plan: Batch) throws(BatchError) {
    try self.init(
      file, sniffer: plan.sniffer, computesDigest: plan.needsDigest,
      staysOpen: !plan.packing.isShared)
  }

  /// Opens a file, checks that it is the one that was listed, and computes its digest.
  static func digest(of file: BatchFile) throws(BatchError) -> SHA256Digest {
    let pinned = try open(file)
    try file.check(pinned.identity)
    return try digest(of: pinned)
  }

  /// Opens a file, checks that it is the one that was listed, detects its type and, if asked, computes its digest.
  ///
  /// - Parameter staysOpen: whether the file stays open until it is sent.
  /// - Throws: the reason why the file can't be sent. A path that leads out of the file's root is never opened.
  init(
    _ file: BatchFile, sniffer: MediaTypeSniffer, computesDigest: Bool, staysOpen: Bool
  ) throws(BatchError) {
    self.file = file
    if let problem = file.problem { throw problem }
    let pinned = try Self.open(file)
    try file.check(pinned.identity)
    identity = pinned.identity
    contents =
      staysOpen
      ? .open(pinned)
      : .closed(
        pinned.closed(file.opened, below: file.root, followsLinks: file.followsLinks))
    if let type = file.type {
      self.type = SniffedType(type: type, source: .override)
    } else {
      let name = LocalPath(bytes: file.path.lastComponentBytes).description
      do {
        type = try pinned.withDescriptor { number throws(MediaTypesError) in
          try sniffer.type(ofDescriptor: number, filename: name, path: file.path)
        }
      } catch {
        throw BatchError(
          .inputUnreadable, on: file.path.description, "\(error)", underlying: nil)
      }
    }
    digest = computesDigest || file.sha256 != nil ? try Self.digest(of: pinned) : nil
    if let listed = file.sha256, let digest, listed != digest {
      throw file.changed("its contents are not those of the manifest")
    }
    // Type and digest must belong to the file that was listed, so the file must not have changed while it was read.
    let status = try? pinned.withDescriptor { number throws(SystemError) in
      try FileStatus(ofDescriptor: number)
    }
    guard status?.identity == pinned.identity else {
      throw file.changed("it was written to, or its attributes were changed")
    }
  }

  /// The contents of the file, or of a slice of it, as the body of a part or request.
  func body(_ slice: FileSlice? = nil) -> PartBody {
    switch contents {
    case .open(let file):
      file.body(slice.map { FileRange(offset: $0.offset, length: $0.length) })
    case .closed(let file): file.body
    }
  }

  private static func open(_ file: BatchFile) throws(BatchError) -> PinnedFile {
    let number: Int32
    do throws(SystemError) {
      number = try openForSending(
        file.opened, below: file.root, followsLinks: file.followsLinks)
    } catch  where error.isOutOfDescriptors {
      throw .unreadable(at: file.path, error)
    } catch  where error.isPathMissing {
      throw BatchError(
        .inputMissing, on: file.path.description,
        "The file \(file.path.description.quoted) does not exist.", underlying: error)
    } catch  where error.isSymlinkRefused && file.root == nil {
      throw file.changed("it is a link, and links are not followed")
    } catch  where error.leadsOut || error.isSymlinkRefused {
      throw file.changed("a link has taken its place, which leads out of its directory")
    } catch  where error.isNotOpenable {
      throw file.changed("a socket or a device has taken its place")
    } catch {
      throw BatchError(
        .inputUnreadable, on: file.path.description,
        "The file \(file.path.description.quoted) can't be read: \(error).", underlying: error)
    }
    do throws(MultipartError) {
      return try PinnedFile(adopting: number, path: file.path)
    } catch {
      switch error.code {
      case .notAFile: throw file.changed("it is not a regular file any more")
      case .sourceChanged: throw BatchError(.sourceChanged, on: error.subject, error.message)
      default: throw BatchError(.inputUnreadable, on: error.subject, error.message)
      }
    }
  }

  private static func digest(of pinned: PinnedFile) throws(BatchError) -> SHA256Digest {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 * 1024, alignment: 16)
    defer { buffer.deallocate() }
    do {
      var hash = try SHA256()
      var failure: DigestError?
      try pinned.readAll(in: buffer) { bytes in
        do throws(DigestError) { try hash.update(bytes) } catch { failure = error }
      }
      if let failure { throw failure }
      return try hash.finalize()
    } catch {
      let isChanged = (error as? MultipartError)?.code == .sourceChanged
      throw BatchError(
        isChanged ? .sourceChanged : .inputUnreadable, on: pinned.path.description, "\(error)")
    }
  }
}

extension BatchFile {
  /// The path that is opened: relative to the root, if there is a root.
  fileprivate var opened: LocalPath { root == nil ? path : relative }

  /// Checks that a file is the file that was listed. Its size and modification time must be the same. If the identity is
  /// known, the device, inode and change time must be the same too.
  fileprivate func check(_ found: FileIdentity) throws(BatchError) {
    if let identity {
      guard (identity.device, identity.inode) == (found.device, found.inode) else {
        throw changed("another file has taken its place")
      }
    }
    if found.size != size {
      throw changed("it has \(counted(found.size, "byte", "bytes")) instead of \(size)")
    }
    guard found.modifiedNanoseconds == modified,
      identity.map({ $0.changed == found.changed }) ?? true
    else { throw changed("it was written to, or its attributes were changed") }
  }

  fileprivate func changed(_ what: String) -> BatchError {
    BatchError(
      .sourceChanged, on: path.description,
      "The file \(path.description.quoted) has changed since it was listed: \(what). It is not sent."
    )
  }
}
