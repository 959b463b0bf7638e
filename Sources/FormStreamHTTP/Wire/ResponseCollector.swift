import FormStreamMultipart

/// Collects a response as it arrives: heads line by line, bodies piece by piece.
///
/// It is used only on the engine's thread. This is one file because its state is private: each line of a head and each piece of
/// a body changes it.
final class ResponseCollector {
  /// The limit for all heads of one response: informational ones, the final one and trailers.
  private static let maximumHeadSize = 256 * 1024
  /// RFC 9110 §15.2: "A client MUST be able to parse one or more 1xx responses". This is the maximum number of 1xx responses.
  private static let maximumInformational = 100
  /// How many bytes over the caller's limit are read to keep the connection; beyond that, the connection is closed.
  private static let maximumDropped: Int64 = 16 * 1024 * 1024
  /// How many bytes of a body are kept although the body goes to a target. If the target can't be opened, these bytes are
  /// enough to read the server's explanation of a failure.
  private static let explanationSize = 4096

  /// The final response's status; nil before its head is complete.
  private(set) var status: Int?
  private(set) var version = ""
  private(set) var headers = HTTPHeaders()
  private(set) var body: [UInt8] = []
  private(set) var isTruncated = false
  /// The length that the final response announces for its body; nil if it announces none.
  private(set) var announcedLength: Int64?
  /// How many bytes of the final response's body have arrived.
  private(set) var received: Int64 = 0
  /// Whether the server responded 100 to `Expect: 100-continue`.
  private(set) var hasContinued = false
  /// What the response, and informational ones, say about an upload that can go on.
  private(set) var upload = UploadNotes()
  /// Whether the last informational response said that the server has more of an upload than before.
  private(set) var isProgressReported = false
  /// Whether the body is held back from the caller's target, because another response is expected.
  private(set) var isHeld = false
  /// The last status, informational or final.
  private(set) var lastStatus: Int?
  /// Whether too many bytes were dropped, so that the rest of the body is not read.
  private(set) var hasDroppedTooMuch = false
  /// Why the response can't be accepted.
  private(set) var failure: TransferError?
  /// Returns how many bytes of the request's body were read; set by the exchange.
  var bytesRead: (() -> Int64)?
  /// Creates the delivery of the body to a target other than memory; set by the exchange.
  var makeWriter: ((ResponseTarget, ResponseDecoder?, _ head: TransferResponse) -> any ResponseDelivery)?
  /// Asks for the target of the last response, given its head; nil if the program is not asked.
  var askForTarget: ((_ head: TransferResponse) -> TargetChoice)?
  /// Keeps the cookies of a final response; set by the exchange if the session keeps cookies.
  var keepCookies: ((HTTPHeaders) -> Void)?
  /// Returns whether a response with this target and status stays in memory; set by the exchange.
  var keepsInMemory: ((ResponseTarget, _ status: Int) -> Bool)?
  /// The target that was chosen for the response; nil if none was.
  private(set) var chosenTarget: ResponseTarget?
  /// The choice of the target while the program makes it; nil otherwise.
  private var choice: TargetChoice?
  /// The bytes that can't be received again, kept until the target is chosen.
  private var salvagedBody: [UInt8] = []
  /// Whether the response ended before its target was chosen.
  private var endedBeforeChoice = false

  private let url: HTTPURL
  private let sharedOptions: Shared<TransferOptions>
  private var target: ResponseTarget
  private let isToHEAD: Bool
  private let isOfResource: Bool
  private let isPage: Bool
  private let mayResume: Bool
  private let createsUpload: Bool
  private let noteUpload: (UploadNotes) -> Void
  private let isFinal: (ArrivedHead) -> Bool
  private let traceHead: ((String) -> Void)?
  /// The most bytes in `body`; more are dropped.
  private var keptLimit = 0
  /// The most bytes that may arrive; nil for any number.
  private var sizeLimit: Int64?
  /// Decodes the bytes that are kept in `body`; nil if the response is not coded.
  private var keptDecoder: ResponseDecoder?
  /// The delivery that passes the body to the caller's target; nil if the target is memory, or can't be opened.
  private var writer: (any ResponseDelivery)?
  /// Whether a head has begun and isn't complete.
  private(set) var isInHead = false
  private var headSize = 0
  private var informationalCount = 0
  /// Whether this collector limits heads. Otherwise, whoever reads them does.
  var limitsHeads = true
  /// Whether the request was sent with HTTP/2.
  var isOverHTTP2 = false
  /// Whether libcurl and this collector understand the lengths in the current head differently.
  private var hasHiddenLength = false
  private var statusLine = ""
  /// The lines of the head so far, if the caller receives heads.
  private var receivedLines: [UInt8] = []

