// The same as in `TransferSession+Verbs.swift`, with the response decoded. They throw what
// `send(_:as:progress:)` throws.

extension TransferSession {
  /// Gets a resource, and decodes it from JSON.
  public func get<Value: Decodable & Sendable>(
    _ url: some HTTPURLConvertible, as type: Value.Type, query: KeyValuePairs<String, String> = [:],
    headers: HTTPHeaders = [:], credentials: Credentials? = nil,
    options: TransferOptions = TransferOptions(), progress: ProgressHandler? = nil
  ) async throws -> Value {
    let request = try TransferRequest(
      .get, url, query: query, headers: headers, credentials: credentials, options: options)
    return try await send(request, as: type, progress: progress)
  }

  /// Deletes a resource, and decodes the response from JSON.
  public func delete<Value: Decodable & Sendable>(
    _ url: some HTTPURLConvertible, as type: Value.Type, headers: HTTPHeaders = [:],
    credentials: Credentials? = nil, options: TransferOptions = TransferOptions(),
    progress: ProgressHandler? = nil
  ) async throws -> Value {
    let request = try TransferRequest(
      .delete, url, headers: headers, credentials: credentials, options: options)
    return try await send(request, as: type, progress: progress)
  }

  /// Posts a form, and decodes the response from JSON.
  public func post<Value: Decodable & Sendable>(
    _ url: some HTTPURLConvertible, form: Form, as type: Value.Type, headers: HTTPHeaders = [:],
    credentials: Credentials? = nil, options: TransferOptions = TransferOptions(),
    progress: ProgressHandler? = nil
  ) async throws -> Value {
    let request = try TransferRequest(
      .post, url, headers: headers, body: .form(form), credentials: credentials, options: options)
    return try await send(request, as: type, progress: progress)
  }

  /// Posts a value as JSON, and decodes the response from JSON.
  public func post<Value: Decodable & Sendable>(
    _ url: some HTTPURLConvertible, json value: some Encodable & Sendable, as type: Value.Type,
    headers: HTTPHeaders = [:], credentials: Credentials? = nil,
    options: TransferOptions = TransferOptions(), progress: ProgressHandler? = nil
  ) async throws -> Value {
    let request = try TransferRequest(
      .post, url, headers: headers, body: .json(value), credentials: credentials, options: options)
    return try await send(request, as: type, progress: progress)
  }

  /// Posts names and values as browsers send a form without files, and decodes the response from JSON.
  public func post<Value: Decodable & Sendable>(
    _ url: some HTTPURLConvertible, fields: KeyValuePairs<String, String>, as type: Value.Type,
    headers: HTTPHeaders = [:], credentials: Credentials? = nil,
    options: TransferOptions = TransferOptions(), progress: ProgressHandler? = nil
  ) async throws -> Value {
    let request = try TransferRequest(
      .post, url, headers: headers, body: .urlEncoded(URLEncodedField.list(fields)),
      credentials: credentials, options: options)
    return try await send(request, as: type, progress: progress)
  }

  /// Posts a body of any kind, and decodes the response from JSON.
  public func post<Value: Decodable & Sendable>(
    _ url: some HTTPURLConvertible, body: TransferBody, as type: Value.Type,
    headers: HTTPHeaders = [:], credentials: Credentials? = nil,
    options: TransferOptions = TransferOptions(), progress: ProgressHandler? = nil
  ) async throws -> Value {
    let request = try TransferRequest(
      .post, url, headers: headers, body: body, credentials: credentials, options: options)
    return try await send(request, as: type, progress: progress)
  }

  /// Puts a file, and decodes the response from JSON.
  public func put<Value: Decodable & Sendable>(
    _ url: some HTTPURLConvertible, file: some LocalPathConvertible, as type: Value.Type,
    headers: HTTPHeaders = [:], credentials: Credentials? = nil,
    options: TransferOptions = TransferOptions(), progress: ProgressHandler? = nil
  ) async throws -> Value {
    let request = try TransferRequest(
      .put, url, headers: headers, body: .file(file), credentials: credentials, options: options)
    return try await send(request, as: type, progress: progress)
  }

  /// Puts a value as JSON, and decodes the response from JSON.
  public func put<Value: Decodable & Sendable>(
    _ url: some HTTPURLConvertible, json value: some Encodable & Sendable, as type: Value.Type,
    headers: HTTPHeaders = [:], credentials: Credentials? = nil,
    options: TransferOptions = TransferOptions(), progress: ProgressHandler? = nil
  ) async throws -> Value {
    let request = try TransferRequest(
      .put, url, headers: headers, body: .json(value), credentials: credentials, options: options)
    return try await send(request, as: type, progress: progress)
  }

  /// Puts a body of any kind, and decodes the response from JSON.
  public func put<Value: Decodable & Sendable>(
    _ url: some HTTPURLConvertible, body: TransferBody, as type: Value.Type,
    headers: HTTPHeaders = [:], credentials: Credentials? = nil,
    options: TransferOptions = TransferOptions(), progress: ProgressHandler? = nil
  ) async throws -> Value {
    let request = try TransferRequest(
      .put, url, headers: headers, body: body, credentials: credentials, options: options)
    return try await send(request, as: type, progress: progress)
  }

  /// Patches a resource with a value as JSON, and decodes the response from JSON.
  public func patch<Value: Decodable & Sendable>(
    _ url: some HTTPURLConvertible, json value: some Encodable & Sendable, as type: Value.Type,
    headers: HTTPHeaders = [:], credentials: Credentials? = nil,
    options: TransferOptions = TransferOptions(), progress: ProgressHandler? = nil
  ) async throws -> Value {
    let request = try TransferRequest(
      .patch, url, headers: headers, body: .json(value), credentials: credentials, options: options)
    return try await send(request, as: type, progress: progress)
  }

  /// Patches a resource with a body of any kind, and decodes the response from JSON.
  public func patch<Value: Decodable & Sendable>(
    _ url: some HTTPURLConvertible, body: TransferBody, as type: Value.Type,
    headers: HTTPHeaders = [:], credentials: Credentials? = nil,
    options: TransferOptions = TransferOptions(), progress: ProgressHandler? = nil
  ) async throws -> Value {
    let request = try TransferRequest(
      .patch, url, headers: headers, body: body, credentials: credentials, options: options)
    return try await send(request, as: type, progress: progress)
  }
}
