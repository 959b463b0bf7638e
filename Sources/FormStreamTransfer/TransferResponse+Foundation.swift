import FormStreamPlatform
public import Foundation

extension TransferResponse {
  /// The body as `Data`: a copy of ``/FormStreamHTTP/TransferResponse/body``.
  public var data: Data { Data(body) }

  /// Decodes the body as JSON. If there is no body, as with a 204, a value of an optional type is nil.
  ///
  /// - Throws: `invalidJSON`; `responseTooLarge` if only a part of the body was kept. If a session returned the response, the
  ///   error's ``/FormStreamHTTP/TransferError/outcome`` is `ok`, because the server has accepted the request.
  public func decoded<Value: Decodable>(
    as type: Value.Type = Value.self, decoder: JSONDecoder = JSONDecoder()
  ) throws(TransferError) -> Value {
    guard !isTruncated else {
      throw failure(
        .responseTooLarge,
        "Only the first \(counted(body.count, "byte", "bytes")) of the response from \(url) \(body.count == 1 ? "was" : "were") kept: raise the limit of "
          + "the response's target to decode it.")
    }
    // A response without a body, such as a 204, has nothing to decode.
    if body.isEmpty, let type = Value.self as? any OptionalValue.Type,
      let none = type.none as? Value
    {
      return none
    }
    do {
      return try decoder.decode(type, from: data)
    } catch {
      throw failure(
        .invalidJSON,
        "The response from \(url) can't be decoded from JSON as \(type): \(clause(error)).",
        underlying: error)
    }
  }

  private func failure(
    _ code: TransferError.Code, _ message: Message, underlying: (any Error)? = nil
  ) -> TransferError {
    let error = TransferError(code, on: url.description, message, underlying: underlying)
    return outcome.map { error.ending(as: $0, self) } ?? error
  }
}

/// An optional type, whatever it wraps.
private protocol OptionalValue {
  static var none: Self { get }
}

extension Optional: OptionalValue {}
