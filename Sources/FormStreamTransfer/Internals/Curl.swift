// The only file of this module that talks to libcurl: hence its length. Everything above it sees Swift values,
// `CurlFailure` and the calls of `CurlDelegate`.

import CFormStreamCurl
import FormStreamMultipart

/// Why libcurl ended a transfer, in its own words.
struct CurlFailure: Error {
  let code: CURLcode
  let message: String

  var number: UInt32 { code.rawValue }

  /// What it is about, as far as those above have to tell failures apart.
  enum Kind {
    case hostNotFound, connect, connectTimeout, tls, certificate, tlsFile, send, receive, noAnswer
    case rewindRefused, malformed, lineTooLong, cancelledByUs, other
  }

  var kind: Kind {
    switch code {
    case CURLE_COULDNT_RESOLVE_HOST: .hostNotFound
    case CURLE_COULDNT_CONNECT: .connect
    case CURLE_OPERATION_TIMEDOUT: .connectTimeout
    case CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CIPHER, CURLE_SSL_ENGINE_INITFAILED,
      CURLE_SSL_SHUTDOWN_FAILED:
      .tls
    case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_ISSUER_ERROR: .certificate
    case CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CRL_BADFILE: .tlsFile
    case CURLE_SEND_ERROR: .send
    case CURLE_RECV_ERROR, CURLE_PARTIAL_FILE, CURLE_HTTP2, CURLE_HTTP2_STREAM: .receive
    case CURLE_GOT_NOTHING: .noAnswer
    case CURLE_SEND_FAIL_REWIND: .rewindRefused
    case CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY, CURLE_BAD_CONTENT_ENCODING:
      .malformed
    // So libcurl says that a line of a head is over its limit, before 8.6; where memory really is short, Swift
    // has ended the process before.
    case CURLE_OUT_OF_MEMORY: .lineTooLong
    case CURLE_ABORTED_BY_CALLBACK, CURLE_WRITE_ERROR, CURLE_READ_ERROR: .cancelledByUs
    default: .other
    }
  }
}

/// What libcurl asks and tells while a transfer goes on. All on the thread that drives it.
protocol CurlDelegate: AnyObject {
  /// Asks for bytes of the body.
  func read(into buffer: UnsafeMutableRawBufferPointer) -> CurlRead
  /// Asks whether the body may be read again from `offset`.
  func mayRewind(to offset: Int64) -> Bool
  /// A line of an answer's head, with its line break; false to end the transfer.
  func receive(headLine: UnsafeRawBufferPointer) -> Bool
  /// A piece of an answer's body; false to end the transfer.
  func receive(body: UnsafeRawBufferPointer) -> Bool
  /// Something may have moved; false to end the transfer.
  func progressed(uploaded: Int64) -> Bool
  /// A request is about to go out over a socket; false to end the transfer.
  func willSendRequest(over socket: CInt?) -> Bool
  /// The head of a request that went out.
  func sent(head: UnsafeRawBufferPointer)
  /// What libcurl has to say.
  func noted(_ text: UnsafeRawBufferPointer)
}

/// What comes of a read.
enum CurlRead {
  case bytes(Int)
  /// There is nothing yet; `resumeReading` when there is.
  case later
  case abort
}

