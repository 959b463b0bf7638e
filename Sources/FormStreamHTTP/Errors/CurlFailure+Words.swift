import CFormStreamCurl
import FormStreamPlatform

/// What libcurl and the libraries below it report, in words for people. The libraries' own words name functions and numbers.
extension CurlFailure {
  /// Why a connection broke.
  var brokenReason: String {
    if let name = streamError {
      // libcurl doesn't say who ended the request: the server, or nghttp2 because the response was not valid.
      return "the request was ended with the HTTP/2 error \(name)"
    }
    if message.contains("before getting all response header fields") {
      return "the server ended the request without a response"
    }
    if message.contains("nghttp2") || code == CURLE_HTTP2, !message.contains("not closed cleanly") {
      return "what the server sent is not valid HTTP/2"
    }
    if message.contains("remaining to read") || message.contains("outstanding read data") {
      return "the server closed it before the end of the response"
    }
    if let text = textOfSystem { return text }
    if message.contains("SSL_"), message.contains("error:"), !message.contains("unexpected eof") {
      return "what the server sent is not valid TLS"
    }
    return "the server closed it"
  }

  /// Why no connection could be made, in the system's words; empty if it isn't known.
  var connectReason: String {
    systemError > 0 ? " (\(SystemError(number: systemError)))" : ""
  }

  /// Why there is no encryption, or why a file for TLS can't be used: OpenSSL's reason without the text before it, such as
  /// `error:0A00010B:SSL routines::`.
  var tlsReason: String {
    guard let start = message.ranges(of: "::").last?.upperBound else { return message }
    let reason = message[start...].prefix { $0 != "," }
    return reason == "PEM lib"
      ? "it is no PEM file, or its passphrase is another one" : String(reason)
  }

  /// What is wrong with a response.
  var malformedReason: String {
    switch message {
    case let text where text.contains("HTTP/0.9"): "it doesn't begin with HTTP/ and a version"
    case let text where text.contains("HTTP version"): "its version of HTTP is not supported"
    case let text where text.contains("response code"): "its status is not valid"
    case let text where text.contains("Nul byte"): "a header has a NUL"
    case let text where text.contains("without colon"): "a header has no colon"
    case let text where text.contains("Content-Length"): "its Content-Length is not valid"
    case let text where text.contains("chunk"): "its chunks are not valid"
    case let text where text.contains("encoding"): "its transfer coding is not valid"
    default: "it could not be read"
    }
  }

  /// Why a SOCKS proxy made no connection (RFC 1928 §6, and the responses of SOCKS4).
  func socksReason(of proxy: Proxy?) -> String {
    switch CURLproxycode(rawValue: UInt32(clamping: proxyCode)) {
    case CURLPX_REPLY_GENERAL_SERVER_FAILURE: "it failed, and gives no reason"
    case CURLPX_REPLY_NOT_ALLOWED: "its rules don't allow it"
    case CURLPX_REPLY_NETWORK_UNREACHABLE: "the network can't be reached from there"
    case CURLPX_REPLY_HOST_UNREACHABLE: "the host can't be reached from there"
    case CURLPX_REPLY_CONNECTION_REFUSED: "nothing is listening there"
    case CURLPX_REPLY_TTL_EXPIRED: "the way to the server took too long"
    case CURLPX_REPLY_COMMAND_NOT_SUPPORTED: "it doesn't know the command to connect"
    case CURLPX_REPLY_ADDRESS_TYPE_NOT_SUPPORTED: "it doesn't connect to addresses of this kind"
    case CURLPX_REQUEST_FAILED: "it refused the request, or could not carry it out"
    case CURLPX_IDENTD: "it asks identd on this machine for the user, and gets no response"
    case CURLPX_IDENTD_DIFFER: "identd on this machine names another user"
    case CURLPX_NO_AUTH:
      proxy?.credentials == nil
        ? "it demands a user and a password" : "it doesn't accept users with passwords"
    case CURLPX_USER_REJECTED: "it refuses the user and the password"
    case CURLPX_LONG_USER: "the user is longer than SOCKS allows"
    case CURLPX_LONG_PASSWD: "the password is longer than SOCKS allows"
    case CURLPX_LONG_HOSTNAME: "the name of the host is longer than SOCKS allows"
    case CURLPX_BAD_VERSION, CURLPX_BAD_ADDRESS_TYPE, CURLPX_UNKNOWN_MODE:
      "what is there doesn't speak \(proxy?.kind.protocolName ?? "SOCKS")"
    case CURLPX_CLOSED, CURLPX_RECV_ADDRESS, CURLPX_RECV_AUTH, CURLPX_RECV_CONNECT,
      CURLPX_RECV_REQACK, CURLPX_SEND_AUTH, CURLPX_SEND_CONNECT, CURLPX_SEND_REQUEST:
      "it closed the connection"
    default: "it gives an unknown reason"
    }
  }

  /// The name of the code with which an HTTP/2 server ended a request (RFC 9113 §7).
  var streamError: Substring? {
    guard let range = message.firstRange(of: "was not closed cleanly: ") else { return nil }
    return message[range.upperBound...].prefix { $0 == "_" || $0.isLetter || $0.isNumber }
  }

  /// The system's reason why the connection broke, in words for people; nil if the server only closed the connection.
  private var textOfSystem: String? {
    let texts = [
      ("reset by peer", "the server reset it"), ("timed out", "nothing was acknowledged in time"),
      ("No route to host", "there is no route to the host"),
      ("unreachable", "the network is unreachable"),
    ]
    return texts.first { message.contains($0.0) }?.1
  }
}
