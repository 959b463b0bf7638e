import FormStreamMultipart
import FormStreamPlatform

/// A complete upload while the handler processes it. If it is released without a response, the upload can be completed again.
final class ProcessedUpload {
  /// The statuses that say that the server had no room or memory. The upload can be completed again later.
  private static let passingStatuses = [503, 507]
  /// The most bytes of a record that a header brings. Many clients and proxies accept no more than 8 KiB of headers.
  private static let largestRecordInHeader = 4096

  /// The head of the request that created the upload.
  let origin: RequestHead
  private let upload: PartialUpload
  private let whole: PartialUpload.Whole
  /// Whether the request that completed the upload has also created it.
  private let isCreation: Bool
  private var isSettled = false

  init(
    _ upload: PartialUpload, _ whole: PartialUpload.Whole, _ origin: RequestHead, isCreation: Bool
  ) {
    (self.upload, self.whole, self.origin) = (upload, whole, origin)
    self.isCreation = isCreation
  }

  deinit { if !isSettled { upload.reopen(whole) } }

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
    guard origin.isTus, (200...299).contains(status) else { return status }
    return isCreation ? 201 : 204
  }

  /// The response to a complete upload by tus. A 204 has no body, so a header brings the record: without the record, the client would
  /// not know under which name the file is stored.
  private func tusResponse(record: [UInt8]?) -> Response {
    var headers: HTTPHeaders = ["Upload-Offset": "\(whole.size)"]
    if isCreation { headers.append("Location", upload.id.path) }
    if let record, record.count <= Self.largestRecordInHeader {
      headers.append(TusProtocol.recordHeader, base64(record))
    }
    return .uploads(status(for: 200), headers)
  }

  /// Notes that the handler is about to end the upload.
  ///
  /// - Parameter movesFile: whether the handler has taken over the file with the bytes.
  func noteStoring(movesFile: Bool) throws { try upload.noteStoring(whole, movesFile: movesFile) }

  /// Notes the response, and marks it as the one to the complete upload (`Upload-Complete: ?1`). If the server only had no room,
  /// nothing is noted, and the client may complete the upload once more (`?0`).
  ///
  /// - Parameter record: the record of the upload; nil if the client must not get it.
  func settle(_ response: inout Response, record: [UInt8]? = nil) {
    guard !isSettled else { return }
    isSettled = true
    if Self.passingStatuses.contains(response.status), (try? whole.file.hasName) == true {
      response.headers.append("Upload-Complete", "?0")
      upload.reopen(whole)
    } else {
      if origin.isTus, (200...299).contains(response.status) {
        let closes = response.closes
        response = tusResponse(record: record)
        response.closes = closes
      }
      response.headers.append("Upload-Complete", "?1")
      upload.finish(response, whole)
    }
  }
}
