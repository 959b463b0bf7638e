// The command's calls to the C library for signals.

import Glibc
import FormStreamMultipart
import FormStreamPlatform
import Synchronization

/// A file that a signal handler removes, and the file that was registered before it.
private struct TemporaryName {
  let path: UnsafeMutablePointer<CChar>
  let next: UnsafeMutablePointer<TemporaryName>?
}

/// The last file that was registered. A handler may read the list at any time, so entries are never changed or freed.
/// After a file was renamed, removing its temporary name does nothing.
nonisolated(unsafe) private let temporaryNames = Atomic<UnsafeMutablePointer<TemporaryName>?>(nil)

/// Registers a file that is removed if a signal ends the program. Call this before the file is made.
func removeOnSignal(_ path: LocalPath) {
  guard let path = path.withCString({ strdup($0) }) else { return }
  let name = UnsafeMutablePointer<TemporaryName>.allocate(capacity: 1)
  var last = temporaryNames.load(ordering: .acquiring)
  var isAdded = false
  while !isAdded {
    name.initialize(to: TemporaryName(path: path, next: last))
    (isAdded, last) = temporaryNames.compareExchange(
      expected: last, desired: name, ordering: .acquiringAndReleasing)
  }
}

/// How many lines are redrawn in place, beginning with the cursor's line. Atomic, because a signal handler reads it.
private let openLines = Atomic<Int>(0)

/// Registers how many lines are redrawn in place. If a signal then ends the program, line feeds are written first, so
/// that the shell's prompt starts on a line below them.
@Sendable func breakLinesOnSignal(_ count: Int) {
  openLines.store(count, ordering: .releasing)
}

/// The terminal's settings before echo was turned off. Never freed: a signal handler may read them at any time.
nonisolated(unsafe) private let shownTerminal = {
  let terminal = UnsafeMutablePointer<termios>.allocate(capacity: 1)
  terminal.initialize(to: termios())
  return terminal
}()

/// Whether the terminal does not show what is typed. Atomic, because a signal handler reads it.
private let isTypingHidden = Atomic(false)

/// Reads a line without echo from standard input, which must be a terminal. A signal that ends the program turns echo
/// on again.
///
/// C: `tcgetattr`, `tcsetattr`, `read`
func hiddenLine(upTo limit: Int) throws(SystemError) -> [UInt8] {
  _ = try retryingInterrupts { tcgetattr(STDIN_FILENO, shownTerminal) }
  var hidden = shownTerminal.pointee
  hidden.c_lflag &= ~tcflag_t(ECHO)
  isTypingHidden.store(true, ordering: .releasing)
  defer {
    tcsetattr(STDIN_FILENO, TCSANOW, shownTerminal)
    isTypingHidden.store(false, ordering: .releasing)
  }
  _ = try retryingInterrupts { tcsetattr(STDIN_FILENO, TCSAFLUSH, &hidden) }
  var line: [UInt8] = []
  var byte: UInt8 = 0
  while line.count < limit {
    let count = try retryingInterrupts { read(STDIN_FILENO, &byte, 1) }
    if count == 0 || byte == 0x0A { break }
    line.append(byte)
  }
  return line
}

/// Ends the process by the signal's default action, and leaves neither temporary files nor an unfinished line.
///
/// The parent process sees that a signal ended the process only if the default action ended it. With exit code 130 in
/// its place, a shell would continue its loop after Ctrl-C: the shell would assume that the program handles the signal
/// itself, as an editor does.
///
/// C: `unlink`, `write`, `tcsetattr`, `signal`, `pthread_sigmask`, `raise`, `_exit`
private func endBySignal(_ number: CInt) -> Never {
  var temporaryName = temporaryNames.load(ordering: .acquiring)
  while let name = temporaryName {
    unlink(name.pointee.path)
    temporaryName = name.pointee.next
  }
  for _ in 0..<openLines.load(ordering: .acquiring) { _ = write(STDERR_FILENO, "\n", 1) }
  if isTypingHidden.load(ordering: .acquiring) {
    tcsetattr(STDIN_FILENO, TCSANOW, shownTerminal)
    _ = write(STDERR_FILENO, "\n", 1)
  }
  signal(number, SIG_DFL)
  var signals = sigset_t()
  sigemptyset(&signals)
  sigaddset(&signals, number)
  pthread_sigmask(SIG_UNBLOCK, &signals, nil)
  raise(number)
  // The first process of a container is still running here: the system ignores the default actions of its signals.
  _exit(128 + number)
}

/// Ends the process: with the exit code, or by the signal that the code stands for.
///
/// C: `exit`
public func endProcess(_ code: ExitCode) -> Never {
  if let number = code.signal { endBySignal(number) }
  exit(code.rawValue)
}

