/// Asks for compressed responses (`Accept-Encoding: deflate, gzip`), which are decoded while they arrive.
///
/// The headers of the response stay as they are, so `Content-Length` is the compressed length. A response in another coding, or
/// with damaged, missing or surplus bytes, is an error: `decompressionFailed`.
public struct ResponseCompression: Sendable, Hashable {
  /// The largest body after decoding, in bytes: a small response can become a very large body. Decoding more is an error,
  /// `responseTooLarge`. If a response is kept in memory, only the part that is kept is decoded.
  public var limit: Int64

  /// Decodes up to `limit` bytes: 1 GiB by default.
  public init(limit: Int64 = 1 << 30) {
    self.limit = limit
  }
}