/// One transfer of libcurl's, with one owner.
final class CurlEasy {
  fileprivate let handle: OpaqueHandle
  private var lists: [UnsafeMutablePointer<curl_slist>] = []
  private var errorText = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))
  /// It owns this, and lives while libcurl may call.
  fileprivate unowned var delegate: (any CurlDelegate)?
  fileprivate var sockets: OpenSockets?
  /// What keeps it from going on: the source, or a person.
  private var isPaused = (reading: false, all: false)
  /// Whether libcurl has taken the last pause: where there is no connection yet, it takes none.
  private(set) var isHeld = false

  /// C: `curl_easy_init`
  init() throws(TransferError) {
    guard CurlLibrary.isReady, let handle = curl_easy_init() else {
      errorText.deallocate()
      throw CurlLibrary.unusable
    }
    self.handle = handle
    errorText.pointee = 0
    set(CURLOPT_ERRORBUFFER, pointer: errorText)
    set(CURLOPT_NOSIGNAL, 1)
  }

  /// C: `curl_easy_cleanup`
  deinit {
    curl_easy_cleanup(handle)
    for list in lists { curl_slist_free_all(list) }
    errorText.deallocate()
  }

  // C: `curl_easy_setopt`. Its failures are of memory or of a libcurl without the option: they come up
  // when the transfer is started.
  private(set) var failure: CURLcode?

  private func check(_ code: CURLcode) {
    if code != CURLE_OK, failure == nil { failure = code }
  }

  func set(_ option: CURLoption, _ value: Int) {
    check(formstream_easy_set_long(handle, option, value))
  }

  func set(_ option: CURLoption, offset value: Int64) {
    check(formstream_easy_set_offset(handle, option, curl_off_t(value)))
  }

  func set(_ option: CURLoption, _ text: String) {
    check(text.withCString { formstream_easy_set_text(handle, option, $0) })
  }

  func set(_ option: CURLoption, path: LocalPath) {
    check(path.withCString { formstream_easy_set_text(handle, option, $0) })
  }

  private func set(_ option: CURLoption, pointer: UnsafeMutableRawPointer?) {
    check(formstream_easy_set_pointer(handle, option, pointer))
  }

  /// C: `curl_slist_append`
  func set(_ option: CURLoption, list texts: [String]) {
    var list: UnsafeMutablePointer<curl_slist>?
    for text in texts {
      guard let longer = curl_slist_append(list, text) else {
        curl_slist_free_all(list)
        return check(CURLE_OUT_OF_MEMORY)
      }
      list = longer
    }
    guard let list else { return }
    lists.append(list)
    check(formstream_easy_set_list(handle, option, list))
  }

  /// Has libcurl call a delegate, which must live until the transfer is off its `CurlMulti`.
  func setDelegate(_ delegate: any CurlDelegate, sendsBody: Bool, traces: Bool) {
    self.delegate = delegate
    let context = Unmanaged.passUnretained(self).toOpaque()
    for option in [
      CURLOPT_WRITEDATA, CURLOPT_HEADERDATA, CURLOPT_XFERINFODATA, CURLOPT_PREREQDATA,
      CURLOPT_DEBUGDATA, CURLOPT_READDATA, CURLOPT_SEEKDATA,
    ] {
      set(option, pointer: context)
    }
    check(
      formstream_easy_set_transfer_function(handle, CURLOPT_HEADERFUNCTION) {
        bytes, size, count, context in
        return CurlEasy.delegate(context)?.receive(headLine: piece(bytes, size, count)) == true
          ? size * count : 0
      })
    check(
      formstream_easy_set_transfer_function(handle, CURLOPT_WRITEFUNCTION) {
        bytes, size, count, context in
        // libcurl takes any other count than that of the bytes for a failure, also for none.
        return CurlEasy.delegate(context)?.receive(body: piece(bytes, size, count)) == true
          ? size * count : size * count + 1
      })
    check(
      formstream_easy_set_progress_function(handle) { context, _, _, _, uploaded in
        CurlEasy.delegate(context)?.progressed(uploaded: Int64(uploaded)) == true ? 0 : 1
      })
    set(CURLOPT_NOPROGRESS, 0)
    check(
      formstream_easy_set_before_request_function(handle) { context, _, _, _, port in
        let easy = CurlEasy.at(context)
        // libcurl tells of the connection that it took by its own port alone.
        let socket = easy?.sockets?.socket(atLocalPort: port)
        return easy?.delegate?.willSendRequest(over: socket) == true
          ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
      })
    if sendsBody { setBodyFunctions() }
    if traces { setTraceFunction() }
  }

  private func setBodyFunctions() {
    check(
      formstream_easy_set_transfer_function(handle, CURLOPT_READFUNCTION) {
        bytes, size, count, context in
        let easy = CurlEasy.at(context)
        let room = UnsafeMutableRawBufferPointer(start: bytes, count: size * count)
        switch easy?.delegate?.read(into: room) ?? .abort {
        case .bytes(let count): return count
        case .later:
          easy?.isPaused.reading = true
          return Int(CURL_READFUNC_PAUSE)
        case .abort: return Int(CURL_READFUNC_ABORT)
        }
      })
    check(
      formstream_easy_set_seek_function(handle) { context, offset, origin in
        guard origin == SEEK_SET, CurlEasy.delegate(context)?.mayRewind(to: Int64(offset)) == true
        else {
          return CURL_SEEKFUNC_FAIL
        }
        return CURL_SEEKFUNC_OK
      })
  }

  private func setTraceFunction() {
    check(
      formstream_easy_set_debug_function(handle) { _, kind, bytes, count, context in
        let text = UnsafeRawBufferPointer(start: bytes, count: count)
        switch kind {
        case CURLINFO_HEADER_OUT: CurlEasy.delegate(context)?.sent(head: text)
        case CURLINFO_TEXT: CurlEasy.delegate(context)?.noted(text)
        default: break
        }
        return 0
      })
    set(CURLOPT_VERBOSE, 1)
  }

  fileprivate static func at(_ context: UnsafeMutableRawPointer?) -> CurlEasy? {
    context.map { Unmanaged<CurlEasy>.fromOpaque($0).takeUnretainedValue() }
  }

  private static func delegate(_ context: UnsafeMutableRawPointer?) -> (any CurlDelegate)? {
    at(context)?.delegate
  }

  // MARK: While it runs

  /// Goes on reading the body, which had nothing to give.
  func resumeReading() {
    isPaused.reading = false
    applyPauses()
  }

  /// Holds both directions, or lets them go.
  func setPaused(_ isPaused: Bool) {
    self.isPaused.all = isPaused
    applyPauses()
  }

  /// C: `curl_easy_pause`
  private func applyPauses() {
    let send = isPaused.reading || isPaused.all ? CURLPAUSE_SEND : CURLPAUSE_CONT
    let receive = isPaused.all ? CURLPAUSE_RECV : CURLPAUSE_CONT
    isHeld = curl_easy_pause(handle, CInt(send | receive)) == CURLE_OK && isPaused.all
  }

  // MARK: What is known of it. C: `curl_easy_getinfo`

  /// The version of HTTP that is spoken, times ten: 11, 20; 0 where none is known.
  var httpVersion: Int {
    switch number(CURLINFO_HTTP_VERSION) {
    case Int(CURL_HTTP_VERSION_1_0): 10
    case Int(CURL_HTTP_VERSION_1_1): 11
    case Int(CURL_HTTP_VERSION_2_0): 20
    default: 0
    }
  }

  /// How many bytes of the body libcurl has written, chunks' framing included.
  var uploaded: Int64 {
    var value: curl_off_t = 0
    return formstream_easy_get_offset(handle, CURLINFO_SIZE_UPLOAD_T, &value) == CURLE_OK
      ? Int64(value) : 0
  }

  private func number(_ info: CURLINFO) -> Int {
    var value = 0
    return formstream_easy_get_long(handle, info, &value) == CURLE_OK ? value : 0
  }

  fileprivate func failure(_ code: CURLcode) -> CurlFailure {
    let detail = String(cString: errorText)
    return CurlFailure(
      code: code, message: detail.isEmpty ? String(cString: curl_easy_strerror(code)) : detail)
  }

  /// Why it can't be started: the first option that libcurl did not take.
  var startFailure: CurlFailure? { failure.map { failure($0) } }
}

