import Glibc

/// The time since the beginning of 1970, by this machine's clock.
///
/// C: `clock_gettime(CLOCK_REALTIME)`
package func timeSince1970() -> Duration {
  var now = timespec()
  clock_gettime(CLOCK_REALTIME, &now)
  return .seconds(now.tv_sec) + .nanoseconds(now.tv_nsec)
}

/// The time since the beginning of 1970 in nanoseconds, by this machine's clock. It fits until 2262.
package func nanosecondsSince1970() -> Int64 {
  let (seconds, attoseconds) = timeSince1970().components
  return seconds &* 1_000_000_000 &+ attoseconds / 1_000_000_000
}
