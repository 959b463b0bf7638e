import FormStreamTestSupport

/// A response as it was received.
typealias WireResponse = RecordedResponse

extension RecordedResponse {
  /// The values of all headers of that name.
  func headers(_ name: String) -> [String] { values(of: name) }
}

/// The connection ended without a response.
struct NoResponse: Error {}

extension RawClient {
  /// All responses until the receiver closes or resets the connection.
  ///
  /// - Parameter mayRepeatHead: whether a response may contain its head twice.
  func responsesToEnd(mayRepeatHead: Bool = false) throws -> [WireResponse] {
    try receiveResponses(mayRepeatHead: mayRepeatHead)
  }

  /// The next response; nothing after it is read.
  func response(toHead: Bool = false) throws -> WireResponse {
    guard let response = try receiveResponse(toHEAD: toHead) else { throw NoResponse() }
    return response
  }
}
