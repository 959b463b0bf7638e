import Glibc
import FormStreamPlatform

/// A running program and the pipes to it. One thread reads and writes them, so that neither side waits for the other.
final class ChildProcess {
  let pid: pid_t
  private let program: String
  private let input: Int32
  private let output: Int32
  private let errors: Int32
  private let residentBefore: Int

  init(
    program: String, arguments: [[UInt8]], takesInput: Bool, directory: String,
    environment: [String: String]
  ) throws {
    let (theirInput, ourInput) =
      takesInput ? try makePipe() : (open("/dev/null", O_RDONLY | O_CLOEXEC), -1)
    let (ourOutput, theirOutput) = try makePipe()
    let (ourErrors, theirErrors) = try makePipe()
    defer { for descriptor in [theirInput, theirOutput, theirErrors] { close(descriptor) } }

    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, theirInput, 0)
    posix_spawn_file_actions_adddup2(&actions, theirOutput, 1)
    posix_spawn_file_actions_adddup2(&actions, theirErrors, 2)
    changeDirectory(&actions, directory)

    // Its own process group, so that its children can be ended too; signals as at login.
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var (none, all) = (sigset_t(), sigset_t())
    sigemptyset(&none)
    sigfillset(&all)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setsigdefault(&attributes, &all)
    posix_spawnattr_setpgroup(&attributes, 0)
    posix_spawnattr_setflags(
      &attributes,
      Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP))

    residentBefore = memory("VmHWM", of: getpid())
    var pid = pid_t()
    let failure = withCStrings([Array(program.utf8)] + arguments) { arguments in
      withCStrings(merged(environment)) { environment in
        starting.withLock { _ in
          posix_spawn(&pid, program, &actions, &attributes, arguments, environment)
        }
      }
    }
    guard failure == 0 else {
      for descriptor in [ourInput, ourOutput, ourErrors] where descriptor >= 0 { close(descriptor) }
      throw SystemError(number: failure)
    }
    self.pid = pid
    self.program = program
    (input, output, errors) = (ourInput, ourOutput, ourErrors)
  }

  /// Writes the program's input, collects its output, and waits for its end.
  func finish(feeding bytes: [UInt8], within seconds: Double) throws -> Invocation {
    var isInputOpen = input >= 0
    defer {
      if isInputOpen { close(input) }
      close(output)
      close(errors)
    }
    if isInputOpen { _ = fcntl(input, F_SETFL, O_NONBLOCK) }

    var outputs: [Int32: [UInt8]] = [output: [], errors: []]
    var listening = [output, errors]
    var fed = 0
    var resident = 0
    var buffer = [UInt8](repeating: 0, count: 64 * 1024)
    let deadline = now() + seconds

    while true {
      resident = max(resident, memory("VmHWM", of: pid))
      if isInputOpen, fed == bytes.count {
        close(input)
        isInputOpen = false
      }
      if listening.isEmpty, let invocation = reap(outputs, resident) { return invocation }
      guard now() < deadline else { throw kill(after: seconds, outputs) }

      var watched = listening.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
      if isInputOpen { watched.append(pollfd(fd: input, events: Int16(POLLOUT), revents: 0)) }
      poll(&watched, nfds_t(watched.count), listening.isEmpty ? 1 : 5)
      for item in watched where item.revents != 0 {
        if item.fd == input, isInputOpen {
          let count = writeQuietly(bytes[fed...], to: input)
          // A program need not read its input to the end.
          fed = count < 0 ? bytes.count : fed + count
        } else {
          let count = read(item.fd, &buffer, buffer.count)
          if count > 0 { outputs[item.fd]?.append(contentsOf: buffer[..<count]) }
          if count == 0 { listening.removeAll { $0 == item.fd } }
        }
      }
    }
  }

  /// Sends it a signal.
  func signal(_ number: Int32) {
    _ = Glibc.kill(pid, number)
  }

  /// Waits for the next line of the program's output, and leaves the program running.
  func nextLine(within seconds: Double) throws -> String {
    let deadline = now() + seconds
    var line: [UInt8] = []
    var byte: UInt8 = 0
    while true {
      var watched = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
      poll(&watched, 1, Int32(max(deadline - now(), 0) * 1000))
      if watched.revents == 0, now() < deadline { continue }
      guard watched.revents != 0, read(output, &byte, 1) == 1 else {
        var text = [UInt8](repeating: 0, count: 2000)
        _ = fcntl(errors, F_SETFL, O_NONBLOCK)
        let count = read(errors, &text, text.count)
        let words = String(decoding: text.prefix(max(count, 0)), as: UTF8.self)
        end()
        throw CommandTimedOut(
          description: "\(program) did not print a line; its errors: \(words)")
      }
      if byte == 10 { return String(decoding: line, as: UTF8.self) }
      line.append(byte)
    }
  }

  /// Ends a program without waiting for its own end.
  func end() {
    _ = Glibc.kill(-pid, SIGKILL)
    var status: Int32 = 0
    waitpid(pid, &status, 0)
    for descriptor in [input, output, errors] where descriptor >= 0 { close(descriptor) }
  }

  private func reap(_ outputs: [Int32: [UInt8]], _ sampled: Int) -> Invocation? {
    var status: Int32 = 0
    var usage = rusage()
    guard wait4(pid, &status, WNOHANG, &usage) == pid else { return nil }
    let signal = status & 0x7F
    let peak = Int(usage.ru_maxrss)
    return Invocation(
      exit: signal == 0 ? (status >> 8) & 0xFF : nil, signal: signal == 0 ? nil : signal,
      stdout: outputs[output] ?? [], stderr: String(decoding: outputs[errors] ?? [], as: UTF8.self),
      peakResidentKiB: peak > residentBefore ? peak : sampled)
  }

  private func kill(after seconds: Double, _ outputs: [Int32: [UInt8]]) -> CommandTimedOut {
    _ = Glibc.kill(-pid, SIGKILL)
    var status: Int32 = 0
    waitpid(pid, &status, 0)
    let words = outputs.values.map { String(decoding: $0.prefix(2000), as: UTF8.self) }
    return CommandTimedOut(
      description: "\(program) did not end in \(seconds) s and was killed; its output: \(words)")
  }
}

