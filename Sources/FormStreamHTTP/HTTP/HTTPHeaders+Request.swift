public import FormStreamMultipart

extension HTTPHeaders {
  /// The maximum number of headers that a request may be given.
  public static let maximumCount = 200
  /// The maximum length of a value in a request, in bytes.
  public static let maximumValueSize = 64 * 1024

  /// Checks the headers that the caller gave a request.
  ///
  /// - Throws: `invalidHeader`.
  package func checkOfRequest() throws(TransferError) {
    for field in fields {
      guard let flaw = field.flaw(derived: Self.derived, maximumSize: Self.maximumValueSize) else {
        continue
      }
      throw .headerUnusable(field.name, flaw)
    }
    for name in Self.single where fields.count(where: { $0.name.isSameHeaderName(as: name) }) > 1 {
      throw .secondHeader(name)
    }
    guard let last = fields.last, fields.count > Self.maximumCount else { return }
    throw .tooManyHeaders(last.name, limit: Self.maximumCount)
  }

  /// The headers that may be sent only once. With two of them, the server would choose which one it reads. Of two `Host`
  /// headers, libcurl sends only the first.
  private static let single = ["Host", "Content-Type"]

  /// The headers that a caller can't set, and why.
  private static let derived = [
    (name: "Content-Length", reason: "it is derived from the body"),
    (name: "Transfer-Encoding", reason: "it depends on whether the body's length is known"),
    (name: "Expect", reason: "the request has an option for it"),
    (name: "Connection", reason: "the session manages its connections itself"),
    (name: "Keep-Alive", reason: "the session manages its connections itself"),
    (name: "Proxy-Connection", reason: "the session manages its connections itself"),
    (name: "TE", reason: "trailers and transfer codings are not supported"),
    (name: "Trailer", reason: "trailers are not supported"),
    (name: "Upgrade", reason: "other protocols are not supported"),
    (name: "HTTP2-Settings", reason: "other protocols are not supported"),
  ]
}