private func piece(
  _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int
) -> UnsafeRawBufferPointer {
  UnsafeRawBufferPointer(start: bytes, count: size * count)
}

/// libcurl's many transfers on one thread.
final class CurlMulti: @unchecked Sendable {
  // All is called on the engine's thread, but `wakeUp`, which libcurl allows from any.
  private let handle: OpaqueHandle
  private let sockets: OpenSockets
  private var running: [OpaqueHandle: CurlEasy] = [:]

  /// - Parameter willClose: told a socket's number before it is closed, while what has come can still be read.
  ///
  /// C: `curl_multi_init`
  init(
    maximumIdleConnections: Int, willClose: @escaping (CInt) -> Void
  ) throws(TransferError) {
    guard CurlLibrary.isReady, let handle = curl_multi_init() else { throw CurlLibrary.unusable }
    self.handle = handle
    sockets = OpenSockets(willClose)
    _ = formstream_multi_set_long(handle, CURLMOPT_MAXCONNECTS, maximumIdleConnections)
  }

  /// C: `curl_multi_cleanup`
  deinit {
    for easy in running.values { curl_multi_remove_handle(handle, easy.handle) }
    running = [:]
    // Closes what is idle, and tells `sockets` of each: it has to live until here.
    withExtendedLifetime(sockets) { _ = curl_multi_cleanup(handle) }
  }

