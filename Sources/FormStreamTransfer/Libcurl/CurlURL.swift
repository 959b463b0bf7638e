import CFormStreamCurl
import FormStreamMultipart
import FormStreamPlatform

/// A URL parsed by libcurl, so that the URL that is checked is the one that is connected to.
final class CurlURL {
  enum Part {
    case url, scheme, host, port, user, password, path, query, fragment

    fileprivate var code: CURLUPart {
      switch self {
      case .url: CURLUPART_URL
      case .scheme: CURLUPART_SCHEME
      case .host: CURLUPART_HOST
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
    // C would ignore everything after a NUL.
    if !text.utf8.contains(0) {
      code = text.withCString { curl_url_set(handle, part.code, $0, CUnsignedInt(CURLU_URLENCODE)) }
    }
    guard code == CURLUE_OK else {
      let reason = String(cString: curl_url_strerror(code))
      let subject = subject.hidingSecretsOfInvalidURL
      throw TransferError(
        .invalidURL, on: subject,
        "The URL \(subject.quoted) is not valid (\(reason)): write "
          + "http://host/path or https://host/path.")
    }
  }

  /// A part as it is written; nil if the URL doesn't have it.
  ///
  /// C: `curl_url_get`
  func text(_ part: Part) -> String? { get(part, CURLU_DEFAULT_PORT) }

  /// A part as it is written; nil if it is not, even if the scheme has a default for it.
  func givenText(_ part: Part) -> String? { get(part, 0) }

  /// A part with its percent-encoding removed; nil if the URL doesn't have it.
  func decodedText(_ part: Part) -> String? { get(part, CURLU_URLDECODE) }

  func clear(_ part: Part) {
    _ = curl_url_set(handle, part.code, nil, 0)
  }

  private func get(_ part: Part, _ flags: CInt) -> String? {
    // A complete URL leaves out the default port of its scheme.
    let flags = part == .url ? CURLU_NO_DEFAULT_PORT : flags
    var text: UnsafeMutablePointer<CChar>?
    guard curl_url_get(handle, part.code, &text, CUnsignedInt(flags)) == CURLUE_OK, let text else {
      return nil
    }
    defer { curl_free(text) }
    return String(cString: text)
  }
}
