import Glibc

/// A value that threads share, and can wait for. The lock is the C library's: the thread sanitizer does
/// not understand Swift's `Mutex`.
final class Guarded<Value>: @unchecked Sendable {
  private var value: Value
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let changed = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

  init(_ value: Value) {
    self.value = value
    pthread_mutex_init(mutex, nil)
    var attributes = pthread_condattr_t()
    pthread_condattr_init(&attributes)
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
    pthread_cond_init(changed, &attributes)
    pthread_condattr_destroy(&attributes)
  }

  deinit {
    pthread_cond_destroy(changed)
    pthread_mutex_destroy(mutex)
    changed.deallocate()
    mutex.deallocate()
  }

  /// Lends the value, and wakes those who wait for a change.
  func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
    pthread_mutex_lock(mutex)
    defer {
      pthread_cond_broadcast(changed)
      pthread_mutex_unlock(mutex)
    }
    return try body(&value)
  }

  /// Waits until `isSo` holds; false where it does not within that many seconds.
  func wait(within seconds: Int, until isSo: (inout Value) -> Bool) -> Bool {
    var deadline = timespec()
    clock_gettime(CLOCK_MONOTONIC, &deadline)
    deadline.tv_sec += seconds
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    while !isSo(&value) {
      if pthread_cond_timedwait(changed, mutex, &deadline) == ETIMEDOUT { return isSo(&value) }
    }
    return true
  }
}

/// A gate that is opened once. Tests hold up the steps of a `ScriptedServer` with it, or learn that one
/// is reached.
///
/// It is a pipe: what is open is what has no writer any more. So it can be polled beside a socket.
public final class Gate: Sendable {
  private let reading: Int32
  private let writing: Guarded<Int32>

  /// Makes a closed gate.
  public init() throws {
    let ends = try makePipe()
    reading = ends.reading
    writing = Guarded(ends.writing)
  }

  deinit {
    open()
    close(reading)
  }

  /// Opens the gate, for ever.
  public func open() {
    writing.withLock { descriptor in
      if descriptor >= 0 { close(descriptor) }
      descriptor = -1
    }
  }

  /// Whether the gate is open.
  public var isOpen: Bool { writing.withLock { $0 < 0 } }

  /// Waits until the gate is open; false where it is not within that many seconds.
  public func wait(within seconds: Int = 60) -> Bool {
    var watched = pollfd(fd: reading, events: 0, revents: 0)
    return pollAgain(&watched, 1, milliseconds: seconds * 1000) > 0
  }

  /// What `poll` finds hung up once the gate is open.
  var pollable: pollfd { pollfd(fd: reading, events: 0, revents: 0) }
}

/// `poll`, begun again where a signal interrupts it.
@discardableResult
func pollAgain(
  _ watched: UnsafeMutablePointer<pollfd>, _ count: Int, milliseconds: Int
) -> Int32 {
  while true {
    let result = poll(watched, nfds_t(count), Int32(clamping: milliseconds))
    if result >= 0 || errno != EINTR { return result }
  }
}
