import CFormStreamCurl
import FormStreamMultipart
import FormStreamPlatform

/// A request as libcurl's options.
extension CurlEasy {
  func setOptions(for request: WireRequest) {
    setTarget(request)
    setBody(request)
    if !request.options.responseTarget.isMemory {
      set(CURLOPT_BUFFERSIZE, receiveBufferSize(request))
    }
    setTLS(request)
    setProxy(request)
    setAddresses(request)
    if let cookies = request.cookieLine { set(CURLOPT_COOKIE, bytes: cookies) }
    set(CURLOPT_HTTPHEADER, list: headerLines(request))
    let limit = request.options.timeLimits.connect?.milliseconds ?? Int64(CInt.max)
    set(CURLOPT_CONNECTTIMEOUT_MS, Int(clamping: min(max(limit, 1), Int64(CInt.max))))
    set(CURLOPT_MAXAGE_CONN, Int(request.configuration.idleLimit.bounded.components.seconds))
    // On a kept connection without TLS that already speaks HTTP/2, libcurl 7.88 would begin HTTP/2 once more.
    closesConnection = request.hasPriorKnowledge
    // If a kept connection fails, libcurl sends the request again by itself. This option prevents that for a request that must
    // not be sent again. It also makes libcurl report REFUSED_STREAM, which another try would hide. A libcurl without RTSP
    // doesn't have the option.
    if !request.mayBeSentAgainByLibcurl {
      _ = formstream_easy_set_long(handle, CURLOPT_RTSP_REQUEST, Int(CURL_RTSPREQ_RECEIVE))
    }
    set(
      CURLOPT_FRESH_CONNECT,
      request.attempt.usesIdleConnection && !request.hasPriorKnowledge ? 0 : 1)
  }

  private func setTarget(_ request: WireRequest) {
    // The server of a test doesn't encrypt.
    let text = request.url.absoluteString
    set(CURLOPT_URL, request.testSocket == nil ? text : "http" + text.drop { $0 != ":" })
    // Segments that have to be removed from the path were removed when the URL was parsed.
    set(CURLOPT_PATH_AS_IS, 1)
    if let target = request.attempt.target { set(CURLOPT_REQUEST_TARGET, target) }
    set(CURLOPT_PROTOCOLS_STR, "http,https")
    set(CURLOPT_FOLLOWLOCATION, 0)
    // CURL_NETRC_IGNORED: an enumeration in some versions of libcurl, a number in others.
    set(CURLOPT_NETRC, 0)
    // A resolver that hangs is abandoned, so that cancelling and time limits work during a lookup, too.
    set(CURLOPT_QUICK_EXIT, 1)
    let version =
      switch request.configuration.version.kind {
      case .automatic: CURL_HTTP_VERSION_2TLS
      case .http11: CURL_HTTP_VERSION_1_1
      case .http2, .http2OverTLS:
        request.hasPriorKnowledge ? CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE : CURL_HTTP_VERSION_2TLS
      }
    set(CURLOPT_HTTP_VERSION, Int(version))
  }

  private func setAddresses(_ request: WireRequest) {
    let configuration = request.configuration
    if let path = configuration.unixSocket { set(CURLOPT_UNIX_SOCKET_PATH, path: path) }
    if let name = request.testSocket { set(CURLOPT_ABSTRACT_UNIX_SOCKET, name) }
    set(CURLOPT_RESOLVE, list: configuration.addresses.map(\.text))
    set(CURLOPT_CONNECT_TO, list: configuration.replacedHosts.map(\.text))
    let family =
      switch configuration.addressFamily.kind {
      case .any: CURL_IPRESOLVE_WHATEVER
      case .ipv4: CURL_IPRESOLVE_V4
      case .ipv6: CURL_IPRESOLVE_V6
      }
    set(CURLOPT_IPRESOLVE, Int(family))
    if let name = configuration.localInterface { set(CURLOPT_INTERFACE, name) }
    guard let time = configuration.keepAliveTime else { return }
    let seconds = Int(time.bounded.components.seconds)
    set(CURLOPT_TCP_KEEPALIVE, 1)
    set(CURLOPT_TCP_KEEPIDLE, seconds)
    set(CURLOPT_TCP_KEEPINTVL, seconds)
  }

