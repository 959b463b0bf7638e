// What the command asks of the C library for signals.

import Glibc
import FormStreamMultipart
import Synchronization

/// The file that a signal's handler removes. It is set once, before the file is made: a handler may
/// read it at any time, so it is one word, and what it points to is never freed. Once the file has
/// another name, removing this one removes nothing.
nonisolated(unsafe) private var doomedName: UnsafeMutablePointer<CChar>?

/// Has the file removed where a signal ends the program. There is one such file in a run.
func removeOnSignal(_ path: LocalPath) {
  doomedName = path.withCString { strdup($0) }
}

/// Whether the cursor stands behind a line that is drawn in place. Atomic, for the handler.
private let isLineOpen = Atomic<Bool>(false)

/// Has a signal that ends the program end the line first: the shell's prompt gets one of its own.
@Sendable func breakLineOnSignal(_ isOpen: Bool) {
  isLineOpen.store(isOpen, ordering: .releasing)
}

/// C: `write`
private func endOpenLine() {
  if isLineOpen.load(ordering: .acquiring) { _ = write(STDERR_FILENO, "\n", 1) }
}

/// Functions can be compared as numbers only; a pointer to one has as many bits, and no outside data is in it.
private func isIgnoring(_ handler: (@convention(c) (CInt) -> Void)?) -> Bool {
  unsafeBitCast(handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
}

/// A reader that goes away, or a file over the limit, must give an error, not kill; a person who
/// presses Ctrl-C must find no half-made file; and what is opened must never get the number of standard
/// output or error, or what is written there would go into it.
///
/// C: `signal`, `fcntl`, `dup2`, `write`
func prepareProcess() {
  // What is made when it is first used must be there before a handler uses it.
  breakLineOnSignal(false)
  signal(SIGPIPE, SIG_IGN)
  signal(SIGXFSZ, SIG_IGN)
  for number in [SIGINT, SIGTERM, SIGHUP, SIGQUIT] {
    let inherited = signal(number) { number in
      if let doomedName { unlink(doomedName) }
      endOpenLine()
      _exit(128 + number)
    }
    // What `nohup` or a shell's background job ignores stays ignored.
    if isIgnoring(inherited) { signal(number, SIG_IGN) }
  }
  // To read from standard output is what writing to it then fails as: a closed one stays an error.
  for (number, mode) in [(STDOUT_FILENO, O_RDONLY), (STDERR_FILENO, O_WRONLY)]
  where fcntl(number, F_GETFD) < 0 {
    let nowhere = open("/dev/null", mode)
    if nowhere >= 0, nowhere != number {
      dup2(nowhere, number)
      close(nowhere)
    }
  }
}

/// Has SIGINT and SIGTERM told instead of ending the program at once: `told` is called on a thread of its own,
/// where anything may be done. A second signal ends the program, and so does the time that is given to
/// what `told` has begun; no half-made file stays.
///
/// It must be called before there are other threads: they inherit what is blocked here, or would take the
/// signals. What is ignored, as under `nohup`, stays ignored.
///
/// - Parameters:
///   - isHangupTold: whether SIGHUP is told, too: that a terminal was closed.
///   - toldAgain: is called on that thread, too, where a second signal comes or the time is over: then that
///     doesn't end the program, but another second, or a third signal, does.
///
/// C: `pthread_sigmask`, `sigwait`, `sigtimedwait`, `sigaction`
func tellSignals(
  grace seconds: Int, isHangupTold: Bool = false, toldAgain: (@Sendable () -> Void)? = nil,
  _ told: @escaping @Sendable (CInt) -> Void
) {
  let numbers = [SIGINT, SIGTERM] + (isHangupTold ? [SIGHUP] : [])
  let watch = SignalWatch(numbers, seconds: seconds, told: told, toldAgain: toldAgain)
  var signals = watch.signals
  pthread_sigmask(SIG_BLOCK, &signals, nil)
  // Without the thread, signals end the program as before.
  if !startThread("formstream-sig", { watch.run() }) { pthread_sigmask(SIG_UNBLOCK, &signals, nil) }
}

private final class SignalWatch: Sendable {
  let numbers: [CInt]
  let seconds: Int
  let told: @Sendable (CInt) -> Void
  let toldAgain: (@Sendable () -> Void)?

  init(
    _ numbers: [CInt], seconds: Int, told: @escaping @Sendable (CInt) -> Void,
    toldAgain: (@Sendable () -> Void)?
  ) {
    self.numbers = numbers
    self.seconds = seconds
    self.told = told
    self.toldAgain = toldAgain
  }

  var signals: sigset_t {
    var signals = sigset_t()
    sigemptyset(&signals)
    for number in numbers {
      var action = sigaction()
      sigaction(number, nil, &action)
      // Linux keeps a blocked signal for whoever waits, though it is ignored.
      if !isIgnoring(action.__sigaction_handler.sa_handler) { sigaddset(&signals, number) }
    }
    return signals
  }

  func run() {
    var signals = self.signals
    var first: CInt = 0
    while sigwait(&signals, &first) != 0 {}
    told(first)
    var last = next(within: seconds) ?? first
    if let toldAgain {
      toldAgain()
      last = next(within: 1) ?? last
    }
    if let doomedName { unlink(doomedName) }
    endOpenLine()
    _exit(128 + last)
  }

  /// The signal that comes next; nil where none does in time.
  private func next(within seconds: Int) -> CInt? {
    var signals = self.signals
    var grace = timespec(tv_sec: seconds, tv_nsec: 0)
    var number: CInt = 0
    repeat { number = sigtimedwait(&signals, nil, &grace) } while number < 0 && errno == EINTR
    return number > 0 ? number : nil
  }
}
