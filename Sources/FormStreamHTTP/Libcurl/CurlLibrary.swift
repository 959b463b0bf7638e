import CFormStreamCurl

/// The installed libcurl.
enum CurlLibrary {
  /// C: `curl_global_init`
  static let isReady: Bool = {
    CertificateCheck.keepLibraryUntilTheEnd()
    return curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK
  }()

  /// Whether libcurl shows a server's close_notify, and reports the end of an encrypted connection without a
  /// close_notify as an ordinary end. libcurl does both with OpenSSL and its relatives.
  ///
  /// C: `curl_version_info`
  static let showsCloseNotify: Bool = {
    guard let name = curl_version_info(CURLVERSION_FIRST)?.pointee.ssl_version else { return false }
    let text = String(cString: name)
    return ["OpenSSL/", "LibreSSL/", "BoringSSL", "quictls/", "AWS-LC/"].contains(
      where: text.hasPrefix)
  }()

  /// Whether libcurl uses the version of OpenSSL that this program is linked with, so that both can share objects.
  ///
  /// C: `curl_version_info`
  static let usesOurOpenSSL: Bool = {
    guard let name = curl_version_info(CURLVERSION_FIRST)?.pointee.ssl_version else { return false }
    return String(cString: name).hasPrefix("OpenSSL/\(CertificateCheck.libraryVersion).")
  }()
}
