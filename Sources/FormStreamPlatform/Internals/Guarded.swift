import Glibc

/// A value that threads share, guarded by a lock.
///
/// All locks of the package are of this type, except the lock in `AutoResetEvent`. It uses the C library's lock instead of
/// Swift's `Mutex`, because the thread sanitizer does not see the ordering that `Mutex` guarantees.
package final class Guarded<Value>: @unchecked Sendable {
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let changed = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  private var state: State

  /// The state that `mutex` guards.
  ///
  /// The state is one property, and it is never empty. The thread sanitizer mistakes an access to an empty property for
  /// an access to the next property in memory, so a `Guarded(())` would look like a race for `mutex`.
  private struct State {
    var value: Value
    /// The number of threads that wait for a change.
    var waiting = 0
  }

  /// Guards a value.
  ///
  /// C: `pthread_mutex_init`, `pthread_cond_init`
  package init(_ value: Value) {
    state = State(value: value)
    pthread_mutex_init(mutex, nil)
    pthread_cond_init(changed, nil)
  }

  deinit {
    pthread_cond_destroy(changed)
    pthread_mutex_destroy(mutex)
    changed.deallocate()
    mutex.deallocate()
  }

  /// Reads or changes the value while no other thread does. Afterwards, threads in
  /// ``waitUntil(_:then:)`` check their conditions again.
  ///
  /// The lock is not recursive: `body` must not use this object.
  ///
  /// C: `pthread_mutex_lock`, `pthread_cond_broadcast`
  package func withLock<Result, Failure: Error>(
    _ body: (inout Value) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    pthread_mutex_lock(mutex)
    defer { unlock() }
    return try body(&state.value)
  }

  /// Waits until the value fulfils a condition, then reads or changes it, all under one lock.
  ///
  /// C: `pthread_cond_wait`
  package func waitUntil<Result, Failure: Error>(
    _ isFulfilled: (Value) -> Bool, then body: (inout Value) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    pthread_mutex_lock(mutex)
    defer { unlock() }
    while !isFulfilled(state.value) {
      state.waiting += 1
      pthread_cond_wait(changed, mutex)
      state.waiting -= 1
    }
    return try body(&state.value)
  }

  private func unlock() {
    let isAwaited = state.waiting > 0
    pthread_mutex_unlock(mutex)
    // If this were done before the unlock, the threads would wake up only to wait for the lock.
    if isAwaited { pthread_cond_broadcast(changed) }
  }
}
