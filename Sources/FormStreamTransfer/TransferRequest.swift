/// A request: what is sent where, and how far it may go. It is an inert value and can be sent any number of
/// times; what it is made from is opened when it is sent.
///
/// ```swift
/// let request = try TransferRequest(.post, "https://example.org/photos", body: .form(form))
/// ```
public struct TransferRequest: Sendable {
  /// What is asked for.
  public var method: HTTPMethod
  /// Where.
  public var url: HTTPURL
  /// Added to the URL's query, encoded as forms have it.
  public var query: [URLEncodedField] = []
  /// Headers beside those that are derived. A `Content-Type` here goes before the body's own.
  public var headers = HTTPHeaders()
  /// What the request carries, where it carries something.
  public var body: TransferBody?
  /// Who sends it. Credentials in the URL count where there are none here.
  public var credentials: Credentials?
  /// How it is sent.
  public var options: TransferOptions

  /// Makes a request.
  public init(
    _ method: HTTPMethod, _ url: HTTPURL, headers: HTTPHeaders = HTTPHeaders(),
    body: TransferBody? = nil, options: TransferOptions = TransferOptions()
  ) {
    self.method = method
    self.url = url
    self.headers = headers
    self.body = body
    self.options = options
  }

  /// Makes a request to a URL as it is typed.
  ///
  /// - Throws: `invalidURL`.
  public init(
    _ method: HTTPMethod, _ url: String, headers: HTTPHeaders = HTTPHeaders(),
    body: TransferBody? = nil, options: TransferOptions = TransferOptions()
  ) throws(TransferError) {
    self.init(method, try HTTPURL(url), headers: headers, body: body, options: options)
  }
}
