extension TransferSession {
  /// Posts a value as JSON. For other verbs, pass `body: .json(value)`.
  ///
  /// - Throws: what `send(_:progress:)` throws, and `invalidURL`.
  @discardableResult
  public func post(
    _ url: some HTTPURLConvertible, json value: some Encodable & Sendable,
    headers: HTTPHeaders = [:], credentials: Credentials? = nil,
    options: TransferOptions = TransferOptions(), progress: ProgressHandler? = nil
  ) async throws -> TransferResponse {
    let request = try TransferRequest(
      .post, url, headers: headers, body: .json(value), credentials: credentials, options: options)
    return try await send(request, progress: progress)
  }
}
