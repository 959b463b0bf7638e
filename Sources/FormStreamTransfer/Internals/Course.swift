import FormStreamDigest
import FormStream
import Foundation
import FormStreamPlatform

/// Where a request stands: what is sent next, and what all attempts so far have come to.
struct Course: Sendable {
  let start = ContinuousClock.now
  private let request: TransferRequest

  // What is sent next.
  private(set) var method: HTTPMethod
  private(set) var url: HTTPURL
  private(set) var body: BodyLayout?
  private var headers = HTTPHeaders()
  /// Whether the request's own headers go along: not to another origin.
  private var bearsHeaders = true
  private var usesIdleConnection = true
  /// Whether leave to send the body may be asked for: not where the server has said that it does not take the
  /// question.
  private(set) var mayAsk = true
  /// Whether what is sent next asks for the page that a 303 names.
  private(set) var isPage = false

  // What has come of it.
  /// How often the request was sent, redirects that repeat it included.
  private(set) var attempts = 0
  /// How often the present target was tried.
  private(set) var tries = 0
  var redirects = 0
  var response: TransferResponse?
  /// Whether it was kept from its target: another was expected behind it.
  private(set) var isResponseHeld = false
  private(set) var framing = TransferResult.Framing.noBody
  private(set) var bytesSent: Int64 = 0
  private(set) var wireBytes: Int64 = 0
  private(set) var sha256: SHA256.Digest?
  private(set) var hasBegunOneShot = false

  init(_ request: TransferRequest) {
    self.request = request
    method = request.method
    url = request.url
  }

  /// Looks at what the body is made of, and checks what can be.
  mutating func prepare(_ control: TransferControl) async throws(TransferError) {
    url = try request.url.appending(request.query)
    if let rate = request.options.maximumRate, rate < 1 {
      throw TransferError(
        .invalidSetting, on: "maximumRate",
        "A body can't be sent at \(rate) bytes a second: allow 1 or more.")
    }
    if request.body != nil, request.method == .head {
      throw TransferError(
        .invalidSetting, on: "HEAD",
        "A HEAD can't have a body: leave it out, or ask by GET or POST.")
    }
    if let body = request.body {
      let computesDigest = request.options.sendsDigest
      let prepared = await control.unlessCancelled {
        () -> Result<(BodyLayout, SHA256.Digest?), TransferError> in
        Result { () throws(TransferError) in
          let layout = try body.laidOut()
          try layout.checkEmptyStream()
          return (layout, computesDigest ? try layout.digest() : nil)
        }
      }
      guard let prepared else { throw .called }
      let (layout, digest) = try prepared.get()
      self.body = layout
      headers = request.headers
      if !headers.contains("Content-Type") {
        try headers.append(name: "Content-Type", value: layout.contentType)
      }
      if let digest {
        // RFC 9530 §2: a dictionary of byte sequences in base 64 between colons.
        try headers.append(name: "Content-Digest", value: "sha-256=:\(base64(digest.bytes)):")
      }
    } else {
      headers = request.headers
    }
    if let key = request.options.idempotencyKey {
      try headers.append(name: "Idempotency-Key", value: key.fieldValue)
    }
    if let credentials = request.credentials ?? request.url.credentials {
      guard HTTPSyntax.isFieldValue(credentials.header.utf8) else {
        throw TransferError(
          .invalidHeader, on: "Authorization",
          "The token has a control character in it: take out line breaks.")
      }
      if !headers.contains("Authorization") {
        try headers.append(name: "Authorization", value: credentials.header, isSecret: true)
      }
    }
  }

  /// Whether there is a body to go out.
  var sendsBody: Bool { body != nil && !isPage }

  /// Whether it does more than ask: then a redirect that may be followed by GET says nothing of it.
  var changesSomething: Bool { sendsBody || !method.isSafe }

  /// RFC 9110 §8.6: "A user agent SHOULD send Content-Length in a request when the method defines a meaning
  /// for enclosed content and it is not sending Transfer-Encoding", also of 0.
  private var announcesBody: Bool {
    sendsBody || !isPage && ["POST", "PUT", "PATCH"].contains(method.description)
  }

  var announcedLength: Int64? {
    body == nil ? (framing == .noBody ? nil : 0) : body?.contentLength
  }

