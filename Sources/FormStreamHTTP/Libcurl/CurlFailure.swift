import CFormStreamCurl
import FormStreamPlatform

/// Why libcurl ended a transfer: its code and its message, which are read only here.
struct CurlFailure {
  let code: CURLcode
  let message: String
  /// The status of a proxy's response to CONNECT; 0 if there is none.
  let connectStatus: Int
  /// Why a SOCKS proxy made no connection: libcurl's `CURLPX_` codes.
  let proxyCode: Int
  /// The number of the system's error; 0 if it is not known.
  let systemError: Int32
}

extension WireFailure {
  /// - Parameter isInHead: whether the head of a response was being read.
  init(_ failure: CurlFailure, isInHead: Bool) {
    let cause = failure.cause(isInHead: isInHead)
    let detail = cause == .other ? "\(failure.message) (libcurl \(failure.code.rawValue))" : failure.message
    self.init(cause: cause, ending: failure.ending, detail: detail)
  }
}

extension CurlFailure {
  fileprivate func cause(isInHead: Bool) -> WireFailure.Cause {
    switch code {
    case CURLE_RECV_ERROR where connectStatus != 0 && !(200...299).contains(connectStatus):
      .refusedByProxy(.status(connectStatus))
    // The name was to be resolved on this machine, not by the proxy.
    case CURLE_PROXY where proxyCode == Int(CURLPX_RESOLVE_HOST.rawValue): .hostNotFound(.serverForProxy)
    case CURLE_PROXY: .refusedByProxy(connectStatus != 0 ? .status(connectStatus) : .socks(refusalBySOCKS))
    case CURLE_COULDNT_RESOLVE_HOST: .hostNotFound(.server)
    case CURLE_COULDNT_RESOLVE_PROXY: .hostNotFound(.proxy)
    case CURLE_INTERFACE_FAILED: .interface
    case CURLE_COULDNT_CONNECT: .notConnected(systemError > 0 ? SystemError(number: systemError) : nil)
    case CURLE_OPERATION_TIMEDOUT: .notConnectedInTime
    case CURLE_SSL_CONNECT_ERROR where isCutHandshake: .handshakeCut
    // The alert no_application_protocol, in OpenSSL's words.
    case CURLE_SSL_CONNECT_ERROR where message.contains("no application protocol"): .noCommonProtocol(tls)
    case CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CIPHER, CURLE_SSL_ENGINE_INITFAILED, CURLE_SSL_SHUTDOWN_FAILED: .notEncrypted(tls)
    case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_ISSUER_ERROR: .certificate
    case CURLE_SSL_PINNEDPUBKEYNOTMATCH: .publicKey
    case CURLE_SSL_CACERT_BADFILE: .authoritiesFile
    case CURLE_SSL_CERTPROBLEM, CURLE_SSL_CRL_BADFILE: .tlsFile(tls)
    // The response goes on, but can't be read.
    case CURLE_RECV_ERROR where message.hasSuffix("in chunked-encoding"): .malformed(malformation)
    // RFC 9113 §8.1.1: a malformed response is a stream error of this type, whichever side detects it.
    case CURLE_HTTP2_STREAM where http2Error == "PROTOCOL_ERROR": .malformedHTTP2(error: http2Error)
    case CURLE_HTTP2 where http2Error == nil: .malformedHTTP2(error: nil)
    case CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_PARTIAL_FILE, CURLE_HTTP2, CURLE_HTTP2_STREAM: .broken
    case CURLE_GOT_NOTHING: .noResponse
    // libcurl was not allowed to send the request again (SEND_FAIL_REWIND).
    case CURLE_SEND_FAIL_REWIND, CURLE_ABORTED_BY_CALLBACK, CURLE_WRITE_ERROR, CURLE_READ_ERROR: .ended
    case CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY, CURLE_BAD_CONTENT_ENCODING: .malformed(malformation)
    // Before 8.6, libcurl also reports a header line over its limit with this code.
    case CURLE_OUT_OF_MEMORY: .outOfMemory
    case CURLE_BAD_FUNCTION_ARGUMENT where isInHead: .foldedFirstHeader
    default: .other
    }
  }

  /// Whether the connection ended during a TLS handshake. libcurl has one code for all failures of a handshake. With OpenSSL,
  /// its message is "SSL_ERROR_SYSCALL" or "unexpected eof" for a FIN, and the system's message for a reset.
  private var isCutHandshake: Bool {
    ["SSL_ERROR_SYSCALL", "unexpected eof", "Connection reset", "Broken pipe", Self.noPeer]
      .contains { message.contains($0) }
  }

