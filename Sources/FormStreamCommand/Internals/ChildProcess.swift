// The command's calls to the C library that start programs and wait for them.

import FormStreamMultipart
import FormStreamPlatform
import Glibc

/// A program that was started, whose time and memory are measured.
final class ChildProcess: Sendable {
  /// How a program ended.
  struct Ending: Sendable {
    /// The exit code, or 128 and the signal's number, as shells say it.
    let code: Int
    /// The time of the processor, of the program and of the kernel for it.
    let processor: Duration
    /// The most memory that the program, or this process before it, had at once, in bytes.
    let peak: Int64
    let moment: ContinuousClock.Instant
  }

  private let id: pid_t
  private let ending = Guarded<Ending?>(nil)
  private let event = AutoResetEvent()

  /// Starts a program, which is looked for in `PATH`. It reads nothing, and its output is dropped. It leads a group of processes:
  /// what it has started and left behind ends with it.
  ///
  /// - Parameters:
  ///   - errors: the path of a file for its messages.
  ///   - usesProxies: whether it may use the proxies that the environment names.
  ///
  /// C: `posix_spawnp`, `signal`
  init(_ words: [String], errors: String, usesProxies: Bool = true) throws(SystemError) {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0)
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, errors, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    // This process handles and blocks some signals, and the program must not inherit that.
    var (all, none) = (sigset_t(), sigset_t())
    sigfillset(&all)
    sigemptyset(&none)
    posix_spawnattr_setsigdefault(&attributes, &all)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setpgroup(&attributes, 0)
    posix_spawnattr_setflags(
      &attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP))
    var arguments = words.map { strdup($0) } + [nil]
    defer { for argument in arguments { free(argument) } }
    var variables = Self.environment(usesProxies: usesProxies) + [nil]
    defer { for variable in variables { free(variable) } }
    // If this process ignored the signal, the system would forget how the program ends.
    signal(SIGCHLD, SIG_DFL)
    var id: pid_t = 0
    let failure = posix_spawnp(&id, words.first ?? "", &actions, &attributes, &arguments, &variables)
    guard failure == 0 else { throw SystemError(number: failure) }
    self.id = id
    let wait: @Sendable () -> Void = { [id, ending, event] in
      Self.waitForEnd(of: id)
      ending.withLock { ending in
        _ = Glibc.kill(-id, SIGKILL)
        ending = Self.ending(of: id)
      }
      event.signal()
    }
    if !startThread("formstream-wait", wait) { wait() }
  }

  /// Copies of the variables, which may have any bytes.
  ///
  /// C: `environ`, `strdup`
  private static func environment(usesProxies: Bool) -> [UnsafeMutablePointer<CChar>?] {
    var variables: [UnsafeMutablePointer<CChar>?] = []
    var next = environ
    while let variable = next.pointee {
      next += 1
      if usesProxies || strncasecmp(variable, "no_proxy=", 9) != 0 { variables.append(strdup(variable)) }
    }
    return usesProxies ? variables : variables + [strdup("no_proxy=*"), strdup("NO_PROXY=*")]
  }

  /// Waits for the end of a program, whose number is not given to another one yet.
  ///
  /// C: `waitid`
  private static func waitForEnd(of id: pid_t) {
    var information = siginfo_t()
    while waitid(P_PID, id_t(id), &information, WEXITED | WNOWAIT) < 0, errno == EINTR {}
  }

  /// C: `wait4`
  private static func ending(of id: pid_t) -> Ending {
    var (status, usage) = (CInt(0), rusage())
    while wait4(id, &status, 0, &usage) < 0, errno == EINTR {}
    let moment = ContinuousClock.now
    let signal = status & 0x7F
    return Ending(
      code: signal == 0 ? Int(status >> 8 & 0xFF) : 128 + Int(signal),
      processor: Duration(usage.ru_utime) + Duration(usage.ru_stime), peak: Int64(usage.ru_maxrss) * 1024,
      moment: moment)
  }

  /// Waits for the end; nil if the program is still running after the time.
  func wait(atMost limit: Duration) -> Ending? {
    if let ending = ending.withLock(\.self) { return ending }
    event.wait(atMost: limit)
    return ending.withLock(\.self)
  }

  /// Ends the program and its group at once.
  ///
  /// C: `kill`
  func kill() {
    // The number is free only after `wait4`, which is called under the lock.
    ending.withLock { if $0 == nil { _ = Glibc.kill(-id, SIGKILL) } }
  }

  /// The memory that the program has now; nil if it has ended.
  var memory: ProcessMemory? { ProcessMemory(of: "\(id)") }
}

/// The path of this program.
///
/// C: `readlink`
func ownPath() -> String {
  var path = [CChar](repeating: 0, count: Int(PATH_MAX))
  let count = readlink("/proc/self/exe", &path, path.count)
  return count > 0 ? String(decoding: path.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self) : "formstream"
}
