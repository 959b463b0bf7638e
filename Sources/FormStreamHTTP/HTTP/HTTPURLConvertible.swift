/// What a request can be sent to: an ``HTTPURL``, a text, or, with `FormStreamTransfer`, a URL of Foundation.
public protocol HTTPURLConvertible: Sendable {
  /// The URL to request.
  ///
  /// - Throws: `invalidURL`.
  func httpURL() throws(TransferError) -> HTTPURL
}

extension HTTPURL: HTTPURLConvertible {
  /// This URL.
  public func httpURL() -> HTTPURL { self }
}

extension String: HTTPURLConvertible {
  /// This text, parsed as a URL.
  ///
  /// - Throws: `invalidURL`.
  public func httpURL() throws(TransferError) -> HTTPURL { try HTTPURL(self) }
}
