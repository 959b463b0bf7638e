import FormStreamMultipart
import FormStreamPlatform

/// The body of a request that creates an upload or appends to it, while it arrives. It is called by the thread of the request's
/// connection. If it is released before the end, what has arrived is kept, with two exceptions: bytes whose announced digest was
/// not compared, and an upload of which the client has not been told the URL.
final class Append {
  /// What the request wants of the upload.
  enum Purpose {
    /// To create it, and to send its beginning.
    case creation
    /// To append to it.
    case part
    /// To know its state (tus). It has no body; an upload that has all its bytes is completed first.
    case progress
  }

  /// What follows the end of the request's body.
  enum End {
    /// The upload is complete, and must be processed.
    case whole(PartialUpload.Whole)
    /// More is to come, after this offset.
    case part(offset: Int64)
    /// A newer request owns the upload.
    case superseded
  }

  /// The least time between two interim responses with the offset, and how many bytes arrive before the time is looked at.
  private static let interval = Duration.seconds(1)
  private static let step = 256 * 1024

  let upload: PartialUpload
  let store: UploadStore
  let purpose: Purpose
  private let request: Int
  private let completes: Bool?
  private let limit: Int64
  /// The connection, if the client understands interim responses.
  private let told: Connection?
  private var lastTold = ContinuousClock.now
  private var uncheckedBytes = 0
  private(set) var offset: Int64
  private let start: Int64
  /// The digest of this part, if one was announced.
  private let digest: RequestDigest?
  /// Whether the client can go on with the upload.
  private var isURLKnown: Bool

  /// - Parameters:
  ///   - request: the number of the request, which owns the upload.
  ///   - completes: whether the upload is complete after the body; nil if it is when it has its length.
  ///   - limit: the most bytes of an upload.
  ///   - offset: where the body begins.
  ///   - told: the connection for interim responses; nil if none are sent.
  ///   - isURLKnown: whether the client has been told the URL.
  ///   - digest: the digest of this part; nil if none was announced.
  init(
    to upload: PartialUpload, in store: UploadStore, request: Int, for purpose: Purpose,
    completes: Bool?, limit: Int64, offset: Int64, told: Connection?, isURLKnown: Bool = true,
    digest: RequestDigest?
  ) {
    (self.upload, self.store, self.request) = (upload, store, request)
    (self.purpose, self.completes, self.limit) = (purpose, completes, limit)
    (self.offset, start) = (offset, offset)
    (self.isURLKnown, self.digest) = (isURLKnown, digest)
    // What was told is never taken back.
    self.told = digest == nil ? told : nil
  }

  deinit {
    upload.release(request)
    if !isURLKnown { store.remove(upload) }
  }

  /// How many bytes of the upload are kept if the request breaks off now; nil if the client can't go on with the upload.
  var keptOffset: Int64? { isURLKnown ? digest == nil ? offset : start : nil }

  /// Reserves room for the body, so that the client learns early that there is none.
  func reserve(_ bytes: Int64) throws { try upload.reserve(bytes, for: request) }

  /// Appends the next bytes. Returns false if a newer request owns the upload.
  func receive(_ bytes: UnsafeRawBufferPointer) throws -> Bool {
    guard let end = try upload.append(bytes, for: request, limit: limit) else { return false }
    offset = end
    try digest?.update(bytes)
    uncheckedBytes += bytes.count
    if let told, uncheckedBytes >= Self.step { tellOffset(to: told) }
    return true
  }

  private func tellOffset(to connection: Connection) {
    uncheckedBytes = 0
    let now = ContinuousClock.now
    guard now - lastTold >= Self.interval else { return }
    lastTold = now
    connection.sendInterim(Service.interimResponse(["Upload-Offset": "\(offset)"]))
  }

  /// Ends the body, which has arrived completely.
  func end() throws -> End {
    if let digest {
      try digest.check()
      guard try upload.accept(for: request) else { return .superseded }
    }
    guard completes ?? upload.isFull(for: request) else {
      guard let offset = upload.offset(for: request) else { return .superseded }
      upload.release(request)
      // The response tells it.
      isURLKnown = true
      return .part(offset: offset)
    }
    guard let whole = try upload.beginProcessing(for: request) else { return .superseded }
    isURLKnown = true
    return .whole(whole)
  }
}
