public import FormStreamMultipart

// The most common requests, each in one line of code. Each verb has one function for each usual kind of body, and one with
// `body:` for all other bodies. All functions throw what `send(_:progress:)` throws, and `invalidURL`.

extension TransferSession {
  /// Receives the progress of a request; see ``result(of:progress:)``.
  public typealias ProgressHandler = @Sendable (TransferProgress) -> Void

  /// Gets a resource.
  nonisolated(nonsending) public func get(
    _ url: some HTTPURLConvertible, query: KeyValuePairs<String, String> = [:],
    headers: HTTPHeaders = [:], credentials: Credentials? = nil,
    options: TransferOptions = TransferOptions(), progress: ProgressHandler? = nil
  ) async throws -> TransferResponse {
    let request = try TransferRequest(
      .get, url, query: query, headers: headers, credentials: credentials, options: options)
    return try await send(request, progress: progress)
  }

  /// Deletes a resource.
  @discardableResult
  nonisolated(nonsending) public func delete(
    _ url: some HTTPURLConvertible, headers: HTTPHeaders = [:], credentials: Credentials? = nil,
    options: TransferOptions = TransferOptions(), progress: ProgressHandler? = nil
  ) async throws -> TransferResponse {
    let request = try TransferRequest(
      .delete, url, headers: headers, credentials: credentials, options: options)
    return try await send(request, progress: progress)
  }

  /// Posts a form.
  @discardableResult
  nonisolated(nonsending) public func post(
    _ url: some HTTPURLConvertible, form: Form, headers: HTTPHeaders = [:],
    credentials: Credentials? = nil, options: TransferOptions = TransferOptions(),
    progress: ProgressHandler? = nil
  ) async throws -> TransferResponse {
    let request = try TransferRequest(
      .post, url, headers: headers, body: .form(form), credentials: credentials, options: options)
    return try await send(request, progress: progress)
  }

  /// Posts names and values as browsers send a form without files: `application/x-www-form-urlencoded`.
  @discardableResult
  nonisolated(nonsending) public func post(
    _ url: some HTTPURLConvertible, fields: KeyValuePairs<String, String>,
    headers: HTTPHeaders = [:], credentials: Credentials? = nil,
    options: TransferOptions = TransferOptions(), progress: ProgressHandler? = nil
  ) async throws -> TransferResponse {
    let request = try TransferRequest(
      .post, url, headers: headers, body: .urlEncoded(URLEncodedField.list(fields)),
      credentials: credentials, options: options)
    return try await send(request, progress: progress)
  }

  /// Posts a body of any kind.
  @discardableResult
  nonisolated(nonsending) public func post(
    _ url: some HTTPURLConvertible, body: TransferBody, headers: HTTPHeaders = [:],
    credentials: Credentials? = nil, options: TransferOptions = TransferOptions(),
    progress: ProgressHandler? = nil
  ) async throws -> TransferResponse {
    let request = try TransferRequest(
      .post, url, headers: headers, body: body, credentials: credentials, options: options)
    return try await send(request, progress: progress)
  }

  /// Puts a file.
  @discardableResult
  nonisolated(nonsending) public func put(
    _ url: some HTTPURLConvertible, file: some LocalPathConvertible, headers: HTTPHeaders = [:],
    credentials: Credentials? = nil, options: TransferOptions = TransferOptions(),
    progress: ProgressHandler? = nil
  ) async throws -> TransferResponse {
    let request = try TransferRequest(
      .put, url, headers: headers, body: .file(file), credentials: credentials, options: options)
    return try await send(request, progress: progress)
  }

  /// Puts a body of any kind.
  @discardableResult
  nonisolated(nonsending) public func put(
    _ url: some HTTPURLConvertible, body: TransferBody, headers: HTTPHeaders = [:],
    credentials: Credentials? = nil, options: TransferOptions = TransferOptions(),
    progress: ProgressHandler? = nil
  ) async throws -> TransferResponse {
    let request = try TransferRequest(
      .put, url, headers: headers, body: body, credentials: credentials, options: options)
    return try await send(request, progress: progress)
  }

  /// Patches a resource with a body of any kind.
  @discardableResult
  nonisolated(nonsending) public func patch(
    _ url: some HTTPURLConvertible, body: TransferBody, headers: HTTPHeaders = [:],
    credentials: Credentials? = nil, options: TransferOptions = TransferOptions(),
    progress: ProgressHandler? = nil
  ) async throws -> TransferResponse {
    let request = try TransferRequest(
      .patch, url, headers: headers, body: body, credentials: credentials, options: options)
    return try await send(request, progress: progress)
  }
}
