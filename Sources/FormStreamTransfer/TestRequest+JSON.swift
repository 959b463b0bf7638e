public import Foundation

extension TestRequest {
  /// Reads the body as JSON.
  ///
  /// - Throws: the errors of ``/FormStreamHTTP/TestRequest/body(upTo:)``; the decoder's errors.
  public func decoded<Value: Decodable & Sendable>(
    as type: Value.Type = Value.self, decoder: JSONDecoder = JSONDecoder()
  ) async throws -> Value {
    try decoder.decode(type, from: Data(try await body()))
  }
}

extension TestResponse {
  /// A response with a value as JSON.
  ///
  /// - Throws: the encoder's errors.
  public static func json(
    _ value: some Encodable, status: Int = 200, headers: HTTPHeaders = [:],
    encoder: JSONEncoder = JSONEncoder()
  ) throws -> TestResponse {
    .json(String(decoding: try encoder.encode(value), as: UTF8.self), status: status, headers: headers)
  }
}
