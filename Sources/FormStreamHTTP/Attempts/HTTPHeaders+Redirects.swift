import FormStreamMultipart

// Which headers of a request are sent after a redirect.
extension HTTPHeaders {
  /// The headers that a receiver needs to read the body, the headers that continue a download, and the session's headers that are
  /// not secret. The caller didn't write the headers of the download.
  func sentToAnyOrigin(of request: TransferRequest) -> HTTPHeaders {
    var names = ["content-type", "content-encoding", "content-digest"]
    if request.options.isOfDownload { names += ["range", "if-range"] }
    // A line of the session that the request has replaced is not among the request's lines.
    let shared = request.options.headersForAnyOrigin
    return filtered { names.contains($0.name.lowercased()) || shared.contains($0) }
  }

  /// All headers except the headers that describe the body, because the body is not sent (RFC 9110 §15.4).
  var withoutContent: HTTPHeaders {
    filtered {
      !$0.name.lowercased().hasPrefix("content-") && !$0.name.isSameHeaderName(as: "Idempotency-Key")
    }
  }

  /// The headers that a condition is true of.
  func filtered(by isKept: (Field) -> Bool) -> HTTPHeaders {
    var kept = HTTPHeaders()
    for field in fields where isKept(field) { kept.append(field) }
    return kept
  }

  /// These headers, and then others.
  static func + (one: HTTPHeaders, other: HTTPHeaders) -> HTTPHeaders {
    var all = one
    for field in other.fields { all.append(field) }
    return all
  }
}
