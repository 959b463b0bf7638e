/// One attempt, with the properties that decide the next step.
///
/// ``decision(on:)`` is a pure function, and the only place that decides what follows an attempt. It is called twice:
/// when a response's head arrives, to know whether the body goes to the caller, and at the end of the attempt. With one
/// function for both, the prediction and the outcome follow the same rules.
package struct Attempt: Sendable {
  /// The method of the request, or GET for the page of a 303. The rules for repetitions look at this method: a request stays what
  /// it is while its upload is created, asked about and sent in pieces.
  package var method: HTTPMethod
  /// The method on the wire.
  var sentMethod: HTTPMethod {
    switch step {
    case .request, .page, .creation: method
    case .options: .options
    case .offset: .head
    case .append: .patch
    }
  }
  package var url: HTTPURL
  /// Whether the request has a body or a method that isn't safe. If such a request is redirected and a GET is sent
  /// instead, the response to the GET says nothing about the request.
  package var changesSomething: Bool
  /// What this attempt asks of the server.
  package var step: AttemptStep
  /// The length of the body; nil if it can't be known.
  package var bodyLength: Int64?
  /// Whether the body's length could be found out; nil if the length is known, or if there is no body.
  package var missingLength: MissingLength?
  /// Whether the body can be read only once, and reading may have begun.
  package var hasUsedOneShot: Bool
  /// How often the request was sent to this URL, this attempt included.
  package var tries: Int
  /// How many redirects led to this URL.
  package var redirects: Int
  /// Whether earlier attempts may have been carried out.
  package var earlierDoubt: Doubt
  /// Whether a 401 can be answered: with credentials that are sent only after a challenge, or by asking the program for
  /// credentials.
  package var mayAuthenticate: Bool
  /// The scheme of the credentials that were sent; nil if none were sent, or if the caller wrote the header.
  package var sentScheme: String?
  /// Whether a proxy receives the request and passes it on. The proxy may also respond itself.
  package var isPassedOn: Bool
  /// Whether the upload may go on where it broke, if the server keeps it.
  package var mayResume: Bool
  /// Where the server keeps the upload; nil if no earlier attempt has shown it.
  package var resource: UploadResource?
  /// Whether a new upload can be created in place of one that the server has lost.
  package var createsUpload: Bool
  /// The protocol by which the upload goes on.
  package var uploadProtocol: UploadProtocol
  package var options: TransferOptions {
    get { sharedOptions.value }
    set { sharedOptions = Shared(newValue) }
  }
  private var sharedOptions: Shared<TransferOptions>

  var isPage: Bool { step == .page }

  /// Whether the server may carry out the request by this attempt, and a later response can't tell. Before its last byte, an
  /// upload can't be carried out.
  var mayBeCarriedOut: Bool {
    switch step {
    case .request: changesSomething && !isSettledByRepetition
    case .page, .options, .offset: false
    // By tus, an empty upload is complete when it is created.
    case .creation: uploadProtocol == .tus && bodyLength == 0
    case .append(_, let end): end == bodyLength
    }
  }

  /// Whether the response to another attempt says whether this one was carried out, so that nothing is in doubt. RFC 4918 §9.3.1:
  /// "405 (Method Not Allowed) - MKCOL can only be executed on an unmapped URL."
  var isSettledByRepetition: Bool { sentMethod == .makeCollection && options.accepts(405) }

  /// Whether a status says that the request was carried out, if the response is the one to the request.
  func isSuccess(_ status: Int) -> Bool {
    (200...299).contains(status) || options.accepts(status)
      || status == 303 && !options.redirects.repeatingStatuses.contains(303)
  }

  package init(
    _ method: HTTPMethod, _ url: HTTPURL, changesSomething: Bool, step: AttemptStep = .request,
    bodyLength: Int64? = nil, missingLength: MissingLength? = nil, hasUsedOneShot: Bool = false,
    tries: Int = 1, redirects: Int = 0, earlierDoubt: Doubt = .none,
    mayAuthenticate: Bool = false, sentScheme: String? = nil, isPassedOn: Bool = false,
    mayResume: Bool = false, resource: UploadResource? = nil, uploadProtocol: UploadProtocol = .http,
    createsUpload: Bool = true, options: Shared<TransferOptions>
  ) {
    self.method = method
    self.url = url
    self.changesSomething = changesSomething
    self.step = step
    self.bodyLength = bodyLength
    self.missingLength = missingLength
    self.hasUsedOneShot = hasUsedOneShot
    self.tries = tries
    self.redirects = redirects
    self.earlierDoubt = earlierDoubt
    self.mayAuthenticate = mayAuthenticate
    self.sentScheme = sentScheme
    self.isPassedOn = isPassedOn
    self.mayResume = mayResume
    self.resource = resource
    self.uploadProtocol = uploadProtocol
    self.createsUpload = createsUpload
    sharedOptions = options
  }
}