  /// - Parameters:
  ///   - isToHEAD: whether the response has only a head.
  ///   - isOfResource: whether the response's body is a resource, which must be complete.
  ///   - isPage: whether the response is the page of a request that was carried out.
  ///   - mayResume: whether the upload may go on where it broke.
  ///   - createsUpload: whether the response names an upload, whose URL is a secret.
  ///   - isFinal: returns whether the caller gets the response with this head. Only a part of other responses is kept.
  ///   - traceHead: called with each head, secrets masked.
  init(
    url: HTTPURL, options: Shared<TransferOptions>, isToHEAD: Bool, isOfResource: Bool, isPage: Bool,
    mayResume: Bool = false, createsUpload: Bool = false, noteUpload: @escaping (UploadNotes) -> Void = { _ in },
    isFinal: @escaping (ArrivedHead) -> Bool,
    traceHead: ((String) -> Void)?
  ) {
    self.url = url
    sharedOptions = options
    target = options.value.responseTarget
    self.isToHEAD = isToHEAD
    (self.isOfResource, self.isPage) = (isOfResource, isPage)
    self.mayResume = mayResume
    self.createsUpload = createsUpload
    self.noteUpload = noteUpload
    self.isFinal = isFinal
    self.traceHead = traceHead
  }

  private var options: TransferOptions { sharedOptions.value }

  /// Whether the head of a final response is complete.
  var hasResponse: Bool { status != nil && !isInHead }

  /// The response as far as it has arrived; nil before the head of a final response is complete.
  var response: TransferResponse? {
    guard let status, !isInHead else { return nil }
    return TransferResponse(
      status: status, version: version, url: url, headers: headers,
      body: writer == nil ? body : [],
      isTruncated: isTruncated)
  }

  /// Whether all bytes that the response announces have arrived; false if it is not known where the response ends.
  var isComplete: Bool {
    guard let status, !isInHead else { return false }
    if status == 204 || status == 304 { return true }
    return headers["Content-Length"].flatMap { Int64($0) } == received
  }

  /// Whether only the end of the connection ends the body (RFC 9112 §6.3).
  var endsWithConnection: Bool {
    guard let status, status != 204, status != 304, version.hasPrefix("1.") else { return false }
    return !isToHEAD && !isChunked
      && (!headers.contains("Content-Length") || headers.contains("Transfer-Encoding"))
  }

  /// Whether all announced bytes of the body have arrived, although only the end of the connection ends the body.
  var hasAllOfOpenBody: Bool {
    endsWithConnection && !isInHead && announcedLength == received && announcedLength != nil
  }

  /// Whether the connection ended before the announced length was reached.
  var lacksAnnouncedBytes: Bool {
    endsWithConnection && announcedLength.map { received < $0 } == true
  }

  /// Notes that the end of the body is missing.
  func truncate() {
    isTruncated = true
  }

  /// Notes that all of the body has arrived, and checks that the kept bytes can be decoded completely.
  func endBody() {
    guard writer == nil, !isTruncated, status != nil else { return }
    do throws(ResponseDecoder.Failure) {
      try keptDecoder?.checkEnd()
    } catch {
      failure = failure ?? error.error
      isTruncated = true
    }
  }

  /// Begins to complete the caller's target, or to discard it if the response is incomplete.
  ///
  /// - Parameter isAborted: whether the result no longer waits for the target.
  func finish(isAborted: Bool) {
    if isAborted {
      // The rest of the body will not be received.
      if choice != nil { isTruncated = true }
      choice?.cancel()
      choice = nil
      writer?.abandon()
    } else if choice != nil {
      endedBeforeChoice = true
    } else {
      writer?.finish(isComplete: !isTruncated)
    }
  }

  /// Passes the bytes that have arrived to the caller's target.
  func flush() { writer?.flush() }

  /// Whether nothing more will happen to the caller's target.
  var isStored: Bool { choice == nil && writer?.isFinished ?? true }

  /// Whether the target is still being chosen.
  var awaitsChoice: Bool { choice != nil }

  /// Uses the chosen target, if the choice has been made. Returns false if the choice failed.
  func useChoice() -> Bool {
    guard let result = choice?.result else { return true }
    choice = nil
    switch result {
    case .success(let chosen):
      chosenTarget = chosen
      guard use(chosen ?? target) else {
        isTruncated = true
        return false
      }
      salvagedBody.withUnsafeBytes { _ = receive(body: $0) }
      if endedBeforeChoice {
        endBody()
        writer?.finish(isComplete: !isTruncated)
      }
      return true
    case .failure(let error):
      failure = failure ?? .decisionFailed(.responseHead, url, error)
      isTruncated = true
      return false
    }
  }