  /// libcurl's message after a reset that came before it asked the system for the other side's address. It keeps the first message
  /// of a transfer only.
  private static let noPeer = "getpeername() failed"

  fileprivate var ending: WireFailure.Ending {
    // libcurl doesn't say who ended the request: the server, or nghttp2 because the response was not valid.
    if let http2Error { return .http2Error(http2Error) }
    if message.contains("before getting all response header fields") { return .requestEndedWithoutResponse }
    if message.contains("nghttp2") || code == CURLE_HTTP2 { return .notHTTP2 }
    if message.contains("remaining to read") || message.contains("outstanding read data") { return .closedWithinResponse }
    let words: [(String, WireFailure.Ending)] = [
      ("reset by peer", .reset), (Self.noPeer, .reset), ("timed out", .notAcknowledged), ("No route to host", .noRoute),
      ("unreachable", .networkUnreachable),
    ]
    if let (_, ending) = words.first(where: { message.contains($0.0) }) { return ending }
    return message.contains("SSL_") && message.contains("error:") && !message.contains("unexpected eof") ? .notTLS : .closed
  }

  /// The name of the code with which an HTTP/2 server ended a request (RFC 9113 §7).
  private var http2Error: String? {
    guard let range = message.firstRange(of: "was not closed cleanly: ") else { return nil }
    return String(message[range.upperBound...].prefix { $0 == "_" || $0.isLetter || $0.isNumber })
  }

  private var malformation: WireFailure.Malformation {
    switch message {
    case let text where text.contains("HTTP/0.9"): .noVersion
    case let text where text.contains("HTTP version"): .unknownVersion
    case let text where text.contains("response code"): .status
    case let text where text.contains("Nul byte"): .nul
    case let text where text.contains("without colon"): .noColon
    case let text where text.contains("Content-Length"): .contentLength
    case let text where text.contains("chunk"): .chunks
    case let text where text.contains("encoding"): .coding
    default: .other
    }
  }

  private var tls: WireFailure.TLSFailure {
    let kind: WireFailure.TLSFailure.Kind =
      message.contains("unsupported protocol") || message.contains("no protocols available")
      ? .versions : message.contains("wrong version number") ? .noTLS : .other
    return WireFailure.TLSFailure(kind: kind, reason: tlsReason)
  }

  /// OpenSSL's reason without the text before it, such as `error:0A00010B:SSL routines::`.
  private var tlsReason: String {
    guard let start = message.ranges(of: "::").last?.upperBound else { return message }
    let reason = message[start...].prefix { $0 != "," }
    return reason == "PEM lib"
      ? "it is no PEM file, or its passphrase is another one" : String(reason)
  }

  private var refusalBySOCKS: ProxyRefusal.SOCKS {
    switch CURLproxycode(rawValue: UInt32(clamping: proxyCode)) {
    case CURLPX_REPLY_GENERAL_SERVER_FAILURE: .generalFailure
    case CURLPX_REPLY_NOT_ALLOWED: .notAllowed
    case CURLPX_REPLY_NETWORK_UNREACHABLE: .networkUnreachable
    case CURLPX_REPLY_HOST_UNREACHABLE: .hostUnreachable
    case CURLPX_REPLY_CONNECTION_REFUSED: .connectionRefused
    case CURLPX_REPLY_TTL_EXPIRED: .expired
    case CURLPX_REPLY_COMMAND_NOT_SUPPORTED: .noConnecting
    case CURLPX_REPLY_ADDRESS_TYPE_NOT_SUPPORTED: .otherAddresses
    case CURLPX_REQUEST_FAILED: .requestRefused
    case CURLPX_IDENTD: .noIdentd
    case CURLPX_IDENTD_DIFFER: .otherUserInIdentd
    case CURLPX_NO_AUTH: .credentialsNotAccepted
    case CURLPX_USER_REJECTED: .credentialsRefused
    case CURLPX_LONG_USER: .longUser
    case CURLPX_LONG_PASSWD: .longPassword
    case CURLPX_LONG_HOSTNAME: .longHost
    case CURLPX_BAD_VERSION, CURLPX_BAD_ADDRESS_TYPE, CURLPX_UNKNOWN_MODE: .otherProtocol
    case CURLPX_CLOSED, CURLPX_RECV_ADDRESS, CURLPX_RECV_AUTH, CURLPX_RECV_CONNECT, CURLPX_RECV_REQACK, CURLPX_SEND_AUTH,
      CURLPX_SEND_CONNECT, CURLPX_SEND_REQUEST:
      .closed
    default: .unknown
    }
  }
}