  func order(
    askingPatience: Duration?, configuration: TransferSession.Configuration,
    isFinal: @escaping @Sendable (Int, HTTPHeaders) -> Bool
  ) -> Exchange.Order {
    var sent = bearsHeaders ? headers : HTTPHeaders()
    if !bearsHeaders, sendsBody, let body {
      sent.note(name: "Content-Type", value: body.contentType)
    }
    if !sent.contains("User-Agent") {
      sent.note(name: "User-Agent", value: configuration.userAgent)
    }
    if isPage { sent = sent.withoutContent }
    var options = request.options
    options.computesDigest = options.computesDigest && sendsBody
    return Exchange.Order(
      method: method, url: url, headers: sent, body: sendsBody ? body : nil,
      announcesBody: announcesBody, askingPatience: askingPatience,
      usesIdleConnection: usesIdleConnection,
      options: options, configuration: configuration, isFinal: isFinal)
  }

  // MARK: What came of an attempt

  mutating func note(_ end: Exchange.End) {
    attempts += 1
    tries += 1
    response = end.response
    isResponseHeld = end.isHeld
    framing = end.framing
    bytesSent = end.handedOver
    wireBytes += end.handedOver
    sha256 = end.sha256
    if end.stage != .notSent, body?.isReplayable == false { hasBegunOneShot = true }
  }

  /// Another answer is what is told.
  mutating func turn(to response: TransferResponse, redirects: Int) {
    self.response = response
    self.redirects = redirects
    isResponseHeld = false
  }

  /// Gives an answer that was kept from its target to it, now that it is the last one.
  mutating func deliverResponse(to target: ResponseTarget) throws(TransferError) {
    guard isResponseHeld, let response else { return }
    isResponseHeld = false
    guard !target.isMemory else { return }
    self.response = response.withoutBody
    do {
      try response.body.withUnsafeBytes { try target.deliver($0, isWhole: !response.isTruncated) }
    } catch {
      throw .notStored(target, from: response.url, error)
    }
  }

  /// The same again, where it was sent to already. A connection that others left behind may be what failed.
  mutating func retry() {
    usesIdleConnection = false
  }

  /// The same again at once, without asking for leave to send the body. That is not another try.
  mutating func repeatWithoutAsking() {
    mayAsk = false
    tries -= 1
  }

  /// The same again, at another place.
  mutating func follow(_ target: HTTPURL) {
    if target.origin != url.origin { bearsHeaders = false }
    url = target
    redirects += 1
    tries = 0
    (usesIdleConnection, mayAsk) = (true, true)
  }

  /// The page that an answer names.
  mutating func turnToPage(_ target: HTTPURL) {
    follow(target)
    method = .get
    isPage = true
  }
}

extension HTTPHeaders {
  /// Without what speaks of a body that does not go along (RFC 9110 §15.4).
  fileprivate var withoutContent: HTTPHeaders {
    var rest = HTTPHeaders()
    for field in fields
    where !field.name.lowercased().hasPrefix("content-")
      && !field.name.isSameHeaderName(as: "Idempotency-Key")
    {
      rest.note(field)
    }
    return rest
  }
}

extension BodyLayout {
  /// A stream that promises nothing is asked, once, whether that is so: nobody reads what was not announced.
  fileprivate func checkEmptyStream() throws(TransferError) {
    guard contentLength == 0, hasStreams else { return }
    let reader = makeReader()
    defer { reader.close() }
    do throws(MultipartError) {
      _ = try reader.read(upTo: 1)
    } catch {
      throw TransferError(error)
    }
  }

  /// Reads the whole body once, for its digest.
  fileprivate func digest() throws(TransferError) -> SHA256.Digest {
    guard isReplayable else {
      throw TransferError(
        .notReplayable, on: "the body",
        "A Content-Digest needs the body twice, and this one is a stream that can be read once: leave the "
          + "header out, or give a file.")
    }
    let reader = makeReader()
    defer { reader.close() }
    do {
      var digest = try SHA256()
      let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 * 1024, alignment: 4096)
      defer { buffer.deallocate() }
      while true {
        let count = try reader.read(into: buffer)
        if count == 0 { break }
        try digest.update(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
      }
      return try digest.finalize()
    } catch let error as MultipartError {
      throw TransferError(error)
    } catch {
      throw TransferError(.engineFailed, on: "the digest", "\(error)", underlying: error)
    }
  }
}