  /// Keeps bytes of the body until the target is chosen, because they can't be received again.
  func keepUntilChoice(_ bytes: UnsafeRawBufferPointer) {
    salvagedBody += bytes
  }

  /// Notes the failure of the caller's target, if there is one. Returns whether the rest of the body is useless.
  @discardableResult func noteStorageFailure() -> Bool {
    guard let failed = writer?.failure else { return false }
    writer = nil
    failure =
      failure ?? (failed.error as? ResponseDecoder.Failure)?.error ?? notStored(failed.error)
    isTruncated = true
    // If the target could not be opened, the response keeps the bytes that explain its status.
    if failed.wasOpen { body = [] }
    return failed.wasOpen
  }

  // MARK: Heads

  /// Receives a line of a head; returns false if the response can't be accepted.
  func receive(headLine bytes: UnsafeRawBufferPointer) -> Bool {
    headSize += bytes.count
    guard !limitsHeads || headSize <= Self.maximumHeadSize else {
      return fail(.headsTooLong(url, limit: Self.maximumHeadSize))
    }
    let line = bytes.trimmingLineBreak
    if options.receiveHead != nil, isInHead || line.starts(with: "HTTP/".utf8) {
      receivedLines += line
      receivedLines += [0x0D, 0x0A]
    }
    if isInHead {
      if line.isEmpty { return endHead() }
      appendHeader(line)
    } else if line.starts(with: "HTTP/".utf8) {
      beginHead(String(decoding: line, as: UTF8.self))
    } else if !line.isEmpty {
      // All other lines are trailers, which are not used.
      receive(trailer: line)
    }
    return true
  }

  func receive(trailer line: Slice<UnsafeRawBufferPointer>) { options.receiveTrailer?(line + [0x0D, 0x0A]) }

  private func beginHead(_ line: String) {
    // RFC 9112 §4: status-line = HTTP-version SP status-code SP [ reason-phrase ]
    let words = line.utf8.split(separator: UInt8(ascii: " "), maxSplits: 2).map(Substring.init)
    version = String(words[0].dropFirst("HTTP/".count))
    // Whatever version the status line claims, the body ends like a body of HTTP/1.1.
    if !isOverHTTP2, !version.hasPrefix("1.") { version = "1.1" }
    lastStatus = words.count > 1 ? Int(words[1]) : nil
    status = nil
    headers = HTTPHeaders()
    hasHiddenLength = false
    body = []
    (received, isTruncated, announcedLength) = (0, false, nil)
    statusLine = line
    isInHead = true
  }

