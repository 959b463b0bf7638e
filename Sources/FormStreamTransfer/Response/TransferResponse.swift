import FormStreamPlatform
public import Foundation

/// A server's response.
public struct TransferResponse: Sendable {
  /// The status, such as 200.
  public let status: Int
  /// The HTTP version of the response, such as `1.1` or `2`.
  public let version: String
  /// The URL that the response came from, after all redirects.
  public let url: HTTPURL
  /// The headers.
  public let headers: HTTPHeaders
  /// The body, or the part of it that was kept; empty if it went to another target.
  public let body: Data
  /// Whether a part of the body is missing. That can be so in a result that has an error, in the response to a refused
  /// request, and with ``ResponseTarget/truncated(at:)``.
  public internal(set) var isTruncated: Bool

  var withoutBody: TransferResponse {
    TransferResponse(
      status: status, version: version, url: url, headers: headers, body: Data(),
      isTruncated: isTruncated)
  }

  /// The same with no more than `limit` bytes of the body.
  func keeping(_ limit: Int) -> TransferResponse {
    TransferResponse(
      status: status, version: version, url: url, headers: headers,
      body: Data(body.prefix(limit)), isTruncated: isTruncated || body.count > limit)
  }

  /// The body as text, with malformed UTF-8 replaced.
  public var text: String { String(decoding: body, as: UTF8.self) }

  /// Decodes the body as JSON.
  ///
  /// - Throws: `invalidJSON`; `responseTooLarge` if only a part of the body was kept.
  public func decoded<Value: Decodable>(
    as type: Value.Type = Value.self, decoder: JSONDecoder = JSONDecoder()
  ) throws(TransferError) -> Value {
    guard !isTruncated else {
      throw TransferError(
        .responseTooLarge, on: url.description,
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
      return try decoder.decode(type, from: body)
    } catch {
      throw TransferError(
        .invalidJSON, on: url.description,
        "The response from \(url) can't be decoded from JSON as \(type): \(error).",
        underlying: error)
    }
  }
}

/// An optional type, whatever it wraps.
private protocol OptionalValue {
  static var none: Self { get }
}

extension Optional: OptionalValue {}
