import FormStreamPlatform
import FormStreamMultipart
import FormStreamHTTP

extension TLSSettings {
  /// The variables that can name a file of authorities.
  static let variables = ["CURL_CA_BUNDLE", "SSL_CERT_FILE"]

  /// Trusts the authorities that the environment names, if no flag names any, as curl does: `CURL_CA_BUNDLE`, or else
  /// `SSL_CERT_DIR` and `SSL_CERT_FILE`.
  mutating func trustEnvironment(for url: HTTPURL) {
    guard authorities == nil, authoritiesDirectory == nil, verifiesServer else { return }
    // Without https, a variable with a path that does not exist must not be an error.
    let path = { (name: String) -> LocalPath? in
      guard let value = environmentVariable(name), !value.isEmpty else { return nil }
      let path = LocalPath(value)
      return url.origin.scheme == "https" || status(of: path) != nil ? path : nil
    }
    if let bundle = path("CURL_CA_BUNDLE") {
      authorities = bundle
    } else {
      authorities = path("SSL_CERT_FILE")
      // OpenSSL also takes a list of directories, which is not read here.
      authoritiesDirectory = path("SSL_CERT_DIR").flatMap { status(of: $0) == nil ? nil : $0 }
    }
  }
}
