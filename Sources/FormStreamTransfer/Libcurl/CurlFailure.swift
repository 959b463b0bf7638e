import CFormStreamCurl

/// Why libcurl ended a transfer: its code and its message.
struct CurlFailure: Error {
  let code: CURLcode
  let message: String

  var number: UInt32 { code.rawValue }

  /// The failures that the callers treat differently.
  enum Kind {
    case hostNotFound, connect, connectTimeout, tls, cutHandshake, noCommonProtocol, certificate
    case tlsFile, send, receive
    case noResponse, rewindRefused, malformed, lineTooLong, abortedByUs, other
  }

  var kind: Kind {
    switch code {
    case CURLE_COULDNT_RESOLVE_HOST: .hostNotFound
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
    case CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CRL_BADFILE: .tlsFile
    case CURLE_SEND_ERROR: .send
    case CURLE_RECV_ERROR, CURLE_PARTIAL_FILE, CURLE_HTTP2, CURLE_HTTP2_STREAM: .receive
    case CURLE_GOT_NOTHING: .noResponse
    case CURLE_SEND_FAIL_REWIND: .rewindRefused
    case CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY, CURLE_BAD_CONTENT_ENCODING:
      .malformed
    // Before 8.6, libcurl reports a header line over its limit as "out of memory". If memory really ran out,
    // Swift would already have ended the process.
    case CURLE_OUT_OF_MEMORY: .lineTooLong
    case CURLE_ABORTED_BY_CALLBACK, CURLE_WRITE_ERROR, CURLE_READ_ERROR: .abortedByUs
    default: .other
    }
  }

  /// Whether the connection ended during a TLS handshake. libcurl has one code for all failures of a handshake; with
  /// OpenSSL, its message is "SSL_ERROR_SYSCALL" or "unexpected eof" for a FIN, and the system's for a reset.
  private var isCutHandshake: Bool {
    ["SSL_ERROR_SYSCALL", "unexpected eof", "Connection reset", "Broken pipe"]
      .contains { message.contains($0) }
  }
}
