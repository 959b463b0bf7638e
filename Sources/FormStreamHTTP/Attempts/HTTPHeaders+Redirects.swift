import FormStreamMultipart

// The headers of a request that are sent on after a redirect.
extension HTTPHeaders {
  /// The headers without which a receiver would misread the body, and the headers that continue a download, which the caller
  /// didn't write.
  func sentToAnyOrigin(of request: TransferRequest) -> HTTPHeaders {
    var names = ["content-type", "content-encoding", "content-digest"]
    if request.options.responseTarget.isDownload { names += ["range", "if-range"] }
    var rest = HTTPHeaders()
    for field in fields where names.contains(field.name.lowercased()) {
      rest.append(field)
    }
    return rest
  }

  /// The headers, except headers that describe a body, because that body is not sent (RFC 9110 §15.4).
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
