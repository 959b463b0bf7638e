public import Foundation

extension HTTPURL {
  /// Converts a Foundation URL.
  ///
  /// - Throws: `invalidURL`.
  public init(_ url: URL) throws(TransferError) {
    try self.init(url.absoluteString)
  }
}

extension URL: HTTPURLConvertible {
  /// This URL as an `HTTPURL`.
  ///
  /// - Throws: `invalidURL` unless the scheme is http or https.
  public func httpURL() throws(TransferError) -> HTTPURL { try HTTPURL(self) }
}