/// Held while pipes are created and programs are started: Swift's Glibc has no `pipe2`, and a program that is started
/// between `pipe` and `fcntl` would inherit the pipe.
private let starting = Guarded(())

/// The reading and the writing end of a new pipe. No program inherits them.
func makePipe() throws -> (reading: Int32, writing: Int32) {
  var ends: [Int32] = [0, 0]
  try starting.withLock { _ in
    guard pipe(&ends) == 0 else { throw SystemError(number: errno) }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
  }
  return (ends[0], ends[1])
}

/// Accepts a waiting connection, which no program inherits. Returns -1 and sets `errno` if none waits. The listening
/// descriptor must not block.
func acceptWaiting(_ listener: Int32) -> Int32 {
  starting.withLock { _ in
    let connection = accept(listener, nil, nil)
    if connection >= 0 { _ = fcntl(connection, F_SETFD, FD_CLOEXEC) }
    return connection
  }
}

/// Sets the directory in which a program starts. The C function is in the library, but not in Swift's Glibc.
///
/// C: `posix_spawn_file_actions_addchdir_np`
private func changeDirectory(_ actions: inout posix_spawn_file_actions_t, _ directory: String) {
  typealias Add =
    @convention(c) (UnsafeMutablePointer<posix_spawn_file_actions_t>, UnsafePointer<CChar>) -> Int32
  guard let symbol = dlsym(nil, "posix_spawn_file_actions_addchdir_np") else {
    preconditionFailure("this needs glibc 2.29 or later")
  }
  _ = unsafeBitCast(symbol, to: Add.self)(&actions, directory)
}

/// Writes the bytes that fit, without raising SIGPIPE. Returns 0 if none fit now, and -1 if the reader is gone.
private func writeQuietly(_ bytes: ArraySlice<UInt8>, to descriptor: Int32) -> Int {
  var (broken, before) = (sigset_t(), sigset_t())
  sigemptyset(&broken)
  sigaddset(&broken, SIGPIPE)
  pthread_sigmask(SIG_BLOCK, &broken, &before)
  defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
  let count = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
  if count >= 0 { return count }
  if errno == EAGAIN || errno == EINTR { return 0 }
  var atOnce = timespec()
  sigtimedwait(&broken, nil, &atOnce)
  return -1
}

/// A figure of `/proc/PID/status` in KiB, or 0 if the process is gone.
private func memory(_ field: String, of pid: pid_t) -> Int {
  guard let file = fopen("/proc/\(pid)/status", "re") else { return 0 }
  defer { fclose(file) }
  var line = [CChar](repeating: 0, count: 256)
  while fgets(&line, Int32(line.count), file) != nil {
    let text = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    guard text.hasPrefix("\(field):") else { continue }
    return text.split(whereSeparator: { !$0.isNumber }).first.flatMap { Int($0) } ?? 0
  }
  return 0
}

private func now() -> Double {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

/// The variables that make programs use a proxy. A developer's environment may have them, and every server of the tests is
/// on this machine.
private let proxyVariables: Set = [
  "http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY",
]

/// The test runner's environment without proxies, with `changes`.
private func merged(_ changes: [String: String]) -> [[UInt8]] {
  var result = changes.map { Array("\($0.key)=\($0.value)".utf8) }
  var next = environ
  while let entry = next.pointee {
    let text = String(cString: entry)
    let name = text.prefix { $0 != "=" }
    if changes[String(name)] == nil, !proxyVariables.contains(String(name)) {
      result.append(Array(text.utf8))
    }
    next += 1
  }
  return result
}

private func withCStrings<Result>(
  _ strings: [[UInt8]], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Result
) -> Result {
  let copies = strings.map { string in withCPath(string) { strdup($0) } } + [nil]
  defer { for copy in copies { free(copy) } }
  return copies.withUnsafeBufferPointer { buffer in
    guard let start = buffer.baseAddress else { preconditionFailure("it ends in nil") }
    return body(start)
  }
}
