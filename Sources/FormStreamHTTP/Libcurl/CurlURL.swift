import CFormStreamCurl
import FormStreamMultipart
import FormStreamPlatform

/// A URL parsed by libcurl, so that the URL that is checked is the URL that libcurl connects to.
final class CurlURL {
  enum Part {
    case url, scheme, host, zone, port, user, password, path, query, fragment

    fileprivate var code: CURLUPart {
      switch self {
      case .url: CURLUPART_URL
      case .scheme: CURLUPART_SCHEME
      case .host: CURLUPART_HOST
      case .zone: CURLUPART_ZONEID
      case .port: CURLUPART_PORT
      case .user: CURLUPART_USER
      case .password: CURLUPART_PASSWORD
      case .path: CURLUPART_PATH
      case .query: CURLUPART_QUERY
      case .fragment: CURLUPART_FRAGMENT
      }
    }
  }

  private let handle: OpaquePointer
  /// Whether `.` and `..` stay in the path.
  let keepsPath: Bool

  /// - Parameter keepsPath: whether `.` and `..` stay in the path.
  ///
  /// C: `curl_url`, `curl_url_set`
  init(parsing text: String, keepsPath: Bool = false) throws(TransferError) {
    guard CurlLibrary.isReady, let handle = curl_url() else { throw .libcurlNotStarted }
    self.handle = handle
    self.keepsPath = keepsPath
    try set(.url, text, subject: text)
  }

  /// C: `curl_url_cleanup`
  deinit { curl_url_cleanup(handle) }

  func set(_ part: Part, _ text: String, subject: String) throws(TransferError) {
    var code = CURLUE_MALFORMED_INPUT
    // C would ignore everything after a NUL.
    if !text.utf8.contains(0) {
      // Later versions than 7.88 encode spaces only if they are allowed.
      let flags = CURLU_URLENCODE | CURLU_ALLOW_SPACE | (keepsPath ? CURLU_PATH_AS_IS : 0)
      code = text.withCString { curl_url_set(handle, part.code, $0, CUnsignedInt(flags)) }
    }
    guard code == CURLUE_OK else {
      let reason = String(cString: curl_url_strerror(code))
      let subject = subject.hidingSecretsOfInvalidURL
      throw .invalidURL(subject, reason, Self.flaw(code))
    }
    if part == .url { try encodeHost(subject) }
  }

  private static func flaw(_ code: CURLUcode) -> TransferError.URLFlaw {
    switch code {
    case CURLUE_BAD_PORT_NUMBER: .port
    case CURLUE_BAD_HOSTNAME: .host
    default: .other
    }
  }

  /// Writes a host beyond ASCII as the name that is looked up and sent (RFC 5890 §2.3.2.1: its A-label), such as
  /// `xn--bcher-kva.example`. libcurl would read the host's bytes as the process's locale says, which a library can't choose.
  ///
  /// C: `curl_url_set`
  private func encodeHost(_ subject: String) throws(TransferError) {
    guard let host = text(.host), !host.utf8.allSatisfy({ $0 < 0x80 }) else { return }
    // Some characters are mapped to a character that ends a host, such as a full-width slash. libcurl refuses the host then.
    if let encoded = InternationalName.encoded(host), !encoded.isEmpty,
      encoded.utf8.allSatisfy({ $0 < 0x80 && $0 != UInt8(ascii: "%") }),
      curl_url_set(handle, CURLUPART_HOST, encoded, 0) == CURLUE_OK
    {
      return
    }
    throw .hostNotEncodable(host, of: subject.hidingSecretsOfInvalidURL)
  }

  /// A part as it is written, or the default port of the scheme; nil if the URL doesn't have the part.
  ///
  /// C: `curl_url_get`
  func text(_ part: Part) -> String? { get(part, CURLU_DEFAULT_PORT) }

  /// A part as it is written; nil if it is not written in the URL, even if the scheme has a default for it.
  func givenText(_ part: Part) -> String? { get(part, 0) }

  /// A part with its percent-encoding removed; nil if the URL doesn't have it.
  func decodedText(_ part: Part) -> String? { get(part, CURLU_URLDECODE) }

  func clear(_ part: Part) {
    _ = curl_url_set(handle, part.code, nil, 0)
  }

  private func get(_ part: Part, _ flags: CInt) -> String? {
    // A complete URL leaves out the default port of its scheme. A query that is empty is one: since version 8.8, libcurl
    // returns it only with CURLU_GET_EMPTY, which older versions ignore.
    let flags = (part == .url ? CURLU_NO_DEFAULT_PORT : flags) | 1 << 14
    var text: UnsafeMutablePointer<CChar>?
    guard curl_url_get(handle, part.code, &text, CUnsignedInt(flags)) == CURLUE_OK, let text else {
      return nil
    }
    defer { curl_free(text) }
    return String(cString: text)
  }
}
