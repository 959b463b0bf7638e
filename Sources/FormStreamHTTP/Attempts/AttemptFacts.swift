package import FormStreamMultipart

/// The facts about an attempt that decide the next step.
package struct AttemptFacts: Sendable {
  /// The properties of the final response that decide the next step.
  package struct Response: Sendable {
    package var status: Int
    package var location: String?
    package var retryAfter: Duration?
    /// The authentication schemes that a 401 offers.
    package var offers: [OfferedScheme]
    /// Whether a gateway sent the response, instead of the server that carries out requests.
    package var isFromGateway: Bool
    /// Whether a part of the body is missing.
    package var isTruncated: Bool

    /// Whether a gateway sent the response because it lost its connection to the next server, or because the next server took
    /// too long. The request may have been carried out.
    ///
    /// RFC 9110 §15.6.3 and §15.6.5 define 502 and 504 for this. Cloudflare's 522 and 524 mean the same. Proxies such as Envoy
    /// also respond 503 after such a loss, with `Via` (RFC 9110 §7.6.3) or `Proxy-Status` (RFC 9209) in the response. A 503
    /// with `Retry-After` is the gateway's own refusal: the gateway knows when the client should try again, so the gateway
    /// itself is overloaded.
    ///
    /// - Parameter isPassedOn: whether a proxy received the request and passed it on. The proxy is then a gateway, whatever
    ///   headers its response has.
    func isFromFailedGateway(isPassedOn: Bool) -> Bool {
      RetryPolicy.gatewayFailures.contains(status)
        || status == 503 && (isFromGateway || isPassedOn) && retryAfter == nil
    }

    package init(
      status: Int, location: String? = nil, retryAfter: Duration? = nil,
      offers: [OfferedScheme] = [], isFromGateway: Bool = false, isTruncated: Bool = false
    ) {
      self.status = status
      self.location = location
      self.retryAfter = retryAfter
      self.offers = offers
      self.isFromGateway = isFromGateway
      self.isTruncated = isTruncated
    }
  }

  /// The response; nil if its head didn't arrive completely.
  package var response: Response?
  /// Why there is no complete response.
  package var failure: TransferError?
  /// Whether another attempt may succeed: the server wasn't reached, or the connection broke.
  package var isTransient: Bool
  package var stage: AttemptStage
  /// The number of body bytes that were handed over before the response began.
  package var handedOverAtResponse: Int64
  /// Whether the complete request was handed over before the response began. If not, the response can't refer to all of the
  /// request.
  package var isResponseToCompleteRequest: Bool
  package var isEncrypted: Bool
  /// Whether the response is in HTTP/1.0, which has no chunks.
  package var speaksHTTP10: Bool
  /// Whether the server refused `Expect: 100-continue` with 417, and received no byte of the body.
  package var expectRejected: Bool
  /// How to send the request again at once, if the server has certainly not processed it; nil otherwise.
  package var repetition: ImmediateRepeat?
  /// The server's demand for HTTP/1.1; nil if it demands nothing.
  package var demandedHTTP11: HTTP11Demand?
  /// What the responses say about an upload that can go on.
  package var upload: UploadNotes

  package init(
    response: Response? = nil, failure: TransferError? = nil, isTransient: Bool = false,
    stage: AttemptStage = .sent, handedOverAtResponse: Int64 = 0,
    isResponseToCompleteRequest: Bool = true, isEncrypted: Bool = false,
    speaksHTTP10: Bool = false, expectRejected: Bool = false, repetition: ImmediateRepeat? = nil,
    demandedHTTP11: HTTP11Demand? = nil, upload: UploadNotes = UploadNotes()
  ) {
    self.response = response
    self.failure = failure
    self.isTransient = isTransient
    self.stage = stage
    self.handedOverAtResponse = handedOverAtResponse
    self.isResponseToCompleteRequest = isResponseToCompleteRequest
    self.isEncrypted = isEncrypted
    self.speaksHTTP10 = speaksHTTP10
    self.expectRejected = expectRejected
    self.repetition = repetition
    self.demandedHTTP11 = demandedHTTP11
    self.upload = upload
  }
}

extension AttemptFacts {
  /// The facts at the time when a response's head has arrived. They assume that the body will arrive completely, and that the
  /// response refers to the complete request.
  ///
  /// - Parameters:
  ///   - version: the version of HTTP of the response.
  ///   - sentExpect: whether the request has `Expect: 100-continue`. If so, a 417 is taken as a refusal of that header.
  ///   - upload: what this response, and informational ones before it, say about an upload that can go on.
  package init(
    headWithStatus status: Int, _ headers: HTTPHeaders, version: String = "1.1",
    sentExpect: Bool = false, upload: UploadNotes = UploadNotes()
  ) {
    self.init(
      response: Response(status, headers), speaksHTTP10: version == "1.0",
      expectRejected: sentExpect && status == 417, upload: upload)
  }
}

extension AttemptFacts.Response {
  init(_ response: TransferResponse) {
    self.init(response.status, response.headers, isTruncated: response.isTruncated)
  }

  fileprivate init(_ status: Int, _ headers: HTTPHeaders, isTruncated: Bool = false) {
    self.init(
      status: status, location: headers.location, retryAfter: RetryAfter.duration(headers),
      offers: status == 401 ? OfferedScheme.all(in: headers) : [],
      isFromGateway: headers.contains("Via") || headers.contains("Proxy-Status"),
      isTruncated: isTruncated)
  }
}
