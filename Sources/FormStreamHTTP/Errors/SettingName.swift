import FormStreamPlatform

/// The settings that messages name: the library names them by their properties, the command by its flags.
package enum SettingName: String, MessageSetting {
  case attemptLimit = "TimeLimits.attempt"
  case responseLimit = "TimeLimits.response"
  case retryTimeLimit = "RetryPolicy.timeLimit"
  case longestRetryAfter = "RetryPolicy.maximumRetryAfter"
  case otherOrigins = "RedirectPolicy.allowsOtherOrigins"
  case authoritiesDirectory = "TLSSettings.authoritiesDirectory"
  case authorities = "TLSSettings.authorities"
  case clientCertificate = "TLSSettings.certificate"
  case key = "TLSSettings.key"
  case passphrase = "TLSSettings.passphrase"
  case minimumTLSVersion = "TLSSettings.minimumVersion"
  case maximumTLSVersion = "TLSSettings.maximumVersion"
  case pin = "TLSSettings.pin"
  case proxyAuthorities = "ProxySettings.authorities"
  case proxyCredentials = "ProxySettings.credentials"
  case onlyIPv4 = "AddressFamily.ipv4"
  case onlyIPv6 = "AddressFamily.ipv6"
  case localInterface = "TransferSession.Configuration.localInterface"
  case connectionsPerHost = "TransferSession.Configuration.maximumConnectionsPerHost"
  case version = "TransferSession.Configuration.version"
  case priorKnowledge = "Version.http2"
  case onlyHTTP11 = "Version.http11"
  case expectation = "TransferOptions.expectation"
  case readAhead = "TransferOptions.readAhead"
  case spooling = "TransferOptions.spoolsBody"
  case bodyCoding = "TransferOptions.bodyCoding"
  case maximumResponseSize = "TransferOptions.maximumResponseSize"
  case responseCompressionLimit = "ResponseCompression.limit"
  case idempotencyKey = "TransferOptions.idempotencyKey"
  case contentDigest = "TransferOptions.sendsDigest"
  case resumption = "TransferOptions.resumption"
  case resumeFile = "TransferOptions.resumeFile"

  package var description: String { rawValue }
}
