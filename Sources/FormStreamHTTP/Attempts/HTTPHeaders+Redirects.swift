import FormStreamMultipart

// Which headers of a request are sent after a redirect.
extension HTTPHeaders {
  /// The headers that a receiver needs to read the body, and the headers that continue a download. The caller didn't write the
  /// headers of the download.
  func sentToAnyOrigin(of request: TransferRequest) -> HTTPHeaders {
    var names = ["content-type", "content-encoding", "content-digest"]
    if request.options.isOfDownload { names += ["range", "if-range"] }
    var rest = HTTPHeaders()
    for field in fields where names.contains(field.name.lowercased()) {
      rest.append(field)
    }
    return rest
  }

  /// All headers except the headers that describe the body, because the body is not sent (RFC 9110 §15.4).
  var withoutContent: HTTPHeaders {
    var rest = HTTPHeaders()
    for field in fields
    where !field.name.lowercased().hasPrefix("content-")
      && !field.name.isSameHeaderName(as: "Idempotency-Key")
    {
      rest.append(field)
    }
    return rest
  }
}
