public import Foundation

extension TransferError {
  /// Decodes the body of the response that refused the request as JSON: many servers explain a refusal in JSON. Nil if no
  /// response arrived, or if the body is something else; ``TransferResponse/decoded(as:decoder:)`` says why.
  public func decodedError<Value: Decodable>(
    as type: Value.Type = Value.self, decoder: JSONDecoder = JSONDecoder()
  ) -> Value? {
    try? response?.decoded(as: type, decoder: decoder)
  }
}

extension TransferError: LocalizedError {
  /// The description.
  public var errorDescription: String? { description }
}
