public import Foundation
import FormStreamPlatform

/// What became of a request.
public struct TransferResult: Sendable {
  /// What can be said of it.
  public struct Outcome: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The outcome as it stands in records.
    public let rawValue: String

    /// Takes an outcome by its text.
    public init(rawValue: String) {
      self.rawValue = rawValue
    }

    /// The outcome as it stands in records.
    public var description: String { rawValue }

    /// The server said so, to a request that carried exactly what it was to carry.
    public static let ok = Outcome(rawValue: "ok")
    /// It was refused, or can't be done: trying again would change nothing.
    public static let failed = Outcome(rawValue: "failed")
    /// It was certainly not carried out, and may well be at another time.
    public static let retryable = Outcome(rawValue: "retryable")
    /// It may have been carried out, or not.
    public static let unknown = Outcome(rawValue: "unknown")
    /// A file changed while it was sent: no complete wrong body went out.
    public static let sourceChanged = Outcome(rawValue: "source-changed")
    /// Somebody called it off before it was answered.
    public static let cancelled = Outcome(rawValue: "cancelled")
  }

  /// How the end of the request's body was marked.
  public enum Framing: String, Sendable {
    /// By its length.
    case contentLength = "content-length"
    /// By an empty chunk.
    case chunked
    /// By HTTP/2's frames.
    case http2 = "h2"
    /// There was no body.
    case noBody = "none"
  }

  /// The URL that was asked for.
  public let url: HTTPURL
  /// The method that was asked for.
  public let method: HTTPMethod
  /// What can be said of the request.
  public let outcome: Outcome
  /// The final answer, where one came.
  public let response: TransferResponse?
  /// How often the request was sent, or begun. Redirects that send the body again count, too.
  public let attempts: Int
  /// How many redirects were followed.
  public let redirects: Int
  /// The length that was announced; nil where none was.
  public let contentLength: Int64?
  /// How the end of the body was marked.
  public let framing: Framing
  /// How many bytes of the body were handed over in the last attempt.
  public let bytesSent: Int64
  /// How many bytes of the body were handed over in all attempts.
  public let wireBytes: Int64
  /// How long all of it took.
  public let duration: Duration
  /// The digest of the body that was sent, where one was asked for and all of it went out: 64 hexadecimal
  /// digits.
  public let sha256: String?
  /// Why the outcome is not `ok`.
  public let error: TransferError?

  /// The answer's status, where one came.
  public var status: Int? { response?.status }
}

/// A server's answer.
public struct TransferResponse: Sendable {
  /// The status, such as 200.
  public let status: Int
  /// The HTTP version that was spoken, such as `1.1` or `2`.
  public let version: String
  /// Where it came from: the URL behind all redirects.
  public let url: HTTPURL
  /// The headers.
  public let headers: HTTPHeaders
  /// What was kept of the body; empty where it went elsewhere.
  public let body: Data
  /// Whether there was more than was kept.
  public let isTruncated: Bool

  var withoutBody: TransferResponse {
    TransferResponse(
      status: status, version: version, url: url, headers: headers, body: Data(),
      isTruncated: isTruncated)
  }

  /// The body as text, repaired where it is not UTF-8.
  public var text: String { String(decoding: body, as: UTF8.self) }

  /// The body as a value.
  ///
  /// - Throws: `invalidJSON`; `responseTooLarge` where only its beginning was kept.
  public func decoded<Value: Decodable>(
    as type: Value.Type = Value.self, decoder: JSONDecoder = JSONDecoder()
  ) throws(TransferError) -> Value {
    guard !isTruncated else {
      throw TransferError(
        .responseTooLarge, on: url.description,
        "Only the first \(body.count) bytes of the answer from \(url) were kept: raise the limit of the "
          + "answer's target to decode it.")
    }
    do {
      return try decoder.decode(type, from: body)
    } catch {
      throw TransferError(
        .invalidJSON, on: url.description,
        "The answer from \(url) is no \(type) in JSON: \(error).", underlying: error)
    }
  }
}
