import FormStreamMultipart

/// The headers of a request that belong to resumable uploads (draft-ietf-httpbis-resumable-upload §4.1). "Other values MUST
/// cause the entire header field to be ignored."
struct UploadFields {
  /// The version of the draft. It will be gone from the RFC.
  static let version: Int64 = 8

  /// Whether the body ends the upload; nil if the request is no part of a resumable upload.
  let isComplete: Bool?
  /// Where the body begins.
  let offset: Int64?
  /// The bytes of the complete upload.
  let length: Int64?
  /// Whether the client knows this version of the draft. Only such clients get interim responses.
  let isVersionKnown: Bool

  init(_ head: RequestHead) {
    isComplete = Self.item("Upload-Complete", in: head)?.boolean
    offset = Self.number("Upload-Offset", in: head)
    length = Self.number("Upload-Length", in: head)
    isVersionKnown = Self.number("Upload-Draft-Interop-Version", in: head) == Self.version
  }

  private static func number(_ name: String, in head: RequestHead) -> Int64? {
    item(name, in: head)?.integer.flatMap { $0 >= 0 ? $0 : nil }
  }

  /// RFC 9651 §4.2: several lines are one value, joined by commas. Such a value is not an item.
  private static func item(_ name: String, in head: RequestHead) -> StructuredDictionary.Value? {
    let lines = head.values(of: name)
    return lines.count == 1 ? StructuredDictionary.item(lines[0]) : nil
  }

  /// The length of the complete upload, as the request announces it by `Upload-Length`, or by a last body with a
  /// `Content-Length`; nil if it announces none.
  ///
  /// - Parameter offset: where the body begins.
  /// - Throws: a refusal if both are announced and differ, or the body is longer than the upload.
  func length(of head: RequestHead, at offset: Int64) throws(UploadRefusal) -> Int64? {
    guard let content = head.contentLength ?? (head.framing == .none ? 0 : nil) else {
      if let length, length < offset { throw .inconsistentLength }
      return length
    }
    let (end, isTooLarge) = offset.addingReportingOverflow(content)
    guard !isTooLarge, end <= Receiver.ResumableUploads.greatestNumber else {
      throw .inconsistentLength
    }
    if let length {
      guard isComplete == true ? end == length : end <= length else { throw .inconsistentLength }
      return length
    }
    return isComplete == true ? end : nil
  }
}
