public import Foundation

extension OpenResponse {
  /// Decodes the complete body as JSON.
  ///
  /// - Throws: `invalidJSON`; the errors of ``/FormStreamHTTP/OpenResponse/collect(upTo:)``.
  public func decoded<Value: Decodable>(
    as type: Value.Type = Value.self, upTo limit: Int = ResponseTarget.defaultLimit,
    decoder: JSONDecoder = JSONDecoder()
  ) async throws -> Value {
    var complete = response(with: try await collect(upTo: limit), isTruncated: false)
    complete.outcome = await result.outcome
    return try complete.decoded(as: type, decoder: decoder)
  }
}