  /// C: `curl_multi_add_handle`
  func add(_ easy: CurlEasy) -> Bool {
    easy.sockets = sockets
    easy.watchSockets()
    guard curl_multi_add_handle(handle, easy.handle) == CURLM_OK else { return false }
    running[easy.handle] = easy
    return true
  }

  /// Takes a transfer off, wherever it stands; its connection is closed unless it was over.
  ///
  /// C: `curl_multi_remove_handle`
  func remove(_ easy: CurlEasy) {
    curl_multi_remove_handle(handle, easy.handle)
    running[easy.handle] = nil
  }

  /// Waits until something can be done, for so long at the most.
  ///
  /// C: `curl_multi_poll`
  func wait(milliseconds: Int) {
    _ = curl_multi_poll(handle, nil, 0, CInt(clamping: milliseconds), nil)
  }

  /// Ends a wait, or the next one.
  ///
  /// C: `curl_multi_wakeup`
  func wakeUp() {
    // Without it, what was posted would lie there until the wait is over.
    for _ in 0..<3 where curl_multi_wakeup(handle) == CURLM_OK { break }
  }

  /// Does what can be done without waiting.
  ///
  /// C: `curl_multi_perform`
  func perform() {
    var count: CInt = 0
    _ = curl_multi_perform(handle, &count)
  }

  /// The next transfer that is over, with why it failed where it did.
  ///
  /// C: `curl_multi_info_read`
  func nextFinished() -> (easy: CurlEasy, failure: CurlFailure?)? {
    var left: CInt = 0
    while let message = curl_multi_info_read(handle, &left) {
      guard message.pointee.msg == CURLMSG_DONE, let done = message.pointee.easy_handle,
        let easy = running[done]
      else { continue }
      let code = formstream_message_result(message)
      let failure = code == CURLE_OK ? nil : easy.failure(code)
      remove(easy)
      return (easy, failure)
    }
    return nil
  }
}

private typealias OpaqueHandle = UnsafeMutableRawPointer

/// The sockets of one `CurlMulti`.
private final class OpenSockets {
  private var numbers: Set<CInt> = []
  private let willClose: (CInt) -> Void

  init(_ willClose: @escaping (CInt) -> Void) {
    self.willClose = willClose
  }

  func opened(_ socket: CInt) {
    numbers.insert(socket)
  }

  func close(_ socket: CInt) {
    willClose(socket)
    numbers.remove(socket)
    closeSocket(socket)
  }

  /// The one at that port; nil where there are several, as sockets in the file system have none: to take
  /// another's answer for one's own would be worse than none.
  func socket(atLocalPort port: CInt) -> CInt? {
    let found = numbers.filter { localPort(of: $0) == port }
    return found.count == 1 ? found.first : nil
  }

  fileprivate static func at(_ context: UnsafeMutableRawPointer?) -> OpenSockets? {
    context.map { Unmanaged<OpenSockets>.fromOpaque($0).takeUnretainedValue() }
  }
}

