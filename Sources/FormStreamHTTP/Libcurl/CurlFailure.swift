import CFormStreamCurl

/// Why libcurl ended a transfer: its code and its message.
struct CurlFailure: Error {
  let code: CURLcode
  let message: String
  /// The status of a proxy's response to CONNECT; 0 if there is none.
  let connectStatus: Int
  /// Why a SOCKS proxy made no connection: libcurl's `CURLPX_` codes.
  let proxyCode: Int
  /// The number of the system's error; 0 if it is not known.
  let systemError: Int32

  var number: UInt32 { code.rawValue }

  /// The failures that the callers treat differently.
  enum Kind {
    case hostNotFound, proxyNotFound, connect, connectTimeout, interface, proxy
    case tls, cutHandshake, noCommonProtocol, certificate, publicKey, authoritiesFile, tlsFile
    case send, receive
    case noResponse, rewindRefused, malformed, malformedHTTP2, outOfMemory, abortedByUs
    case badArgument, other
  }

  var kind: Kind {
    switch code {
    case CURLE_RECV_ERROR where connectStatus != 0 && !(200...299).contains(connectStatus): .proxy
    // The name was to be resolved on this machine, not by the proxy.
    case CURLE_PROXY where proxyCode == Int(CURLPX_RESOLVE_HOST.rawValue): .hostNotFound
    case CURLE_PROXY: .proxy
    case CURLE_COULDNT_RESOLVE_HOST: .hostNotFound
    case CURLE_COULDNT_RESOLVE_PROXY: .proxyNotFound
    case CURLE_INTERFACE_FAILED: .interface
    case CURLE_COULDNT_CONNECT: .connect
    case CURLE_OPERATION_TIMEDOUT: .connectTimeout
    case CURLE_SSL_CONNECT_ERROR where isCutHandshake: .cutHandshake
    // The alert no_application_protocol (RFC 7301 §3.2), in OpenSSL's words.
    case CURLE_SSL_CONNECT_ERROR where message.contains("no application protocol"):
      .noCommonProtocol
    case CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CIPHER, CURLE_SSL_ENGINE_INITFAILED,
      CURLE_SSL_SHUTDOWN_FAILED:
      .tls
    case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_ISSUER_ERROR: .certificate
    case CURLE_SSL_PINNEDPUBKEYNOTMATCH: .publicKey
    case CURLE_SSL_CACERT_BADFILE: .authoritiesFile
    case CURLE_SSL_CERTPROBLEM, CURLE_SSL_CRL_BADFILE: .tlsFile
    case CURLE_SEND_ERROR: .send
    // The response goes on, but can't be read.
    case CURLE_RECV_ERROR where message.hasSuffix("in chunked-encoding"): .malformed
    // RFC 9113 §8.1.1: a malformed response is a stream error of this type, whichever side detects it.
    case CURLE_HTTP2_STREAM where streamError == "PROTOCOL_ERROR": .malformedHTTP2
    case CURLE_HTTP2 where streamError == nil: .malformedHTTP2
    case CURLE_RECV_ERROR, CURLE_PARTIAL_FILE, CURLE_HTTP2, CURLE_HTTP2_STREAM: .receive
    case CURLE_GOT_NOTHING: .noResponse
    case CURLE_SEND_FAIL_REWIND: .rewindRefused
    case CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY, CURLE_BAD_CONTENT_ENCODING:
      .malformed
    // Before 8.6, libcurl also reports a header line over its limit with this code.
    case CURLE_OUT_OF_MEMORY: .outOfMemory
    case CURLE_BAD_FUNCTION_ARGUMENT: .badArgument
    case CURLE_ABORTED_BY_CALLBACK, CURLE_WRITE_ERROR, CURLE_READ_ERROR: .abortedByUs
    default: .other
    }
  }

  /// Whether the failure happened while a SOCKS proxy was asked for a connection.
  var isOfProxy: Bool { code == CURLE_PROXY }

  /// Why a proxy made no connection, and whether it may make one later.
  func refusal(by proxy: Proxy?) -> (reason: String, isTransient: Bool) {
    if connectStatus != 0 {
      return (
        "it responded \(connectStatus) to CONNECT",
        RetryPolicy.temporaryTunnelRefusals.contains(connectStatus)
      )
    }
    let isPermanent = [
      CURLPX_NO_AUTH, CURLPX_USER_REJECTED, CURLPX_REPLY_NOT_ALLOWED, CURLPX_BAD_VERSION,
      CURLPX_REPLY_COMMAND_NOT_SUPPORTED, CURLPX_REPLY_ADDRESS_TYPE_NOT_SUPPORTED,
      CURLPX_LONG_HOSTNAME, CURLPX_LONG_USER, CURLPX_LONG_PASSWD, CURLPX_IDENTD,
      CURLPX_IDENTD_DIFFER,
    ].contains { Int($0.rawValue) == proxyCode }
    return (socksReason(of: proxy), !isPermanent)
  }

  /// Whether the server at the proxy's address doesn't speak SOCKS.
  var isOtherThanSOCKS: Bool {
    [CURLPX_BAD_VERSION, CURLPX_BAD_ADDRESS_TYPE, CURLPX_UNKNOWN_MODE]
      .contains { Int($0.rawValue) == proxyCode }
  }

  /// Whether a proxy demands credentials, or refused the credentials that it got.
  var areProxyCredentialsRefused: Bool {
    connectStatus == 407
      || [CURLPX_NO_AUTH, CURLPX_USER_REJECTED].contains { Int($0.rawValue) == proxyCode }
  }

  /// Whether the connection ended during a TLS handshake. libcurl has one code for all failures of a handshake. With OpenSSL,
  /// its message is "SSL_ERROR_SYSCALL" or "unexpected eof" for a FIN, and the system's message for a reset.
  private var isCutHandshake: Bool {
    ["SSL_ERROR_SYSCALL", "unexpected eof", "Connection reset", "Broken pipe"]
      .contains { message.contains($0) }
  }
}
