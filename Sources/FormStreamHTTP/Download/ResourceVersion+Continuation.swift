import FormStreamMultipart

/// Whether a response to a request for the rest of a file continues the version whose beginning is stored.
extension ResourceVersion {
  /// Why a response of status 206 to a request with `validator` doesn't continue this version; nil if it does. A server may
  /// ignore `If-Range`, so the response must describe the same version as before.
  func reasonNotToContinue(with head: TransferResponse, from offset: Int64) throws -> String? {
    let headers = head.headers
    guard !headers.isOfSeveralRanges else {
      return "the server sent the range in parts (multipart/byteranges)"
    }
    guard let range = ContentRange(headers), let bytes = range.bytes else {
      return "the range that the server sent says nothing of its place (Content-Range)"
    }
    guard bytes.lowerBound == offset else {
      return
        "the server sent the bytes from \(bytes.lowerBound) on, and was asked for those from \(offset) on"
    }
    guard let total = range.total ?? length,
      range.total == nil || length == nil || range.total == length
    else { return "the length changed, or is not known" }
    guard bytes.upperBound <= total else { return "the range ends after the end" }
    let now = try ResourceVersion(headers, from: head.url, length: total)
    guard isSource(of: now) else { return "a redirect leads to another resource" }
    if now.entityTag != entityTag { return "the entity tag changed" }
    if now.encoding != encoding { return "the content coding changed" }
    // RFC 9110 §15.3.7 lets a server leave `Last-Modified` out if there is an entity tag.
    if now.lastModified != lastModified, entityTag == nil || now.lastModified != nil {
      return "the date of the last modification changed"
    }
    return nil
  }

  /// Why a response of status 200 may not be the complete file; nil if it certainly is. Some servers send only the bytes from
  /// `offset` on, as requested, but with status 200.
  func reasonToAskForEverything(after response: ResourceVersion, from offset: Int64) -> String? {
    if let length, let announced = response.length,
      isSameVersion(as: response) || announced != length - offset
    {
      return nil
    }
    return "the server may have sent the rest as if it were everything"
  }

  /// Whether a response of status 416 says that the first `size` bytes are the complete version.
  func isComplete(_ size: Int64, by head: TransferResponse) throws -> Bool {
    let headers = head.headers
    guard let range = ContentRange(headers), range.bytes == nil, range.total == size,
      length == nil || length == size,
      isSource(of: try ResourceVersion(headers, from: head.url, length: size))
    else { return false }
    // Servers may leave the tag out. Then the length that was announced with the stored bytes must prove that they are
    // complete.
    guard let tag = headers.joined("ETag") else { return length == size }
    return tag == entityTag
  }
}