extension CurlEasy {
  /// Has libcurl tell of the sockets that it opens and closes. What closes them outlives the transfer: they
  /// are those of the `CurlMulti`.
  fileprivate func watchSockets() {
    guard let sockets else { return }
    let context = Unmanaged.passUnretained(sockets).toOpaque()
    for option in [CURLOPT_SOCKOPTDATA, CURLOPT_CLOSESOCKETDATA] { set(option, pointer: context) }
    check(
      formstream_easy_set_socket_made_function(handle) { context, socket, _ in
        OpenSockets.at(context)?.opened(socket)
        return CURL_SOCKOPT_OK
      })
    check(
      formstream_easy_set_close_function(handle) { context, socket in
        OpenSockets.at(context)?.close(socket)
        return 0
      })
  }
}

/// libcurl as it is here.
enum CurlLibrary {
  /// C: `curl_global_init`
  static let isReady = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK

  static let unusable = TransferError(
    .engineFailed, on: "libcurl", "libcurl can't be started: there is no memory for it.")
}

/// A URL in libcurl's parser, so that what is checked is what is connected to.
final class URLHandle {
  enum Part {
    case url, scheme, host, port, user, password, query, fragment

    fileprivate var code: CURLUPart {
      switch self {
      case .url: CURLUPART_URL
      case .scheme: CURLUPART_SCHEME
      case .host: CURLUPART_HOST
      case .port: CURLUPART_PORT
      case .user: CURLUPART_USER
      case .password: CURLUPART_PASSWORD
      case .query: CURLUPART_QUERY
      case .fragment: CURLUPART_FRAGMENT
      }
    }
  }

  private let handle: OpaquePointer

  /// C: `curl_url`, `curl_url_set`
  init(parsing text: String) throws(TransferError) {
    guard CurlLibrary.isReady, let handle = curl_url() else { throw CurlLibrary.unusable }
    self.handle = handle
    try set(.url, text, subject: text)
  }

  /// C: `curl_url_cleanup`
  deinit { curl_url_cleanup(handle) }

  func set(_ part: Part, _ text: String, subject: String) throws(TransferError) {
    var code = CURLUE_MALFORMED_INPUT
    // What is behind a NUL, C would not see.
    if !text.utf8.contains(0) {
      code = text.withCString { curl_url_set(handle, part.code, $0, CUnsignedInt(CURLU_URLENCODE)) }
    }
    guard code == CURLUE_OK else {
      let reason = String(cString: curl_url_strerror(code))
      throw TransferError(
        .invalidURL, on: subject.hidingCredentials,
        "The URL \(subject.hidingCredentials.quoted) can't be sent to (\(reason)): write "
          + "http://host/path or https://host/path.")
    }
  }

  /// A part as it is written; nil where there is none.
  ///
  /// C: `curl_url_get`
  func text(_ part: Part) -> String? { get(part, CURLU_DEFAULT_PORT) }

  /// A part with its percent-encoding taken off.
  func decodedText(_ part: Part) -> String? { get(part, CURLU_URLDECODE) }

  func clear(_ part: Part) {
    _ = curl_url_set(handle, part.code, nil, 0)
  }

  private func get(_ part: Part, _ flags: CInt) -> String? {
    // In a whole URL, the usual port is left out as it was.
    let flags = part == .url ? CURLU_NO_DEFAULT_PORT : flags
    var text: UnsafeMutablePointer<CChar>?
    guard curl_url_get(handle, part.code, &text, CUnsignedInt(flags)) == CURLUE_OK, let text else {
      return nil
    }
    defer { curl_free(text) }
    return String(cString: text)
  }
}

// MARK: What an exchange orders, as libcurl's options

extension CurlEasy {
  func setUp(_ order: Exchange.Order) {
    setTarget(order)
    setBody(order)
    setTLS(order.configuration.tls)
    set(CURLOPT_HTTPHEADER, list: headerLines(order))
    let limit = order.options.limits.connect?.milliseconds ?? Int64(CInt.max)
    set(CURLOPT_CONNECTTIMEOUT_MS, Int(clamping: min(max(limit, 1), Int64(CInt.max))))
    set(CURLOPT_MAXAGE_CONN, Int(clamping: order.configuration.idleLimit.components.seconds))
    set(CURLOPT_FORBID_REUSE, 0)
    set(CURLOPT_FRESH_CONNECT, order.usesIdleConnection ? 0 : 1)
  }

