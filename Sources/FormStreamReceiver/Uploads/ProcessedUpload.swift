import FormStreamMultipart
import FormStreamPlatform

/// A complete upload while the handler processes it. If it is released without a response, the upload can be completed again.
final class ProcessedUpload {
  /// The statuses that say that the server had no room or memory. The upload can be completed again later.
  private static let passingStatuses = [503, 507]
  /// The most bytes of a record that a header brings: 2 KiB in base 64. nginx accepts no more than 4 KiB of headers by default. Who
  /// needs a larger record asks for it with a GET of the upload's URL.
  private static let largestRecordInHeader = 1536

  /// The head of the request that created the upload.
  let origin: RequestHead
  private let upload: PartialUpload
  private let whole: PartialUpload.Whole
  /// What the request that completed the upload wants of it.
  private let purpose: Append.Purpose
  private var isSettled = false
  /// The note that the handler is about to end the upload; nil if there is none.
  private var note: PartialUpload.StoringNote?

  init(
    _ upload: PartialUpload, _ whole: PartialUpload.Whole, _ origin: RequestHead,
    for purpose: Append.Purpose
  ) {
    (self.upload, self.whole, self.origin) = (upload, whole, origin)
    self.purpose = purpose
  }

  deinit {
    guard !isSettled else { return }
    if isURLKnown { upload.reopen(whole, by: note) } else { upload.discard(whole) }
  }

  /// Whether the client can go on with the upload. A refused creation by tus doesn't name the upload's URL.
  private var isURLKnown: Bool { !origin.isTus || purpose != .creation }

  /// Whether the upload can be completed again after a response with this status.
  func canBeCompleted(after status: Int) -> Bool {
    Self.passingStatuses.contains(status) && isURLKnown && upload.hasBytes
  }

  /// The bytes of the complete upload.
  var size: Int64 { whole.size }

  /// The creating request, as if it had brought the complete body.
  func request(from peer: String) -> UploadRequest {
    var request = origin.request(from: peer)
    (request.framing, request.contentLength) = (.contentLength, whole.size)
    request.hasArrived = true
    return request
  }

  /// The status that the client gets instead of a status. tus: "The Server MUST acknowledge successful PATCH requests with the 204
  /// No Content status."
  func status(for status: Int) -> Int {
    origin.isTus && status < 400 ? tusResponse(for: purpose).status : status
  }

  /// The response to a complete upload by tus. It has no body, so a header brings the record: without the record, the client would
  /// not know under which name the file is stored.
  private func tusResponse(for purpose: Append.Purpose, record: [UInt8]? = nil) -> Response {
    var response: Response =
      switch purpose {
      case .creation:
        .uploads(201, ["Location": upload.id.path, "Upload-Offset": "\(whole.size)"])
      case .part: .uploads(204, ["Upload-Offset": "\(whole.size)"])
      case .progress:
        .tusProgress(
          offset: whole.size, length: whole.size, of: origin, secondsLeft: upload.secondsLeft)
      }
    if let record, record.count <= Self.largestRecordInHeader {
      response.headers.append(TusProtocol.recordHeader, base64(record))
    }
    return response
  }

  /// Notes that the handler is about to end the upload.
  ///
  /// - Parameter movesFile: whether the handler has taken over the file with the bytes.
  func noteStoring(movesFile: Bool) throws {
    note = try upload.noteStoring(whole, movesFile: movesFile)
  }

  /// Notes the response, and marks it as the one to the complete upload (`Upload-Complete: ?1`). If the server only had no room,
  /// nothing is noted, and the client may complete the upload once more (`?0`).
  ///
  /// To a client of tus, an upload that has all its bytes is a success. So one that was refused for good is removed. One for which
  /// there was no room is processed again when the client asks for the offset.
  ///
  /// - Parameter record: the record of the upload; nil if the client must not get it.
  func settle(_ response: inout Response, record: [UInt8]? = nil) {
    guard !isSettled else { return }
    isSettled = true
    defer { note = nil }
    if canBeCompleted(after: response.status) {
      if !origin.isTus { response.headers.append("Upload-Complete", "?0") }
      upload.reopen(whole, by: note)
    } else if origin.isTus {
      guard response.status < 400 else { return upload.discard(whole) }
      upload.finish(
        Self.complete(tusResponse(for: .part, record: record)), record: record, whole)
      let closes = response.closes
      response = Self.complete(tusResponse(for: purpose, record: record))
      response.closes = closes
    } else {
      response = Self.complete(response)
      upload.finish(response, record: nil, whole)
    }
  }

  private static func complete(_ response: Response) -> Response {
    var response = response
    response.headers.append("Upload-Complete", "?1")
    return response
  }
}
