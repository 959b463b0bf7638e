import FormStreamMultipart

/// Refuses uploads with conditions on stored files, and uploads of a part of a file. If the headers of such uploads were
/// ignored, the receiver would store a file that the client didn't want stored, or a part of a file as if it were complete.
extension RequestHead {
  /// Why the upload is refused; nil if its body is complete.
  var partRefusal: UploadRefusal? {
    // RFC 9110 §14.5: "An origin server SHOULD respond with a 400 (Bad Request) status code if it receives Content-Range
    // on a PUT for a target resource that does not support partial PUT requests." The other headers belong to resumable
    // uploads (draft-ietf-httpbis-resumable-upload), in its current and its earlier drafts.
    if !values(of: "Content-Range").isEmpty { return .partialUpload("Content-Range") }
    // A request of tus that creates an upload has no body yet.
    if isTus { return .partialUpload(TusProtocol.header) }
    let marks = [("Upload-Complete", complete: "?1"), ("Upload-Incomplete", complete: "?0")]
    let mark = marks.first { name, complete in
      values(of: name).contains { $0 != complete }
    }
    return mark.map { .partialUpload($0.0) }
  }

  /// Why the conditions of the upload are refused; nil if there are none, or the handler checks them.
  ///
  /// `If-Modified-Since` (RFC 9110 §13.1.3) and `If-Range` (§13.1.5) are not conditions for uploads.
  func conditionRefusal(supportsIfNoneMatch: Bool) -> UploadRefusal? {
    let names = ["If-Match", "If-None-Match", "If-Unmodified-Since"]
    let conditions = fields.filter { field in
      names.contains { field.name.isSameHeaderName(as: $0) }
    }
    guard let first = conditions.first else { return nil }
    if supportsIfNoneMatch, method == "PUT", conditions.count == 1,
      first.name.isSameHeaderName(as: "If-None-Match"), first.value.trimmingBlanks() == "*"
    {
      return nil
    }
    return UploadRefusal(
      .conditionUnsupported, status: 501,
      "The condition \"\(first.name): \(first.value)\" can't be checked here: send none, or \"If-None-Match: *\" with a "
        + "PUT to a receiver that stores files.")
  }
}

extension UploadRefusal {
  /// The refusal of a body that is only a part of a file, according to the header with this name.
  static func partialUpload(_ name: String) -> UploadRefusal {
    UploadRefusal(
      .partialUpload, status: 400,
      "The header \(name) says that this is only a part of a file: send the complete file in one request."
    )
  }
}
