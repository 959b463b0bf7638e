import FormStreamBatch
import FormStreamMultipart
import FormStreamHTTP
import FormStreamPlatform

/// The command's name for a setting that a message of a library mentions: a flag in place of a property.
@Sendable func flagName(of setting: any MessageSetting) -> String {
  switch setting {
  case let setting as SettingName: setting.flag
  case let limit as FormParser.Limits.Name: limit.flag
  case let remedy as FormParser.Limits.Remedy: "raise \(remedy.limit.flag), or "
  case let setting as PartSetting:
    switch setting {
    case .filename: "--filename"
    // Only `-H` announces the length of a stream.
    case .streamLength: "announce the length that it has, or leave -H Content-Length out"
    }
  case BatchSettingName.beginsRounds: "leave --resume-only out"
  case BatchSettingName.minimumFiles: "--at-least"
  default: setting.description
  }
}

extension FormParser.Limits.Name {
  fileprivate var flag: String { "--limit \(BodyLimit(self).rawValue)" }
}

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
    case .contentDigest: "--content-digest"
    case .resumption: "--resumable"
    case .resumeFile: "--resume-file"
    case .pieceSize: "--piece-size"
    case .uploadMetadata: "--upload-metadata"
    }
  }
}
