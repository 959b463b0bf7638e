import CFormStreamCurl

/// The installed libcurl.
enum CurlLibrary {
  /// C: `curl_global_init`
  static let isReady = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK

  static let unusable = TransferError(
    .engineFailed, on: "libcurl", "libcurl can't be started: there is not enough memory.")
}
