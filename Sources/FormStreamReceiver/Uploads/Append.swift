import FormStreamIntake
import FormStreamMultipart
import FormStreamPlatform

/// The body of a request that creates an upload or appends to it, while it arrives. It is called by the thread of the request's
/// connection. If it is released before the end, what has arrived is kept.
final class Append {
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
  /// Whether the request creates the upload.
  let isCreation: Bool
  private let request: Int
  private let completes: Bool?
  private let limit: Int64
  /// The connection, if the client understands interim responses.
  private let told: Connection?
  private var lastTold = ContinuousClock.now
  private var uncheckedBytes = 0
  private(set) var offset: Int64
  private let start: Int64
  /// The announced digest of this part, and the digest of what has arrived.
  private let announced: (digest: AnnouncedDigest, sum: PartDigest)?

  /// - Parameters:
  ///   - request: the number of the request, which owns the upload.
  ///   - completes: whether the upload is complete after the body; nil if it is when it has its length.
  ///   - limit: the most bytes of an upload.
  ///   - offset: where the body begins.
  ///   - told: the connection for interim responses; nil if none are sent.
  ///   - announced: the announced digest of this part; nil if there is none.
  init(
    to upload: PartialUpload, in store: UploadStore, request: Int, isCreation: Bool,
    completes: Bool?, limit: Int64, offset: Int64, told: Connection?,
    announced: AnnouncedDigest?
  ) throws {
    (self.upload, self.store, self.request) = (upload, store, request)
    (self.isCreation, self.completes, self.limit) = (isCreation, completes, limit)
    (self.offset, start) = (offset, offset)
    self.announced = try announced.map { ($0, try PartDigest()) }
    // What was told is never taken back.
    self.told = announced == nil ? told : nil
  }

  deinit { upload.release(request) }

  /// Reserves room for the body, so that the client learns early that there is none.
  func reserve(_ bytes: Int64) throws { try upload.reserve(bytes, for: request) }

  /// Appends the next bytes. Returns false if a newer request owns the upload.
  func receive(_ bytes: UnsafeRawBufferPointer) throws -> Bool {
    guard let end = try upload.append(bytes, for: request, limit: limit) else { return false }
    offset = end
    try announced?.sum.update(bytes)
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
    if let announced, let sum = try announced.sum.finalize() {
      do {
        try announced.digest.check(sum)
      } catch {
        try upload.takeBack(to: start, for: request)
        throw error
      }
    }
    guard completes ?? upload.isFull(for: request) else {
      guard let offset = upload.offset(for: request) else { return .superseded }
      upload.release(request)
      return .part(offset: offset)
    }
    guard let whole = try upload.beginProcessing(for: request) else { return .superseded }
    return .whole(whole)
  }
}
