import FormStreamPlatform

extension TransferOptions {
  /// These options with durations that can be waited for: a negative duration becomes 0, and more than a hundred years become
  /// a hundred years.
  var bounded: TransferOptions {
    var options = self
    options.retry = retry.bounded
    options.timeLimits = timeLimits.bounded
    options.expectation.timeout = expectation.timeout.bounded
    return options
  }
}

extension RetryPolicy {
  fileprivate var bounded: RetryPolicy {
    var policy = self
    policy.baseDelay = baseDelay.bounded
    policy.maximumDelay = maximumDelay.bounded
    policy.fixedDelay = fixedDelay?.bounded
    policy.maximumRetryAfter = maximumRetryAfter.bounded
    policy.timeLimit = timeLimit?.bounded
    return policy
  }
}

extension TimeLimits {
  fileprivate var bounded: TimeLimits {
    var limits = self
    limits.connect = connect?.bounded
    limits.stall = stall?.bounded
    limits.response = response?.bounded
    limits.attempt = attempt?.bounded
    return limits
  }
}
