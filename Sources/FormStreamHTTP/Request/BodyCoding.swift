import FormStreamMultipart

/// How the body of a request is coded while it is sent (RFC 9110 §8.4).
public struct BodyCoding: Hashable, Sendable {
  private enum Kind { case none, gzip }
  private let kind: Kind

  /// The body is sent as it is.
  public static let none = BodyCoding(kind: .none)
  /// The body is compressed while it is read, and `Content-Encoding: gzip` is sent with it. This is for servers that accept it:
  /// others respond 415, or store the compressed bytes as they are.
  ///
  /// The body's length is then not known beforehand. Unless ``TransferOptions/readAhead`` is enough for the complete body, the
  /// body is sent in chunks, and its progress has no total. The progress has no parts.
  /// ``TransferResult/sha256`` and `Content-Digest` (``TransferOptions/sendsDigest``) are digests of the compressed bytes.
  public static let gzip = BodyCoding(kind: .gzip)

  /// The value of `Content-Encoding`; nil if there is none.
  package var name: String? { kind == .gzip ? "gzip" : nil }
}

extension BodyLayout {
  /// The body as it is sent.
  func coded(as coding: BodyCoding) throws(TransferError) -> BodyLayout {
    guard coding == .gzip else { return self }
    do throws(MultipartError) {
      return try PartBody.stream(replay: isReplayable ? .repeatable : .once) {
        try GzipSource(self)
      }
      .layout()
    } catch {
      throw TransferError(error)
    }
  }
}