  private func setTarget(_ order: Exchange.Order) {
    set(CURLOPT_URL, order.url.description)
    // Its own way through "..": what was checked is what is asked for.
    set(CURLOPT_PROTOCOLS_STR, "http,https")
    set(CURLOPT_FOLLOWLOCATION, 0)
    set(CURLOPT_PROXY, "")
    set(CURLOPT_NETRC, Int(CURL_NETRC_IGNORED.rawValue))
    // A resolver that does not come back is left behind, not waited for: cancel and limits hold for it, too.
    set(CURLOPT_QUICK_EXIT, 1)
    let version =
      switch order.configuration.version.kind {
      case .automatic: CURL_HTTP_VERSION_2TLS
      case .http11: CURL_HTTP_VERSION_1_1
      case .http2:
        order.url.origin.scheme == "https"
          ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE
      }
    set(CURLOPT_HTTP_VERSION, Int(version))
    if let path = order.configuration.unixSocket { set(CURLOPT_UNIX_SOCKET_PATH, path: path) }
    set(CURLOPT_RESOLVE, list: order.configuration.addresses.map(\.text))
  }

  private func setBody(_ order: Exchange.Order) {
    if order.announcesBody {
      set(CURLOPT_UPLOAD, 1)
      let length = order.body == nil ? 0 : order.body?.contentLength
      set(CURLOPT_INFILESIZE_LARGE, offset: length ?? -1)
      set(CURLOPT_UPLOAD_BUFFERSIZE, bufferSize(order))
      if let patience = order.askingPatience {
        set(CURLOPT_EXPECT_100_TIMEOUT_MS, Int(clamping: max(patience.milliseconds, 1)))
      }
    }
    if order.method == .head, !order.announcesBody {
      set(CURLOPT_NOBODY, 1)
    } else if order.method != .get || order.announcesBody {
      set(CURLOPT_CUSTOMREQUEST, order.method.description)
    }
    if let rate = order.options.maximumRate { set(CURLOPT_MAX_SEND_SPEED_LARGE, offset: rate) }
  }

  /// Pieces that take no longer than an eighth of a second where the rate is limited.
  private func bufferSize(_ order: Exchange.Order) -> Int {
    let size = order.configuration.uploadBufferSize
    guard let rate = order.options.maximumRate else { return size }
    return min(size, max(16 * 1024, Int(clamping: rate / 8)))
  }

  private func setTLS(_ settings: TLSSettings) {
    set(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
    if let path = settings.authorities { set(CURLOPT_CAINFO, path: path) }
    if let path = settings.certificate {
      set(CURLOPT_SSLCERT, path: path)
      set(CURLOPT_SSLKEY, path: settings.key ?? path)
    }
    set(CURLOPT_SSL_VERIFYPEER, settings.verifiesServer ? 1 : 0)
    set(CURLOPT_SSL_VERIFYHOST, settings.verifiesServer ? 2 : 0)
  }

  /// What libcurl would add on its own is said or forbidden here, line by line.
  private func headerLines(_ order: Exchange.Order) -> [String] {
    var lines: [String] = []
    // A header without a value has to be written with a semicolon, or libcurl takes it for one to leave out.
    for field in order.headers.fields {
      lines.append(field.value.isEmpty ? "\(field.name);" : "\(field.name): \(field.value)")
    }
    lines.append(order.askingPatience == nil ? "Expect:" : "Expect: 100-continue")
    if !order.headers.contains("Accept") { lines.append("Accept: */*") }
    // Without this, a server may choose any coding (RFC 9110 §12.5.3), and nothing is decoded here.
    if !order.headers.contains("Accept-Encoding") { lines.append("Accept-Encoding: identity") }
    return lines
  }
}
