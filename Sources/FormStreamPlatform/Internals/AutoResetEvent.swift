import Glibc

/// An event that wakes one waiting thread for each signal.
///
/// If no thread is waiting, the signal is kept for the next thread that waits. Several kept signals
/// count as one.
package final class AutoResetEvent: Sendable {
  nonisolated(unsafe) private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(
    capacity: 1)
  nonisolated(unsafe) private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(
    capacity: 1)
  /// Guarded by `mutex`.
  nonisolated(unsafe) private var isSignalled = false

  /// Creates an event without a signal. Time limits are measured by the monotonic clock.
  ///
  /// C: `pthread_condattr_setclock`, `pthread_cond_init`
  package init() {
    var attributes = pthread_condattr_t()
    pthread_condattr_init(&attributes)
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
    pthread_cond_init(condition, &attributes)
    pthread_condattr_destroy(&attributes)
    pthread_mutex_init(mutex, nil)
  }

  deinit {
    pthread_cond_destroy(condition)
    pthread_mutex_destroy(mutex)
    condition.deallocate()
    mutex.deallocate()
  }

  /// Wakes one waiting thread, or keeps the signal for the next one.
  ///
  /// C: `pthread_cond_signal`
  package func signal() {
    pthread_mutex_lock(mutex)
    isSignalled = true
    pthread_mutex_unlock(mutex)
    // If this were done before the unlock, the thread would wake up only to wait for the lock.
    pthread_cond_signal(condition)
  }

  /// Waits for a signal and consumes it. Returns false if none came within `limit`; nil means no
  /// limit.
  ///
  /// C: `pthread_cond_wait`, `pthread_cond_timedwait`
  @discardableResult package func wait(atMost limit: Duration?) -> Bool {
    var end = timespec()
    clock_gettime(CLOCK_MONOTONIC, &end)
    let (seconds, attoseconds) = (limit ?? .zero).components
    // A limit past the end of the clock becomes the end of the clock: longer than any machine runs.
    let (sum, overflow) = end.tv_sec.addingReportingOverflow(time_t(clamping: seconds))
    end.tv_sec = overflow ? .max - 1 : sum
    end.tv_nsec += Int(attoseconds / 1_000_000_000)
    if end.tv_nsec >= 1_000_000_000 {
      end.tv_sec += 1
      end.tv_nsec -= 1_000_000_000
    }
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    while !isSignalled {
      if limit == nil {
        pthread_cond_wait(condition, mutex)
      } else if pthread_cond_timedwait(condition, mutex, &end) != 0 {
        break
      }
    }
    defer { isSignalled = false }
    return isSignalled
  }
}
