/// The settings that messages name. The command puts its flags in their place.
package enum SettingName: String, CaseIterable, CustomStringConvertible, Sendable {
  case attemptLimit = "TimeLimits.attempt"
  case retryTimeLimit = "RetryPolicy.timeLimit"
  case otherOrigins = "RedirectPolicy.allowsOtherOrigins"
  case authorities = "TLSSettings.authorities"
  case idempotencyKey = "TransferOptions.idempotencyKey"

  package var description: String { rawValue }
}
