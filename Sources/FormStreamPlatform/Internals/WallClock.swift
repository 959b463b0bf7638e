import Glibc

/// The time since the beginning of 1970, by this machine's clock.
///
/// C: `clock_gettime(CLOCK_REALTIME)`
package func timeSince1970() -> Duration {
  var now = timespec()
  clock_gettime(CLOCK_REALTIME, &now)
  return .seconds(now.tv_sec) + .nanoseconds(now.tv_nsec)
}
