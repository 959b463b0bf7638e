// The command's calls of the C library for processes: for child processes and for this one.

import Glibc
import FormStreamPlatform

/// How a child process ended.
struct ProcessExit {
  /// Its exit code; or 128 plus the number of the signal that ended it.
  let code: Int32
  /// Its peak resident memory, in bytes.
  let peakMemory: Int64
}

/// Sends signals to a child process while another thread waits for its end.
final class ProcessSignals: Sendable {
  private struct State {
    /// Nil before the process starts and after it was reaped: then another process may have its number.
    var process: pid_t?
    /// The last signal that was sent.
    var signal: CInt?
  }

  private let state = Guarded(State())

  /// Sends a signal to the process. If it has not started yet, the signal is sent when it starts.
  ///
  /// C: `kill`
  func send(_ signal: CInt) {
    state.withLock { state in
      state.signal = signal
      if let process = state.process { _ = Glibc.kill(process, signal) }
    }
  }

  /// Ends the process at once.
  func kill() { send(SIGKILL) }

  fileprivate func begin(_ process: pid_t) {
    state.withLock { state in
      state.process = process
      if let signal = state.signal { _ = Glibc.kill(process, signal) }
    }
  }

  /// Waits for the process to end. No signal can be sent while it is reaped.
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

/// Runs this program again with other arguments and without standard output, and waits for it to end.
///
/// - Parameter signals: can end it early.
///
/// C: `posix_spawn`
func runThisProgram(
  _ arguments: [String], signals: ProcessSignals
) throws(SystemError) -> ProcessExit {
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
  // Signals that this program waits for are blocked here, and must not be blocked there.
  var none = sigset_t()
  sigemptyset(&none)
  posix_spawnattr_setsigmask(&attributes, &none)
  posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
  var process = pid_t()
  let failure = posix_spawn(&process, "/proc/self/exe", &files, &attributes, &pointers, environ)
  guard failure == 0 else { throw SystemError(number: failure) }
  signals.begin(process)
  let (status, usage) = try signals.reap(process)
  // Linux: the low seven bits are the signal, the next byte is the code. The memory is in KiB.
  let signal = status & 0x7F
  return ProcessExit(
    code: signal == 0 ? status >> 8 & 0xFF : 128 + signal,
    peakMemory: Int64(usage.ru_maxrss) * 1024)
}

/// The peak resident memory of this process, in bytes.
///
/// C: `getrusage`
func peakMemoryOfThisProcess() -> Int64 {
  var usage = rusage()
  getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
  return Int64(usage.ru_maxrss) * 1024
}
