import Glibc
import FormStreamPlatform

/// A gate that is opened once. Tests hold up the steps of a `ScriptedServer` with it, or wait until a step is
/// reached.
///
/// It is a pipe whose writing end is closed to open the gate, so that `poll` can wait for it and for a socket at the
/// same time.
public final class Gate: Sendable {
  private let reading: Int32
  private let writing: Guarded<Int32>

  /// Creates a closed gate.
  public init() throws {
    let ends = try makePipe()
    reading = ends.reading
    writing = Guarded(ends.writing)
  }

  deinit {
    open()
    close(reading)
  }

  /// Opens the gate for good.
  public func open() {
    writing.withLock { descriptor in
      if descriptor >= 0 { close(descriptor) }
      descriptor = -1
    }
  }

  /// Whether the gate is open.
  public var isOpen: Bool { writing.withLock { $0 < 0 } }

  /// Waits until the gate is open. Returns false if it is still closed after that many seconds.
  public func wait(within seconds: Int = 60) -> Bool {
    var watched = pollfd(fd: reading, events: 0, revents: 0)
    return pollAgain(&watched, 1, milliseconds: seconds * 1000) > 0
  }

  /// Waits until the gate is open, without keeping the thread, which other tests need.
  public func opened() async throws {
    while !isOpen { try await Task.sleep(for: .milliseconds(2)) }
  }

  /// `poll` reports a hang-up of this once the gate is open.
  var pollable: pollfd { pollfd(fd: reading, events: 0, revents: 0) }
}

/// Calls `poll`, and calls it again if a signal interrupts it.
@discardableResult
func pollAgain(
  _ watched: UnsafeMutablePointer<pollfd>, _ count: Int, milliseconds: Int
) -> Int32 {
  while true {
    let result = poll(watched, nfds_t(count), Int32(clamping: milliseconds))
    if result >= 0 || errno != EINTR { return result }
  }
}
