import CFormStreamCurl
import FormStreamMultipart

/// One libcurl transfer: owns its handle and everything that libcurl reads through it.
final class CurlEasy {
  let handle: UnsafeMutableRawPointer
  private var lists: [UnsafeMutablePointer<curl_slist>] = []
  private var errorText = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))
  /// The delegate owns this object, and lives as long as libcurl may call it.
  unowned var delegate: (any CurlDelegate)?
  var sockets: OpenSockets?
  /// Makes the check of the certificates in the next TLS handshake; nil if this transfer needs no check.
  var makeCertificateCheck: ((CurlEasy) -> CertificateCheck?)?
  /// The check of the certificates of the last connection.
  var certificateCheck: CertificateCheck?
  /// The reasons to pause: the body's source has no bytes yet, the response's target has no room, or the caller paused
  /// the request.
  private var isPaused = (reading: false, receiving: false, all: false)
  /// Whether libcurl accepted the last pause. libcurl accepts no pause before there is a connection.
  private(set) var isPauseInEffect = false
  /// The first option that libcurl refused: for lack of memory, or because this libcurl doesn't have the option. The failure is
  /// reported when the transfer is started.
  private var optionFailure: CURLcode?

  /// C: `curl_easy_init`
  init() throws(TransferError) {
    guard CurlLibrary.isReady, let handle = curl_easy_init() else {
      errorText.deallocate()
      throw .libcurlNotStarted
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

  // MARK: Options. C: `curl_easy_setopt`

  func check(_ code: CURLcode) {
    if code != CURLE_OK, optionFailure == nil { optionFailure = code }
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

  /// - Parameter bytes: without a NUL.
  func set(_ option: CURLoption, bytes: [UInt8]) {
    (bytes + [0]).withUnsafeBytes { bytes in
      check(
        formstream_easy_set_text(
          handle, option, bytes.baseAddress?.assumingMemoryBound(to: CChar.self)))
    }
  }

  func set(_ option: CURLoption, path: LocalPath) {
    check(path.withCString { formstream_easy_set_text(handle, option, $0) })
  }

  /// Sets a path; removes libcurl's default if the path is nil.
  func set(_ option: CURLoption, pathOrNone path: LocalPath?) {
    guard let path else { return check(formstream_easy_set_text(handle, option, nil)) }
    set(option, path: path)
  }

  func set(_ option: CURLoption, pointer: UnsafeMutableRawPointer?) {
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

  /// Why the transfer can't be started; nil if libcurl accepted all options.
  var startFailure: CurlFailure? { optionFailure.map { failure($0) } }

  /// Whether libcurl closes the connection at the end of the transfer.
  var closesConnection = false {
    didSet {
      if closesConnection != oldValue { set(CURLOPT_FORBID_REUSE, closesConnection ? 1 : 0) }
    }
  }

  /// Prepares for another start.
  func prepareAgain(isOnNewConnection: Bool) {
    errorText.pointee = 0
    if isOnNewConnection { set(CURLOPT_FRESH_CONNECT, 1) }
  }

  func failure(_ code: CURLcode) -> CurlFailure {
    let detail = String(cString: errorText)
    return CurlFailure(
      code: code, message: detail.isEmpty ? String(cString: curl_easy_strerror(code)) : detail,
      connectStatus: connectStatus, proxyCode: number(CURLINFO_PROXY_ERROR),
      systemError: Int32(truncatingIfNeeded: number(CURLINFO_OS_ERRNO)))
  }

  // MARK: Pauses

  /// Notes that the body's source has no bytes yet. libcurl learns it from the result of the read callback.
  func pauseReading() {
    isPaused.reading = true
  }

  /// Continues to read the body after its source had no bytes.
  func resumeReading() {
    isPaused.reading = false
    applyPauses()
  }

  /// Notes that there is no room for the response's body. libcurl learns it from the result of the write callback.
  func pauseReceiving() {
    isPaused.receiving = true
  }

  /// Continues to receive the body of the response. Before this returns, libcurl may pass on bytes that it has kept.
  func resumeReceiving() {
    isPaused.receiving = false
    applyPauses()
  }

  /// Pauses or resumes both directions.
  func setPaused(_ isPaused: Bool) {
    self.isPaused.all = isPaused
    applyPauses()
  }

  /// C: `curl_easy_pause`
  private func applyPauses() {
    let send = isPaused.reading || isPaused.all ? CURLPAUSE_SEND : CURLPAUSE_CONT
    let receive = isPaused.receiving || isPaused.all ? CURLPAUSE_RECV : CURLPAUSE_CONT
    isPauseInEffect =
      curl_easy_pause(handle, CInt(send | receive)) == CURLE_OK && isPaused.all
  }

  // MARK: Information. C: `curl_easy_getinfo`

  /// Whether the connection was made for an earlier request.
  var isConnectionReused: Bool { number(CURLINFO_NUM_CONNECTS) == 0 }

  /// The number of body bytes that libcurl has written, including the framing of chunks. With HTTP/2, libcurl writes
  /// no more than the server's flow control allows.
  var uploaded: Int64 { offset(CURLINFO_SIZE_UPLOAD_T) }

  /// When the steps of the attempt ended, and where its connection led to.
  ///
  /// - Parameter firstByte: the time to the first byte of a response. For an upload, libcurl's own figure is about the body.
  func metrics(firstByte: Duration?) -> TransferMetrics {
    TransferMetrics(
      lookup: time(CURLINFO_NAMELOOKUP_TIME_T), connect: time(CURLINFO_CONNECT_TIME_T),
      handshake: time(CURLINFO_APPCONNECT_TIME_T), ready: time(CURLINFO_PRETRANSFER_TIME_T),
      firstByte: firstByte, isConnectionReused: isConnectionReused,
      remote: endpoint(CURLINFO_PRIMARY_IP, CURLINFO_PRIMARY_PORT),
      local: endpoint(CURLINFO_LOCAL_IP, CURLINFO_LOCAL_PORT))
  }

  /// When a step ended; nil if libcurl has not done the step, for which it reports 0.
  private func time(_ info: CURLINFO) -> Duration? {
    let microseconds = offset(info)
    return microseconds > 0 ? .microseconds(microseconds) : nil
  }

  private func endpoint(_ address: CURLINFO, _ port: CURLINFO) -> TransferMetrics.Endpoint? {
    var text: UnsafePointer<CChar>?
    guard formstream_easy_get_text(handle, address, &text) == CURLE_OK, let text,
      case let port = number(port), port > 0
    else { return nil }
    return TransferMetrics.Endpoint(address: String(cString: text), port: port)
  }

  /// The status of a proxy's response to CONNECT; 0 if there is none.
  var connectStatus: Int { number(CURLINFO_HTTP_CONNECTCODE) }

  private func offset(_ info: CURLINFO) -> Int64 {
    var value: curl_off_t = 0
    return formstream_easy_get_offset(handle, info, &value) == CURLE_OK ? Int64(value) : 0
  }

  private func number(_ info: CURLINFO) -> Int {
    var value = 0
    return formstream_easy_get_long(handle, info, &value) == CURLE_OK ? value : 0
  }
}
