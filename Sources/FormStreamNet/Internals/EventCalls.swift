import CFormStreamSystem
import FormStreamPlatform
import Glibc

/// The system's list of descriptors to wait for, and the event that ends a wait from any thread.
///
/// All but ``wakeUp()`` belongs to one thread.
final class Poller: @unchecked Sendable {
  /// How many events one wait returns at most. The rest is returned by the next one.
  static let capacity = 128
  /// The token of the event that ends a wait. No other descriptor has it.
  static let wakeUpToken = UInt64.max

  private let epoll: CInt
  private let event: CInt
  /// A descriptor that is readable if there are events.
  var descriptor: CInt { epoll }
  /// The events of the last wait.
  private let events: UnsafeMutablePointer<formstream_event>

  /// C: `epoll_create1`, `eventfd`
  init() throws(SystemError) {
    let epoll = try retryingInterrupts { formstream_open_epoll() }
    let event: CInt
    do throws(SystemError) {
      event = try retryingInterrupts { formstream_open_event() }
    } catch {
      close(epoll)
      throw error
    }
    // Each write to the event is an edge, so nothing has to read the event to reset it. Its count would take centuries to
    // become full.
    guard formstream_add_to_epoll(epoll, event, Readiness.readable.rawValue | Self.edgeTriggered, Self.wakeUpToken) == 0
    else {
      let error = SystemError(number: errno)
      close(event)
      close(epoll)
      throw error
    }
    (self.epoll, self.event) = (epoll, event)
    events = .allocate(capacity: Self.capacity)
    events.initialize(repeating: formstream_event(), count: Self.capacity)
  }

  /// C: `close`
  deinit {
    events.deallocate()
    close(event)
    close(epoll)
  }

  /// `EPOLLET`
  private static let edgeTriggered: UInt32 = 1 << 31

  /// Reports each change of a descriptor from now on, and once what is possible already. A descriptor is added once in its
  /// life: an event comes only when something changes, so nothing has to be added or removed while a connection sends,
  /// receives, pauses or is idle. The system removes a descriptor when it is closed.
  ///
  /// C: `epoll_ctl(EPOLL_CTL_ADD)`
  func add(_ descriptor: CInt, _ token: UInt64) throws(SystemError) {
    let events = Readiness.all.rawValue | Self.edgeTriggered
    _ = try retryingInterrupts { formstream_add_to_epoll(epoll, descriptor, events, token) }
  }

  /// Waits for events, and returns how many there are; -1 milliseconds means without limit. A signal ends the wait too.
  ///
  /// C: `epoll_wait`
  func wait(milliseconds: Int32) -> Int {
    max(0, Int(formstream_wait_for_epoll(epoll, events, CInt(Self.capacity), milliseconds)))
  }

  /// One of the events of the last wait.
  func event(_ index: Int) -> (token: UInt64, events: Readiness) {
    (events[index].token, Readiness(rawValue: events[index].events))
  }

  /// Ends a wait, or the next one. May be called on any thread.
  ///
  /// C: `write`
  func wakeUp() {
    var one: UInt64 = 1
    // A lost wake-up would be a request that waits for ever. A full event ends the wait as well, so nothing but a system that is
    // broken makes all attempts fail.
    for _ in 0..<3 where write(event, &one, 8) == 8 || errno == EAGAIN { break }
  }
}

/// The nanoseconds since the machine was started, without the time that it slept.
///
/// C: `clock_gettime(CLOCK_MONOTONIC)`
func monotonicNanoseconds() -> Int64 {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  return Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
}

/// The object that was noted for this thread with `setThreadObject`.
///
/// C: `pthread_getspecific`
func threadObject() -> UnsafeMutableRawPointer? { pthread_getspecific(threadKey) }

/// Notes an object for this thread.
///
/// C: `pthread_setspecific`
func setThreadObject(_ object: UnsafeMutableRawPointer?) { pthread_setspecific(threadKey, object) }

private let threadKey: pthread_key_t = {
  var key = pthread_key_t()
  pthread_key_create(&key, nil)
  return key
}()
