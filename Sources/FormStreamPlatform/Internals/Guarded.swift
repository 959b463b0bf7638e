/// A value that threads share, guarded by a lock.
///
/// All locks of the package are of this type, except the lock in `AutoResetEvent`. Its functions are inlinable, because a
/// request takes fifty locks, and looking up the types of generic functions would take longer than the locks.
@usableFromInline
package final class Guarded<Value>: @unchecked Sendable {
  /// What the lock guards. It has an address of its own, so that an access costs no check for other accesses.
  @usableFromInline
  struct State {
    @usableFromInline var value: Value
    /// The number of threads that wait for a change.
    @usableFromInline var waiting = 0

    @inlinable
    init(value: Value) {
      self.value = value
    }
  }

  @usableFromInline let lock: Lock
  @usableFromInline let state: UnsafeMutablePointer<State>

  /// Guards a value.
  @inlinable
  package init(_ value: Value) {
    lock = Lock()
    state = .allocate(capacity: 1)
    state.initialize(to: State(value: value))
  }

  @inlinable
  deinit {
    state.deinitialize(count: 1)
    state.deallocate()
    lock.destroy()
  }

  /// Reads or changes the value while no other thread does. Afterwards, threads in
  /// ``waitUntil(_:then:)`` check their conditions again.
  ///
  /// The lock is not recursive: `body` must not use this object.
  @inlinable
  package func withLock<Result, Failure: Error>(
    _ body: (inout Value) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    lock.lock()
    defer { unlock() }
    return try body(&state.pointee.value)
  }

  /// Changes the value as ``withLock(_:)`` does, and afterwards lets one waiting thread check its condition. All threads must
  /// wait for the same condition, which one of them ends.
  @inlinable
  package func withLockWakingOne(_ body: (inout Value) -> Void) {
    lock.lock()
    body(&state.pointee.value)
    let isAwaited = state.pointee.waiting > 0
    lock.unlock()
    if isAwaited { lock.wakeOne() }
  }

  /// Waits until the value fulfills a condition, then reads or changes it, all under one lock.
  ///
  /// - Parameter wakesOthers: whether the change may let other waiting threads go on.
  @inlinable
  package func waitUntil<Result, Failure: Error>(
    _ isFulfilled: (Value) -> Bool, wakesOthers: Bool = true,
    then body: (inout Value) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    lock.lock()
    defer { if wakesOthers { unlock() } else { lock.unlock() } }
    while !isFulfilled(state.pointee.value) {
      state.pointee.waiting += 1
      lock.wait()
      state.pointee.waiting -= 1
    }
    return try body(&state.pointee.value)
  }

  @inlinable
  func unlock() {
    let isAwaited = state.pointee.waiting > 0
    lock.unlock()
    // If this were done before the unlock, the threads would wake up only to wait for the lock.
    if isAwaited { lock.wakeUp() }
  }
}
