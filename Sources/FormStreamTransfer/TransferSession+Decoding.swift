extension TransferSession {
  /// Sends a request and decodes the response that confirms it from JSON.
  ///
  /// - Throws: what ``send(_:progress:)`` throws; `invalidJSON` or `responseTooLarge` if the response can't be decoded: the
  ///   error's ``TransferError/outcome`` is `ok` then, because the server has accepted the request.
  public func send<Value: Decodable>(
    _ request: TransferRequest, as type: Value.Type,
    progress: (@Sendable (TransferProgress) -> Void)? = nil
  ) async throws -> Value {
    let response = try await send(request, progress: progress)
    do {
      return try response.decoded(as: type)
    } catch {
      throw error.ending(as: .ok, response)
    }
  }
}