  private func setBody(_ request: WireRequest) {
    if request.announcesBody {
      set(CURLOPT_UPLOAD, 1)
      set(CURLOPT_INFILESIZE_LARGE, offset: request.bodyLength ?? -1)
      set(CURLOPT_UPLOAD_BUFFERSIZE, bufferSize(request))
      if let timeout = request.expectTimeout {
        set(CURLOPT_EXPECT_100_TIMEOUT_MS, Int(clamping: max(timeout.milliseconds, 1)))
      }
    }
    if request.method == .head, !request.announcesBody {
      set(CURLOPT_NOBODY, 1)
    } else if request.method != .get || request.announcesBody {
      set(CURLOPT_CUSTOMREQUEST, request.method.description)
    }
    if let rate = request.options.maximumRate {
      set(
        request.announcesBody ? CURLOPT_MAX_SEND_SPEED_LARGE : CURLOPT_MAX_RECV_SPEED_LARGE,
        offset: rate)
    }
  }

  /// The size of the pieces in which libcurl reads a response: the size at which a writer is woken, or less at a limited rate.
  /// libcurl reads up to a hundred pieces before it checks the rate, so a hundred pieces may be no more than the bytes of a
  /// second.
  private func receiveBufferSize(_ request: WireRequest) -> Int {
    let size =
      request.options.belongsToDownload
      ? ResponseWriter.downloadPieceSize : ResponseWriter.pieceSize
    guard let rate = request.options.maximumRate, !request.announcesBody else { return size }
    // libcurl allows no less than 1 KiB.
    return min(size, max(1024, Int(clamping: rate / 100)))
  }

  /// The size of the upload buffer: the configured size, or less. For a short body, it is a sixteenth of the body or 64 KiB,
  /// because all bytes of the buffer may be sent at once. At a limited rate, it is the number of bytes that are sent in an
  /// eighth of a second.
  private func bufferSize(_ request: WireRequest) -> Int {
    var size = request.configuration.uploadBufferSize
    if let length = request.bodyLength.map({ Int(clamping: $0) }) {
      // libcurl allows no less than 16 KiB.
      size = min(size, max(16 * 1024, min(length, 64 * 1024), length / 16))
    }
    guard let rate = request.options.maximumRate else { return size }
    return min(size, max(16 * 1024, Int(clamping: rate / 8)))
  }

  /// The request's headers, and a line for each header that libcurl would otherwise add or choose itself.
  private func headerLines(_ request: WireRequest) -> [String] {
    var lines: [String] = []
    // libcurl removes a header that is written `name:`; `name;` sends it with an empty value.
    for field in request.headers.fields
    where request.cookieJar == nil || !field.name.isSameHeaderName(as: "Cookie") {
      lines.append(field.value.isEmpty ? "\(field.name);" : "\(field.name): \(field.value)")
    }
    lines.append(request.expectTimeout == nil ? "Expect:" : "Expect: 100-continue")
    if !request.headers.contains("Accept") {
      lines.append(request.options.omits("Accept") ? "Accept:" : "Accept: */*")
    }
    // Without this header a server may choose any coding (RFC 9110 §12.5.3). libcurl is not asked to decode: it would not
    // notice that the end is missing, and would decode all bytes that it has while the target has no room.
    if !request.headers.contains("Accept-Encoding"), !request.options.omits("Accept-Encoding") {
      lines.append(
        "Accept-Encoding: \(request.options.responseCompression == nil ? "identity" : "deflate, gzip")"
      )
    }
    return lines
  }
}
