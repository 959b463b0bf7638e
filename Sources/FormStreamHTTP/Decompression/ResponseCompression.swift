/// Asks for compressed responses (`Accept-Encoding: deflate, gzip`), which are decoded while they arrive.
///
/// The headers of the response stay as they are, so `Content-Length` is the compressed length. A response in another
/// coding, or with bytes that are damaged, missing at the end or left over after it, is an error: `decompressionFailed`.
public struct ResponseCompression: Sendable, Hashable {
  /// The largest body after decoding, in bytes: a small response can become a very large body. Decoding more is an error,
  /// `responseTooLarge`. If a response is kept in memory, no more of it is decoded than is kept.
  public var limit: Int64

  /// Decodes up to 1 GiB, or another limit.
  public init(limit: Int64 = 1 << 30) {
    self.limit = limit
  }
}
