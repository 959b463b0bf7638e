import FormStreamDigest
import FormStreamMultipart
import FormStreamPlatform

/// The data that continue an upload that broke off: in this process, or in another one if the data were stored.
///
/// ```swift
/// if let data = result.resumeData { try JSONEncoder().encode(data).write(to: place) }
/// // Later, with the same request:
/// request.options.resuming = try JSONDecoder().decode(UploadResumeData.self, from: Data(contentsOf: place))
/// ```
///
/// The data hold the URL of the request and that of the upload, and how the body's files looked, but no headers, no credentials and
/// none of the body's bytes. Whoever knows the URL of an upload may be able to change the upload, so the data are a secret.
public struct UploadResumeData: Codable, Hashable, Sendable {
  /// A range of a file, and what shows that the file has changed.
  struct File: Codable, Hashable, Sendable {
    let path: [UInt8]
    let inode: UInt64
    let size: Int64
    let modified: [Int64]
    let changed: [Int64]
    let offset: Int64
    let length: Int64
  }

  /// The URL of the request, as text; it may contain secrets, in its query or elsewhere.
  public let url: String
  /// The URL of the unfinished upload, as text; nil if the server has not named it.
  public internal(set) var uploadURL: String?
  /// How many bytes the body has.
  public let total: Int64
  /// How many bytes the server has confirmed.
  public internal(set) var confirmed: Int64 = 0
  /// How many bytes the server can have at most.
  var mostSent: Int64 = 0
  /// Whether the server may have carried out the request.
  var isInDoubt = false
  /// Whether the server may have carried out the request before this upload was begun. What it says about this upload says nothing
  /// about that.
  var isInDoubtBefore = false
  /// The idempotency key that all requests so far had; nil if one of them had none, or another one.
  var idempotencyKey: String?
  var uploadProtocol: UploadProtocol
  let method: String
  /// The boundary of the body, if it is a form.
  package let boundary: String?
  /// The digest of everything in the body that is not in files.
  let otherBytes: SHA256Digest
  let files: [File]
}

extension UploadResumeData {
  /// Describes an upload of which nothing was sent.
  ///
  /// - Throws: `DigestError`, if the system can't hash.
  init(
    of request: TransferRequest, to url: HTTPURL, _ body: BodyLayout, by uploadProtocol: UploadProtocol
  ) throws {
    let digest = try BodyDigest()
    var failure: DigestError?
    var files: [File] = []
    func add(_ bytes: UnsafeRawBufferPointer) {
      do throws(DigestError) { try digest.add(bytes, at: digest.position) } catch { failure = error }
    }
    Array(body.contentType.utf8).withUnsafeBytes(add)
    body.forEachSource { source in
      switch source {
      case .bytes(let bytes): add(bytes)
      case .file(let path, let identity, let offset, let length):
        files.append(File(path, identity, offset: offset, length: length))
      }
    }
    if let failure { throw failure }
    // There is a digest, because no byte was left out.
    let otherBytes = try digest.finish() ?? SHA256.digest(of: "")
    self.init(
      url: url.absoluteString, uploadURL: nil, total: body.contentLength ?? 0,
      idempotencyKey: request.options.idempotencyKey?.value, uploadProtocol: uploadProtocol,
      method: request.method.description,
      boundary: body.form?.boundary.description, otherBytes: otherBytes, files: files)
  }

  /// What differs between an upload that broke off and a request that is to continue it.
  enum Difference: Equatable {
    /// A file has changed.
    case file(LocalPath)
    /// The request is another one.
    case request
  }

  /// What differs between this upload and a request; nil if the request can continue the upload.
  func difference(from other: UploadResumeData) -> Difference? {
    guard url == other.url, method == other.method, files.count == other.files.count else {
      return .request
    }
    for (mine, its) in zip(files, other.files) where mine != its {
      let isSameRange = mine.path == its.path && mine.offset == its.offset
      return isSameRange ? .file(LocalPath(bytes: mine.path)) : .request
    }
    return otherBytes == other.otherBytes && total == other.total ? nil : .request
  }

  /// Whether a request can continue this upload, as far as this machine can know. Its body must be laid out with the boundary of
  /// this upload.
  package func canBeContinued(by request: TransferRequest) -> Bool {
    guard let layout = try? request.body?.laidOut(), let url = try? request.url.appending(request.query),
      let data = try? UploadResumeData(of: request, to: url, layout, by: uploadProtocol)
    else { return false }
    return difference(from: data) == nil
  }

  /// The upload's resource; nil if the server has not named it, or its URL is damaged.
  var resource: UploadResource? {
    guard let uploadURL, var url = try? HTTPURL(uploadURL) else { return nil }
    // Whoever knows the URL of an upload may be able to change the upload.
    url.isSecret = true
    return UploadResource(url, confirmed: confirmed, mostSent: mostSent)
  }

  /// The last file in the body; nil if the body has no files.
  package var lastFile: LocalPath? { files.last.map { LocalPath(bytes: $0.path) } }

  /// Whether the server has confirmed more bytes than when earlier data were made.
  package func hasMore(than earlier: UploadResumeData?) -> Bool { confirmed > earlier?.confirmed ?? 0 }

  /// Takes over how far another upload is, which has the same bytes.
  mutating func takeProgress(of other: UploadResumeData) {
    (uploadURL, confirmed, mostSent) = (other.uploadURL, other.confirmed, other.mostSent)
    (isInDoubt, isInDoubtBefore, uploadProtocol) = (other.isInDoubt, other.isInDoubtBefore, other.uploadProtocol)
  }
}

extension UploadResumeData.File {
  fileprivate init(_ path: LocalPath, _ identity: FileIdentity, offset: Int64, length: Int64) {
    // The number of the device is left out: it may be another one after the machine was started again.
    self.init(
      path: path.bytes, inode: identity.inode, size: identity.size,
      modified: [identity.modified.seconds, identity.modified.nanoseconds],
      changed: [identity.changed.seconds, identity.changed.nanoseconds], offset: offset,
      length: length)
  }
}
