import FormStreamMultipart
import FormStreamHTTP

extension String {
  /// A message of a library, with the command's flags in place of the settings that it names.
  var namingFlags: String {
    let own = replacing(Part.filenameSetting, with: "--filename").replacing(
      MultipartError.lengthRemedy, with: lengthRemedy)
    let text = SettingName.allCases.reduce(own) {
      $0.replacing($1.rawValue, with: $1.flag)
    }
    return BodyLimit.allCases.reduce(text) {
      $0.replacing($1.setting.rawValue, with: "--limit \($1.rawValue)")
    }
  }
}

/// Only `-H` announces the length of a stream.
private let lengthRemedy =
  "announce the length that it has, or leave -H Content-Length out"

extension SettingName {
  fileprivate var flag: String {
    switch self {
    case .attemptLimit: "--max-time"
    case .responseLimit: "--response-timeout"
    case .retryTimeLimit: "--retry-max-time"
    case .longestRetryAfter: "--max-retry-after"
    case .otherOrigins: "-L"
    case .authorities: "--cacert"
    case .authoritiesDirectory: "--capath"
    case .key: "--key"
    case .clientCertificate: "--cert"
    case .passphrase: "--pass-file"
    case .minimumTLSVersion: "--tlsv1.3"
    case .maximumTLSVersion: "--tls-max"
    case .pin: "--pinnedpubkey"
    case .proxyAuthorities: "--proxy-cacert"
    case .proxyCredentials: "--proxy-user-file"
    case .onlyIPv4: "--ipv4"
    case .onlyIPv6: "--ipv6"
    case .localInterface: "--interface"
    case .connectionsPerHost: "--jobs"
    case .version: "--http2"
    case .priorKnowledge: "--http2-prior-knowledge"
    case .onlyHTTP11: "--http1.1"
    case .expectation: "--expect"
    case .readAhead: "--read-ahead"
    case .spooling: "--spool"
    case .bodyCoding: "--compressed-upload"
    case .maximumResponseSize, .responseCompressionLimit: "--max-filesize"
    case .idempotencyKey: "--idempotency-key"
    }
  }
}
