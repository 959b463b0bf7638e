// What the command asks of the C library for other processes, and of its own.

import Glibc
import FormStreamMultipart

/// How a process that was started has ended.
struct ProcessEnd {
  /// Its exit code, or 128 and the number of the signal that ended it.
  let code: Int32
  /// The most memory that it had at once, in bytes.
  let peakMemory: Int64
}

/// The way to a process that another thread waits for.
final class ProcessSignals: Sendable {
  private struct State {
    /// Until it was reaped: its number may be another's then.
    var process: pid_t?
    /// The one that was sent last.
    var signal: CInt?
  }

  private let state = Guarded(State())

  /// Sends the process a signal; where it has not begun, as soon as it has.
  ///
  /// C: `kill`
  func send(_ signal: CInt) {
    state.withLock { state in
      state.signal = signal
      if let process = state.process { _ = Glibc.kill(process, signal) }
    }
  }

  /// Ends the process, whatever it is at.
  func kill() { send(SIGKILL) }

  fileprivate func begin(_ process: pid_t) {
    state.withLock { state in
      state.process = process
      if let signal = state.signal { _ = Glibc.kill(process, signal) }
    }
  }

  /// Waits for the process's end. It is reaped where no signal can be sent to it meanwhile.
  ///
  /// C: `waitid`, `wait4`
  fileprivate func reap(
    _ process: pid_t
  ) throws(SystemError) -> (status: CInt, usage: rusage) {
    var ended = siginfo_t()
    _ = try retryingInterrupts { waitid(P_PID, id_t(process), &ended, WEXITED | WNOWAIT) }
    var status: CInt = 0
    var usage = rusage()
    let result = state.withLock { state in
      state.process = nil
      return Result { () throws(SystemError) in
        try retryingInterrupts { wait4(process, &status, 0, &usage) }
      }
    }
    _ = try result.get()
    return (status, usage)
  }
}

/// Runs this very program with other arguments, on the same terminal but with standard output thrown away, and
/// waits for its end.
///
/// - Parameter signals: has it end before its time.
///
/// C: `posix_spawn`
func runOurselves(
  _ arguments: [String], signals: ProcessSignals
) throws(SystemError) -> ProcessEnd {
  let arguments = ["formstream"] + arguments
  var pointers: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) } + [nil]
  defer { for pointer in pointers { free(pointer) } }
  var files = posix_spawn_file_actions_t()
  var attributes = posix_spawnattr_t()
  posix_spawn_file_actions_init(&files)
  posix_spawnattr_init(&attributes)
  defer {
    posix_spawn_file_actions_destroy(&files)
    posix_spawnattr_destroy(&attributes)
  }
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0)
  // Signals that are told to this program are not to be kept from the other.
  var none = sigset_t()
  sigemptyset(&none)
  posix_spawnattr_setsigmask(&attributes, &none)
  posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
  var process = pid_t()
  let failure = posix_spawn(&process, "/proc/self/exe", &files, &attributes, &pointers, environ)
  guard failure == 0 else { throw SystemError(number: failure) }
  signals.begin(process)
  let (status, usage) = try signals.reap(process)
  // Linux: the low seven bits tell the signal, the next byte the code. The memory is in KiB.
  let signal = status & 0x7F
  return ProcessEnd(
    code: signal == 0 ? status >> 8 & 0xFF : 128 + signal,
    peakMemory: Int64(usage.ru_maxrss) * 1024)
}

/// The most memory that this process had at once, in bytes.
///
/// C: `getrusage`
func peakMemoryOfOurselves() -> Int64 {
  var usage = rusage()
  getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
  return Int64(usage.ru_maxrss) * 1024
}
