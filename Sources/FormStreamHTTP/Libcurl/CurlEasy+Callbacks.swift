import CFormStreamCurl

/// The C functions that libcurl calls, each of which forwards to the delegate.
extension CurlEasy {
  /// Makes libcurl call a delegate, which must live until the transfer is removed from its `CurlMulti`.
  func setDelegate(_ delegate: any CurlDelegate, sendsBody: Bool, traces: Bool) {
    self.delegate = delegate
    let context = Unmanaged.passUnretained(self).toOpaque()
    for option in [
      CURLOPT_WRITEDATA, CURLOPT_HEADERDATA, CURLOPT_XFERINFODATA, CURLOPT_PREREQDATA,
      CURLOPT_DEBUGDATA, CURLOPT_READDATA, CURLOPT_SEEKDATA,
    ] {
      set(option, pointer: context)
    }
    setResponseFunctions()
    setProgressFunctions()
    if sendsBody { setBodyFunctions() }
    if traces { setTraceFunction() }
  }

  private func setResponseFunctions() {
    check(
      formstream_easy_set_transfer_function(handle, CURLOPT_HEADERFUNCTION) {
        bytes, size, count, context in
        let lines = UnsafeRawBufferPointer(start: bytes, count: size * count)
        guard let delegate = CurlEasy.delegate(context) else { return 0 }
        return lines.eachLine { delegate.receive(headLine: $0) } ? lines.count : 0
      })
    check(
      formstream_easy_set_transfer_function(handle, CURLOPT_WRITEFUNCTION) {
        bytes, size, count, context in
        let easy = CurlEasy.at(context)
        let piece = UnsafeRawBufferPointer(start: bytes, count: size * count)
        switch easy?.delegate?.receive(body: piece) ?? .abort {
        case .taken: return piece.count
        case .later:
          easy?.pauseReceiving()
          return Int(CURL_WRITEFUNC_PAUSE)
        // libcurl treats every number except the size of the piece as a failure. 0 would be a success for an empty piece.
        case .abort: return piece.count + 1
        }
      })
  }

  private func setProgressFunctions() {
    check(
      formstream_easy_set_progress_function(handle) { context, _, _, _, uploaded in
        CurlEasy.delegate(context)?.progressed(uploaded: Int64(uploaded)) == true ? 0 : 1
      })
    set(CURLOPT_NOPROGRESS, 0)
    check(
      formstream_easy_set_before_request_function(handle) { context, _, _, _, port in
        let easy = CurlEasy.at(context)
        // libcurl identifies the connection only by its local port.
        let socket = easy?.sockets?.socket(atLocalPort: port)
        return easy?.delegate?.willSendRequest(over: socket) == true
          ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
      })
  }

  private func setBodyFunctions() {
    check(
      formstream_easy_set_transfer_function(handle, CURLOPT_READFUNCTION) {
        bytes, size, count, context in
        let easy = CurlEasy.at(context)
        let buffer = UnsafeMutableRawBufferPointer(start: bytes, count: size * count)
        switch easy?.delegate?.read(into: buffer) ?? .abort {
        case .bytes(let count): return count
        case .later:
          easy?.pauseReading()
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
        // The length shows what piece of TLS libcurl passes: an inner type has one byte, an alert has two (its level, and its
        // kind: RFC 8446 §6), and the header of a record has five.
        case CURLINFO_SSL_DATA_IN where text.count == 1 || text.count == 5:
          CurlEasy.delegate(context)?.received(recordType: text[0], isInner: text.count == 1)
        // Messages of a handshake begin with their type (RFC 8446 §4): certificate_request(13).
        case CURLINFO_SSL_DATA_IN where text.count > 5 && text[0] == 13:
          CurlEasy.delegate(context)?.receivedCertificateRequest()
        case CURLINFO_SSL_DATA_IN where text.count == 2:
          CurlEasy.delegate(context)?.received(alert: text[1])
        default: break
        }
        return 0
      })
    set(CURLOPT_VERBOSE, 1)
  }

  /// Makes libcurl report the sockets that it opens, and makes `sockets` close them. A connection can outlive the transfer, so
  /// the sockets belong to the `CurlMulti`.
  func useSockets(of sockets: OpenSockets) {
    self.sockets = sockets
    let context = Unmanaged.passUnretained(sockets).toOpaque()
    for option in [CURLOPT_SOCKOPTDATA, CURLOPT_CLOSESOCKETDATA] { set(option, pointer: context) }
    check(
      formstream_easy_set_open_function(handle) { _, _, address in
        address.map { openSocket($0.pointee.family, $0.pointee.socktype, $0.pointee.protocol) }
          ?? CURL_SOCKET_BAD
      })
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

  static func at(_ context: UnsafeMutableRawPointer?) -> CurlEasy? {
    context.map { Unmanaged<CurlEasy>.fromOpaque($0).takeUnretainedValue() }
  }

  private static func delegate(_ context: UnsafeMutableRawPointer?) -> (any CurlDelegate)? {
    at(context)?.delegate
  }
}