/// Swift can't compare C functions, so this compares their addresses. The cast can't fail: a pointer to a function is
/// as wide as an `Int`, and contains no data from outside.
private func isIgnoring(_ handler: (@convention(c) (CInt) -> Void)?) -> Bool {
  unsafeBitCast(handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
}

/// Sets up what the process needs before anything else:
///
/// - A closed pipe and a file over the size limit are errors, and don't kill the process.
/// - A signal that ends the program leaves no half-written files.
/// - The numbers of standard input, output and error are taken, even if these streams are closed. Otherwise the next
///   file or socket that is opened would get the number of a closed stream, and be read or written in its place.
///
/// C: `signal`
func prepareProcess() {
  spareAddressSpace()
  // This initializes the globals, because a signal handler must not initialize them.
  breakLinesOnSignal(0)
  _ = temporaryNames.load(ordering: .relaxed)
  _ = (shownTerminal, isTypingHidden.load(ordering: .relaxed))
  signal(SIGPIPE, SIG_IGN)
  signal(SIGXFSZ, SIG_IGN)
  for number in [SIGINT, SIGTERM, SIGHUP, SIGQUIT] {
    let inherited = signal(number) { endBySignal($0) }
    // A signal that `nohup` or a shell has ignored stays ignored.
    if isIgnoring(inherited) { signal(number, SIG_IGN) }
  }
  holdStandardDescriptors()
}

/// Waits for signals on a thread. Its actions may call any function, unlike a signal handler, which may call only a
/// few.
///
/// Signals that the process ignores, as under `nohup`, stay ignored.
final class SignalWatch: Sendable {
  private let gracePeriod: Int
  private let cleanup: Int
  private let onSignal: @Sendable (CInt) -> Void
  private let onHangUp: (@Sendable () -> Void)?
  private let onGracePeriodEnd: @Sendable () -> Void
  private let numbers: [CInt]

  /// - Parameters:
  ///   - gracePeriod: seconds between the two actions if there is no second signal.
  ///   - cleanup: seconds from the second action to the end of the process.
  ///   - onHangUp: the action of each SIGHUP before another signal; nil if SIGHUP is a signal like the others.
  init(
    gracePeriod: Int, cleanup: Int, includesQuit: Bool,
    onHangUp: (@Sendable () -> Void)?, onSignal: @escaping @Sendable (CInt) -> Void,
    onGracePeriodEnd: @escaping @Sendable () -> Void
  ) {
    self.gracePeriod = gracePeriod
    self.cleanup = cleanup
    (self.onSignal, self.onHangUp) = (onSignal, onHangUp)
    self.onGracePeriodEnd = onGracePeriodEnd
    numbers = [SIGINT, SIGTERM, SIGHUP] + (includesQuit ? [SIGQUIT] : [])
  }

  /// Blocks the signals and starts the thread that waits for them. Call this before other threads start: a thread
  /// inherits the blocked signals, and a thread that was started earlier would receive the signals.
  ///
  /// C: `pthread_sigmask`
  func start() {
    var signals = self.signals
    pthread_sigmask(SIG_BLOCK, &signals, nil)
    // If no thread can be started, signals end the program as before.
    if !startThread("formstream-sig", { self.run() }) {
      pthread_sigmask(SIG_UNBLOCK, &signals, nil)
    }
  }

  /// Unblocks the signals again, in the thread that called ``start()``: from here on, a signal ends the process at
  /// once.
  ///
  /// C: `pthread_sigmask`
  func end() {
    var signals = self.signals
    pthread_sigmask(SIG_UNBLOCK, &signals, nil)
  }

  /// C: `sigaction`
  private var signals: sigset_t {
    var signals = sigset_t()
    sigemptyset(&signals)
    for number in numbers {
      var action = sigaction()
      sigaction(number, nil, &action)
      // Linux hands a blocked signal to a thread that waits for it, even if the process ignores it.
      if !isIgnoring(action.__sigaction_handler.sa_handler) { sigaddset(&signals, number) }
    }
    return signals
  }

  /// C: `sigwait`
  private func run() {
    var signals = self.signals
    var first: CInt = 0
    while true {
      guard sigwait(&signals, &first) == 0 else { continue }
      guard first == SIGHUP, let onHangUp else { break }
      onHangUp()
    }
    onSignal(first)
    var last = nextSignal(within: gracePeriod) ?? first
    onGracePeriodEnd()
    if cleanup > 0 { last = nextSignal(within: cleanup) ?? last }
    endBySignal(last)
  }

  /// The next signal that ends the wait early; nil if none arrives in time. SIGHUP does not end the wait: when a
  /// terminal is closed, the system and the shell send a SIGHUP each, so a second SIGHUP does not mean that a person is
  /// impatient.
  ///
  /// C: `sigtimedwait`
  private func nextSignal(within seconds: Int) -> CInt? {
    var signals = self.signals
    let end = ContinuousClock.now + .seconds(seconds)
    while true {
      let rest = max(ContinuousClock.now.duration(to: end), .zero).components
      var limit = timespec(
        tv_sec: Int(rest.seconds), tv_nsec: Int(rest.attoseconds / 1_000_000_000))
      let number = sigtimedwait(&signals, nil, &limit)
      if number == SIGHUP || number < 0 && errno == EINTR { continue }
      return number > 0 ? number : nil
    }
  }
}
