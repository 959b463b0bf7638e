import FormStreamMultipart

/// The headers of an upload that can go on (draft-ietf-httpbis-resumable-upload, interop version 8).
extension HTTPHeaders {
  /// These headers, and the offer to the server to keep what arrives.
  ///
  /// "The client can invite the server to upgrade such a request to a resumable upload by adding the `Upload-Complete: ?1`
  /// header field to the original request. The `Upload-Length` header field SHOULD be added".
  func offeringUpload(of length: Int64?) -> HTTPHeaders {
    var sent = self
    sent.append("Upload-Draft-Interop-Version", UploadNotes.interopVersion)
    sent.append("Upload-Complete", "?1")
    if let length { sent.append("Upload-Length", "\(length)") }
    return sent
  }

  /// The headers of the question for the offset.
  var askingForOffset: HTTPHeaders {
    var sent = aboutUpload
    sent.append("Upload-Draft-Interop-Version", UploadNotes.interopVersion)
    return sent
  }

  /// The headers of the rest of an upload.
  func appending(from offset: Int64) -> HTTPHeaders {
    var sent = askingForOffset
    sent.append("Content-Type", "application/partial-upload")
    sent.append("Upload-Offset", "\(offset)")
    sent.append("Upload-Complete", "?1")
    return sent
  }

  /// The headers that are not about the request's own resource: without those that describe its content, and without
  /// conditions, which would be checked against the unfinished upload (RFC 9110 §13).
  private var aboutUpload: HTTPHeaders {
    var rest = HTTPHeaders()
    for field in withoutContent.fields where !field.name.lowercased().hasPrefix("if-") {
      rest.append(field)
    }
    return rest
  }

  /// The headers that an upload that can go on sends itself.
  static let ofUploads = [
    "Upload-Draft-Interop-Version", "Upload-Complete", "Upload-Length", "Upload-Offset",
  ]
}
