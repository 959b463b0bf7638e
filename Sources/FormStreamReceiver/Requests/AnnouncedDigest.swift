import FormStreamPlatform
import FormStreamDigest
import FormStreamMultipart

/// The SHA-256 that a client announces for its body (RFC 9530). `Content-Digest` is the digest of the bytes that are sent,
/// and `Repr-Digest` is the digest of the file. Both are the same here, because partial and compressed files are not
/// accepted. Only the parts of a resumable upload have a `Content-Digest` of their own.
struct AnnouncedDigest {
  /// The header with the digest of the bytes of one request.
  static let contentHeader = "Content-Digest"
  private static let headers = [contentHeader, "Repr-Digest"]

  private let digests: Set<[UInt8]>

  /// Reads the headers; nil if they announce no SHA-256.
  ///
  /// RFC 9530 §2: "A recipient MAY ignore any or all of the Integrity fields' members". Members for other algorithms are
  /// ignored.
  ///
  /// - Parameter headers: the names of the headers.
  /// - Throws: a refusal if a header can't be read. RFC 9651 §4.2 allows ignoring the header instead, but then the client
  ///   would take the response for a confirmation of its digest.
  init?(_ head: RequestHead, headers: [String] = headers) throws(UploadRefusal) {
    var digests: Set<[UInt8]> = []
    for name in headers {
      let lines = head.values(of: name)
      guard !lines.isEmpty else { continue }
      guard let field = StructuredDictionary(lines.joined(separator: ", ")) else {
        throw UploadRefusal(
          .badRequest, status: 400,
          "The header \(name) is not a dictionary of digests: send sha-256=:BASE64:, or none.")
      }
      switch field.values["sha-256"] {
      case nil: continue
      case .bytes(let bytes) where bytes.count == SHA256Digest.byteCount: digests.insert(bytes)
      default:
        throw UploadRefusal(
          .badRequest, status: 400,
          "The sha-256 of \(name) is not 32 bytes in base 64 between two colons: send sha-256=:BASE64:, or none."
        )
      }
    }
    guard !digests.isEmpty else { return nil }
    self.digests = digests
  }

  /// Throws a refusal if the body's digest is not the announced one.
  func check(_ body: SHA256Digest) throws(UploadRefusal) {
    guard digests != [body.bytes] else { return }
    throw UploadRefusal(
      .digestMismatch, status: 400,
      "The SHA-256 of the body is \(body), and not the announced one: it was changed on its way, or while it was "
        + "read. Nothing of it was kept.")
  }
}
