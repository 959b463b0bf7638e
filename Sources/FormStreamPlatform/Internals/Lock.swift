import Glibc

/// The lock of a `Guarded`, and the wait for a change under this lock.
///
/// It is the C library's lock and not Swift's `Mutex`, because the thread sanitizer does not see the ordering that `Mutex`
/// guarantees.
@usableFromInline
struct Lock {
  private struct Primitives {
    var mutex = pthread_mutex_t()
    var changed = pthread_cond_t()
  }

  private let primitives: UnsafeMutablePointer<Primitives>

  /// C: `pthread_mutex_init`, `pthread_cond_init`
  @usableFromInline
  init() {
    primitives = .allocate(capacity: 1)
    primitives.initialize(to: Primitives())
    pthread_mutex_init(&primitives.pointee.mutex, nil)
    pthread_cond_init(&primitives.pointee.changed, nil)
  }

  /// C: `pthread_cond_destroy`, `pthread_mutex_destroy`
  @usableFromInline
  func destroy() {
    pthread_cond_destroy(&primitives.pointee.changed)
    pthread_mutex_destroy(&primitives.pointee.mutex)
    primitives.deallocate()
  }

  /// C: `pthread_mutex_lock`
  @usableFromInline
  func lock() { pthread_mutex_lock(&primitives.pointee.mutex) }

  /// C: `pthread_mutex_unlock`
  @usableFromInline
  func unlock() { pthread_mutex_unlock(&primitives.pointee.mutex) }

  /// Gives the lock back until another thread wakes this one up, and takes it again.
  ///
  /// C: `pthread_cond_wait`
  @usableFromInline
  func wait() { pthread_cond_wait(&primitives.pointee.changed, &primitives.pointee.mutex) }

  /// Wakes all threads in `wait` up.
  ///
  /// C: `pthread_cond_broadcast`
  @usableFromInline
  func wakeUp() { pthread_cond_broadcast(&primitives.pointee.changed) }

  /// Wakes one of the threads in `wait` up.
  ///
  /// C: `pthread_cond_signal`
  @usableFromInline
  func wakeOne() { pthread_cond_signal(&primitives.pointee.changed) }
}