  private func appendHeader(_ line: Slice<UnsafeRawBufferPointer>) {
    // RFC 9112 §5.2: "A user agent that receives an obs-fold in a response message [...] MUST replace each received obs-fold
    // with one or more SP octets prior to interpreting the field value". Before the first header line, §2.2 allows a client to
    // "consume each whitespace-preceded line without further processing".
    if line.first?.isBlank == true {
      // libcurl doesn't see a length on a continuation line.
      if headers.fields.last?.name.isLengthName == true { hasHiddenLength = true }
      return headers.continueLastLine(line)
    }
    guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return }
    let name = String(decoding: line[..<colon], as: UTF8.self)
    // RFC 9112 §5.1: "No whitespace is allowed between the field name and colon". The filter uses scalars, because a letter and
    // a combining mark after it are one `Character`.
    let scalars = name.unicodeScalars
    if !scalars.allSatisfy(\.isNameCharacter),
      String(String.UnicodeScalarView(scalars.filter(\.isNameCharacter))).isLengthName
    {
      hasHiddenLength = true
    }
    headers.append(
      name,
      bytes: Array(line[(colon + 1)...].trimmingBlanks()))
  }

  /// The head for people, with secrets masked.
  private func shownHead(showsSetCookie: Bool = false) -> String {
    var shown = url
    if namesUpload { shown.isSecret = true }
    let lines = headers.shown(at: shown, showsSetCookie: showsSetCookie)
    return ([statusLine] + lines.map { "\($0.name): \($0.value)" }).joined(separator: "\n")
  }

  /// Whether the current head names an upload that the server keeps.
  private var namesUpload: Bool {
    mayResume && (createsUpload || lastStatus == 104 || headers.contains("Upload-Complete"))
  }

  /// Shows a head to those who watch, although the response can't be accepted.
  func show(refusedHead bytes: UnsafeRawBufferPointer) {
    _ = bytes.eachLine { $0.trimmingLineBreak.isEmpty || receive(headLine: $0) }
    showHead()
  }

  private func showHead() {
    isInHead = false
    traceHead?(shownHead(showsSetCookie: options.tracesSetCookie))
    options.receiveHead?(receivedLines)
    receivedLines = []
  }

  private func endHead() -> Bool {
    showHead()
    // RFC 9110 §15: "A client that receives a response with an invalid status code SHOULD process the response as if it had a
    // 5xx (Server Error) status code." Status codes have three digits; some sites refuse robots with 999.
    guard let lastStatus, (100...999).contains(lastStatus) else {
      return fail(.noValidStatus(url, shownHead()))
    }
    guard lastStatus != 101 else { return fail(.protocolSwitched(url)) }
    if lastStatus < 200 { return endInformationalHead(lastStatus) }
    // RFC 9112 §6.3: some responses end with their heads, "regardless of the header fields present in the message".
    if !isToHEAD, lastStatus != 204, lastStatus != 304 {
      // The end of a response with contradictory lengths can't be known.
      guard !hasHiddenLength else { return fail(.lengthMalformed(url, shownHead())) }
      guard hasOneLength else { return fail(.severalLengths(url)) }
      // Transfer-Encoding overrides Content-Length.
      guard hasKnownTransferCoding else {
        return fail(.transferCodingUnknown(url, headers.joined("Transfer-Encoding") ?? ""))
      }
      if !isChunked {
        announcedLength = headers["Content-Length"].flatMap { Int64($0) }
      }
    }
    status = lastStatus
    keepCookies?(headers)
    // RFC 9110 §14.4: `Content-Range` has no meaning for other statuses than 206 and 416. A server that sends this header with
    // another status has sent a part as if it were the whole.
    guard
      !isOfResource || lastStatus == 206 || !options.accepts(lastStatus) || !headers.hasRangeOfBytes
    else {
      return fail(.rangeOfEverything(url, lastStatus))
    }
    if mayResume { upload.noteFinal(lastStatus, headers, from: url) }
    isHeld = !isFinal(
      ArrivedHead(status: lastStatus, headers: headers, version: version, upload: upload))
    if let leavesOutBody = options.leavesOutBody, let head = response, leavesOutBody(head) {
      return use(.dropped)
    }
    if !isHeld, let askForTarget, let head = response {
      choice = askForTarget(head)
      return true
    }
    return use(target)
  }

  /// Prepares for the body; returns false if the response can't be accepted.
  private func use(_ target: ResponseTarget) -> Bool {
    self.target = target
    let isKept =
      isHeld || target.isMemory || status.map { keepsInMemory?(target, $0) ?? false } ?? false
    sizeLimit = !isKept || isReadToEnd ? options.maximumResponseSize : nil
    if let sizeLimit, announcedLength ?? 0 > sizeLimit {
      return fail(.responseTooLarge(url, sizeLimit))
    }
    // A body that the server says is empty has nothing to decode.
    let hasNoBody = isToHEAD || status == 204 || status == 304 || announcedLength == 0
    do throws(ResponseDecoder.Failure) {
      let decompression = hasNoBody ? nil : options.responseCompression
      func makeDecoder() throws(ResponseDecoder.Failure) -> ResponseDecoder? {
        try ResponseDecoder(decompression, headers, mayBeEmpty: mayBeEmpty, from: url)
      }
      keptDecoder = try makeDecoder()
      let decoder = isKept ? nil : try makeDecoder()
      writer = isKept ? nil : response.flatMap { makeWriter?(target, decoder, $0) }
    } catch {
      return fail(error.error)
    }
    keptLimit = isKept ? target.heldLimit : Self.explanationSize
    return true
  }

  /// Whether a body that should be compressed data may have no byte: only what a GET was sent for must not. An error, and what
  /// follows a request that was carried out, need not say anything.
  private var mayBeEmpty: Bool { !isOfResource || isPage || !(status.map(options.accepts) ?? false) }

  /// Whether the caller must know that the response is complete, although the response stays in memory.
  private var isReadToEnd: Bool {
    target.readsToEnd && status.map(options.accepts) ?? false
  }

  private func endInformationalHead(_ status: Int) -> Bool {
    if status == 100 { hasContinued = true }
    isProgressReported = false
    // A server reports how far the upload is as often as it likes, but not without progress: otherwise it would never end.
    if status == 104, mayResume, upload.noteInformational(headers, from: url, read: bytesRead?() ?? 0) {
      noteUpload(upload)
      headSize = 0
      isProgressReported = true
      return true
    }
    informationalCount += 1
    guard !limitsHeads || informationalCount <= Self.maximumInformational else {
      return fail(.tooManyInformationalResponses(url, informationalCount))
    }
    return true
  }

  /// Whether the head has no length, or one valid length. RFC 9110 §8.6: Content-Length = 1*DIGIT. RFC 9112 §6.3: otherwise,
  /// the framing of the response is not valid.
  private var hasOneLength: Bool {
    guard let first = headers["Content-Length"] else { return true }
    return Int64(first) != nil && first.isASCIIDigits
      && headers.fields.allSatisfy {
        $0.value == first || !$0.name.isSameHeaderName(as: "Content-Length")
      }
  }

  /// RFC 9112 §7.4: a client that accepts transfer codings other than "chunked" says so in `TE`. This client asks for no other
  /// coding, and libcurl would decode some codings without checking that the body is complete.
  ///
  /// Some servers still send "identity", which is no coding (RFC 2616 §3.6). The body then ends with the connection.
  private var hasKnownTransferCoding: Bool {
    transferCoding.map { ["chunked", "identity"].contains($0) } ?? true
  }

  private var transferCoding: String? { headers.joined("Transfer-Encoding")?.lowercased() }

  private var isChunked: Bool { transferCoding == "chunked" }

  // MARK: Bodies

  /// Receives a piece of the body.
  func receive(body bytes: UnsafeRawBufferPointer) -> CurlReceipt {
    if choice != nil { return .later }
    // If only the end of the connection ends a body, libcurl doesn't count the body's bytes.
    if endsWithConnection, let announcedLength, Int64(bytes.count) > announcedLength - received {
      _ = fail(.bodyTooLong(url, announced: announcedLength))
      return .abort
    }
    if let sizeLimit, Int64(bytes.count) > sizeLimit - received {
      _ = fail(.responseTooLarge(url, sizeLimit))
      return .abort
    }
    if let writer {
      switch writer.write(bytes) {
      case .taken: break
      case .later: return .later
      case .failed:
        // The status stays valid; the connection is closed.
        if noteStorageFailure() { return .abort }
      }
    }
    received += Int64(bytes.count)
    let isKept = keep(bytes)
    guard writer == nil else { return .taken }
    if !isKept { isTruncated = true }
    hasDroppedTooMuch = !isReadToEnd && received - Int64(body.count) > Self.maximumDropped
    return hasDroppedTooMuch || failure != nil ? .abort : .taken
  }

  /// Adds bytes to `body`, up to its limit. Returns whether all were added.
  private func keep(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard let keptDecoder else { return keep(decoded: bytes) }
    var rest = bytes
    do throws(ResponseDecoder.Failure) {
      while let piece = try keptDecoder.next(&rest) {
        guard keep(decoded: piece) else {
          // Bytes that are not kept need not be decoded.
          self.keptDecoder = nil
          return false
        }
      }
      return true
    } catch {
      // The target has its own decoder, which fails as well.
      if writer == nil { failure = failure ?? error.error }
      (self.keptDecoder, keptLimit) = (nil, body.count)
      return false
    }
  }

  private func keep(decoded bytes: UnsafeRawBufferPointer) -> Bool {
    let room = max(keptLimit - body.count, 0)
    if room > 0 { body.append(contentsOf: bytes.prefix(room)) }
    return bytes.count <= room
  }

  private func notStored(_ error: any Error) -> TransferError {
    .responseNotStored(target, from: url, error)
  }

  private func fail(_ error: TransferError) -> Bool {
    failure = error
    return false
  }
}

extension String {
  /// Whether the text is the name of a header that says where a body ends.
  fileprivate var isLengthName: Bool {
    isSameHeaderName(as: "Content-Length") || isSameHeaderName(as: "Transfer-Encoding")
  }
}

extension Unicode.Scalar {
  /// Whether the character may be in the name of a header that says where a body ends.
  fileprivate var isNameCharacter: Bool {
    ("a"..."z").contains(self) || ("A"..."Z").contains(self) || self == "-"
  }
}

extension UnsafeRawBufferPointer {
  fileprivate var trimmingLineBreak: Slice<UnsafeRawBufferPointer> {
    var line = self[...]
    while let last = line.last, last == 13 || last == 10 { line.removeLast() }
    return line
  }
}
