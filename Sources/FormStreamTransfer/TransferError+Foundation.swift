public import Foundation

extension TransferError {
  /// Decodes the body of the response that refused the request as JSON: many servers explain a refusal in JSON. Nil if no
  /// response arrived, or if its body can't be decoded; ``TransferResponse/decoded(as:decoder:)`` throws the reason.
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

/// What an error of Foundation says, as the end of a sentence. Some versions end it with a full stop, and some don't.
func clause(_ error: any Error) -> String {
  let text = "\(error)"
  return text.hasSuffix(".") ? String(text.dropLast()) : text
}
