public import FormStreamMultipart

/// A request: method, URL, headers, body and options. It is a value that can be sent any number of times; its body is
/// opened only when it is sent.
///
/// ```swift
/// let request = try TransferRequest(.post, "https://example.org/photos", body: .form(form))
/// ```
public struct TransferRequest: Sendable {
  /// The method.
  public var method: HTTPMethod
  /// The URL.
  public var url: HTTPURL
  /// Names and values that are appended to the URL's query, encoded as in URL-encoded forms.
  public var query: [URLEncodedField]
  /// Headers in addition to the derived ones. A `Content-Type` here replaces the body's own.
  public var headers: HTTPHeaders
  /// The body; nil if the request has none.
  public var body: TransferBody?
  /// The credentials; if nil, the credentials in the URL are used.
  public var credentials: Credentials?
  /// Anything by which the program recognizes the request, such as a description or the key of a record. It is not sent. The
  /// request's results, responses, decisions, retries, progress and traces have it, too.
  public var tag: (any Sendable)?
  /// How the request is sent.
  public var options: TransferOptions {
    get { sharedOptions.value }
    set { sharedOptions = Shared(newValue) }
  }
  private(set) var sharedOptions: Shared<TransferOptions>

  /// Creates a request.
  public init(
    _ method: HTTPMethod, _ url: HTTPURL, query: KeyValuePairs<String, String> = [:],
    headers: HTTPHeaders = [:], body: TransferBody? = nil, credentials: Credentials? = nil,
    options: TransferOptions = TransferOptions()
  ) {
    self.method = method
    self.url = url
    self.query = URLEncodedField.list(query)
    self.headers = headers
    self.body = body
    self.credentials = credentials
    sharedOptions = Shared(options)
  }

  /// Creates a request from a URL as text, or from a URL of Foundation.
  ///
  /// - Throws: `invalidURL`.
  public init(
    _ method: HTTPMethod, _ url: some HTTPURLConvertible,
    query: KeyValuePairs<String, String> = [:], headers: HTTPHeaders = [:],
    body: TransferBody? = nil, credentials: Credentials? = nil,
    options: TransferOptions = TransferOptions()
  ) throws(TransferError) {
    self.init(
      method, try url.httpURL(), query: query, headers: headers, body: body,
      credentials: credentials, options: options)
  }
}
