// The command's calls to the C library about other processes: what Internals/Syscalls.swift is for all else.

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
  /// C: `posix_spawnp`
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
    var variables = Self.environment(usesProxies: usesProxies).map { strdup($0) } + [nil]
    defer { for variable in variables { free(variable) } }
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

  /// C: `environ`
  private static func environment(usesProxies: Bool) -> [String] {
    var variables: [String] = []
    var next = environ
    while let variable = next.pointee {
      variables.append(String(cString: variable))
      next += 1
    }
    guard !usesProxies else { return variables }
    return variables.filter { !$0.lowercased().hasPrefix("no_proxy=") } + ["no_proxy=*", "NO_PROXY=*"]
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

/// The last bytes of a file; none if it can't be read.
///
/// C: `open`, `lseek`, `pread`
func lastBytes(of path: String, _ count: Int) -> [UInt8] {
  let number = open(path, O_RDONLY | O_CLOEXEC)
  guard number >= 0 else { return [] }
  defer { close(number) }
  let end = lseek(number, 0, SEEK_END)
  var bytes = [UInt8](repeating: 0, count: count)
  let read = pread(number, &bytes, count, max(0, end - count))
  return Array(bytes.prefix(max(0, read)))
}

/// The memory of a process, in bytes.
struct ProcessMemory {
  /// What is in memory, with files that are mapped.
  var resident: Int64 = 0
  /// The most that has been resident.
  var peak: Int64 = 0
  /// What the program has allocated itself.
  var anonymous: Int64 = 0

  /// - Parameter process: its number, or `self`.
  ///
  /// C: `open`, `read`
  init?(of process: String) {
    guard let status = try? contents(of: LocalPath(bytes: Array("/proc/\(process)/status".utf8)), upTo: 65536)
    else { return nil }
    for line in status.split(separator: UInt8(ascii: "\n")) {
      let words = String(decoding: line, as: UTF8.self).split(whereSeparator: \.isWhitespace)
      guard words.count == 3, let kibibytes = Int64(words[1]) else { continue }
      switch words[0] {
      case "VmRSS:": resident = kibibytes * 1024
      case "VmHWM:": peak = kibibytes * 1024
      case "RssAnon:": anonymous = kibibytes * 1024
      default: break
      }
    }
    // A process that has ended and was not waited for has no memory.
    guard peak > 0 else { return nil }
  }
}

/// How long all processors of the machine have worked, and how long they could have, in ticks; nil if it is not known.
///
/// C: `open`, `read`
func processorTicks() -> (busy: Int, all: Int)? {
  guard let text = try? contents(of: "/proc/stat", upTo: 1 << 20) else { return nil }
  let numbers = text.prefix { $0 != UInt8(ascii: "\n") }.split(separator: UInt8(ascii: " ")).dropFirst().prefix(8)
    .map { Int(String(decoding: $0, as: UTF8.self)) ?? 0 }
  guard numbers.count >= 5 else { return nil }
  let all = numbers.reduce(0, +)
  // The fourth and the fifth are idle, and idle while something waits for a disk.
  return (all - numbers[3] - numbers[4], all)
}

/// The processor time of this process.
///
/// C: `getrusage`
func ownProcessorTime() -> Duration {
  var usage = rusage()
  getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
  return Duration(usage.ru_utime) + Duration(usage.ru_stime)
}

/// The path of this program.
///
/// C: `readlink`
func ownPath() -> String {
  var path = [CChar](repeating: 0, count: Int(PATH_MAX))
  let count = readlink("/proc/self/exe", &path, path.count)
  return count > 0 ? String(decoding: path.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self) : "formstream"
}

/// How many bytes of memory the system could give to programs; nil if it is not known.
///
/// C: `open`, `read`
func availableMemory() -> Int64? {
  guard let text = try? contents(of: "/proc/meminfo", upTo: 1 << 16) else { return nil }
  for line in text.split(separator: UInt8(ascii: "\n")) {
    let words = String(decoding: line, as: UTF8.self).split(whereSeparator: \.isWhitespace)
    if words.count == 3, words[0] == "MemAvailable:" { return Int64(words[1]).map { $0 * 1024 } }
  }
  return nil
}

/// A directory for temporary files, which is removed with this object.
final class ScratchDirectory {
  let path: String

  /// C: `mkdtemp`
  init(in parent: String) throws(SystemError) {
    var template = Array("\(parent)/formstream-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw SystemError(number: errno) }
    path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  /// C: `opendir`, `unlink`, `rmdir`
  deinit {
    if let directory = opendir(path) {
      while let entry = readdir(directory) {
        let name = withUnsafePointer(to: &entry.pointee.d_name) {
          $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
        }
        if name != ".", name != ".." { unlink("\(path)/\(name)") }
      }
      closedir(directory)
    }
    rmdir(path)
  }

  /// Makes a file that has only zeros, and takes no room on the disk.
  ///
  /// C: `open`, `ftruncate`
  func makeSparse(_ name: String, size: Int64) throws(SystemError) -> String {
    let path = "\(path)/\(name)"
    let number = try retryingInterrupts { open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600) }
    defer { close(number) }
    _ = try retryingInterrupts { ftruncate(number, off_t(size)) }
    return path
  }
}

extension Duration {
  fileprivate init(_ time: timeval) {
    self = .seconds(time.tv_sec) + .microseconds(Int64(time.tv_usec))
  }
}
