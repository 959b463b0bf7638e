public import FormStreamMultipart

/// A request that a test answers; see ``TransferSession/init(_:answering:)``.
public struct TestRequest: Sendable {
  /// The number of the request in its session, from 1: retries and redirects are further requests.
  public let number: Int
  /// The method.
  public let method: HTTPMethod
  /// The URL, as the request names it.
  public let url: HTTPURL
  /// The headers, as they were sent.
  public let headers: HTTPHeaders
  let exchange: TestExchange

  /// The path of the URL without its query, as the request names it: `/photos/7`.
  public var path: String {
    let target = url.absoluteString.utf8.dropFirst(url.origin.scheme.utf8.count + 3).drop { $0 != UInt8(ascii: "/") }
    return String(Substring(target.prefix { $0 != UInt8(ascii: "?") }))
  }

  /// Reads the complete body. It is kept, so a test may read it again later.
  ///
  /// - Parameter limit: the most bytes that the body may have.
  /// - Throws: `MultipartError.Code.limitExceeded`; a ``TransferError`` with the code `connectionLost` if the request broke off.
  public func body(upTo limit: Int = 64 * 1024 * 1024) async throws -> [UInt8] {
    let body = await exchange.body(upTo: min(max(limit, 0), Int.max - 1) + 1)
    if body.count > limit {
      throw MultipartError(
        .limitExceeded, on: "the body of the test's request",
        "The body of the request has more than \(counted(limit, "byte", "bytes")), the limit for reading it into memory.")
    }
    guard exchange.isComplete else { throw TransferError.testRequestBrokeOff(url) }
    return body
  }

  /// Reads the body until it has so many bytes, or ends, and returns these bytes. The rest is not read, so that a test can end the
  /// connection in the middle of a body (``TestResponse/lost``). For this, the body needs 1 MiB or more: the system takes a smaller
  /// rest from the client before the test has read it.
  public func bodyPrefix(_ count: Int) async -> [UInt8] {
    await Array(exchange.body(upTo: max(count, 0)).prefix(max(count, 0)))
  }

  /// Reads the body as text. Bytes that are not UTF-8 become U+FFFD.
  ///
  /// - Throws: the errors of ``body(upTo:)``.
  public func text() async throws -> String {
    String(decoding: try await body(), as: UTF8.self)
  }

  /// Reads the body as a form.
  ///
  /// - Throws: the errors of ``body(upTo:)``; the errors of `FormParser` if the body is no form.
  public func form() async throws -> CollectedForm {
    try CollectedForm(parsing: try await body(), contentType: headers["Content-Type"] ?? "")
  }
}
