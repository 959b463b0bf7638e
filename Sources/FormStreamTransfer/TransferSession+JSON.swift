// Requests with a JSON body in a line. They throw what `send(_:progress:)` throws, and `invalidURL`.

extension TransferSession {
  /// Posts a value as JSON.
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

  /// Puts a value as JSON.
  @discardableResult
  public func put(
    _ url: some HTTPURLConvertible, json value: some Encodable & Sendable,
    headers: HTTPHeaders = [:], credentials: Credentials? = nil,
    options: TransferOptions = TransferOptions(), progress: ProgressHandler? = nil
  ) async throws -> TransferResponse {
    let request = try TransferRequest(
      .put, url, headers: headers, body: .json(value), credentials: credentials, options: options)
    return try await send(request, progress: progress)
  }

  /// Patches a resource with a value as JSON.
  @discardableResult
  public func patch(
    _ url: some HTTPURLConvertible, json value: some Encodable & Sendable,
    headers: HTTPHeaders = [:], credentials: Credentials? = nil,
    options: TransferOptions = TransferOptions(), progress: ProgressHandler? = nil
  ) async throws -> TransferResponse {
    let request = try TransferRequest(
      .patch, url, headers: headers, body: .json(value), credentials: credentials, options: options)
    return try await send(request, progress: progress)
  }
}
