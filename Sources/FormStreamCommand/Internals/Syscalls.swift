// The command's calls to the C library. Those for signals are in Signals.swift, and those that only bench needs in
// ChildProcess.swift, MachineFigures.swift and ScratchDirectory.swift. They are in these files, however long this one is, so that no
// other file sees an errno.

import CFormStreamSystem
import Glibc
import FormStreamMultipart
import FormStreamPlatform

extension SystemError {
  /// Stands for a link whose target does not exist. System calls have no error of their own for such a link.
  static let deadLink = SystemError(number: ELOOP)
  /// Stands for standard input that was closed when this program started.
  static let closed = SystemError(number: EBADF)
}

// MARK: Descriptors

/// The value of Linux's `O_PATH` on all machines with the generic numbers. Swift's Glibc module does not have it.
private let O_PATH: CInt = 0o10000000

/// Takes the numbers of standard input, output and error if they are closed. Each of these numbers then stands for a
/// directory, which can be neither read nor written. A path such as `/dev/stdin` leads to the same directory.
///
/// C: `fcntl`, `open(O_PATH)`
func holdStandardDescriptors() {
  // `open` returns the lowest free number. In this order, the lowest free number is always `number`.
  for number in STDIN_FILENO...STDERR_FILENO where fcntl(number, F_GETFD) < 0 {
    _ = open("/", O_PATH | O_CLOEXEC)
  }
}

/// Whether standard input was closed when this program started.
///
/// C: `fcntl`
var isStandardInputClosed: Bool {
  let flags = fcntl(STDIN_FILENO, F_GETFL)
  return flags < 0 || flags & O_PATH != 0
}

/// Whether a path is another name of standard input, such as `/dev/stdin`, and standard input is closed.
///
/// C: `lstat`, `stat`, `fstat`
func isClosedStandardInput(_ path: LocalPath) -> Bool {
  var (named, input) = (stat(), stat())
  guard isStandardInputClosed, let target = status(of: path),
    path.withCString({ lstat($0, &named) }) == 0, named.st_mode & S_IFMT == S_IFLNK,
    fstat(STDIN_FILENO, &input) == 0
  else { return false }
  return (target.st_dev, target.st_ino) == (input.st_dev, input.st_ino)
}

/// How many descriptors this process may have open.
///
/// C: `getrlimit`
func descriptorLimit() -> Int {
  var limit = rlimit()
  guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 64 }
  return Int(clamping: limit.rlim_cur)
}

/// Raises the limit of open files if needed, and returns whether a few more can be opened. Without descriptors for
/// its own use, libdispatch would crash the program.
///
/// C: `getrlimit`, `setrlimit`, `poll`, `open`
///
/// - Parameters:
///   - wanted: how many descriptors would be best.
///   - needed: how many must be allowed.
///   - free: how many must be free.
func canOpenDescriptors(
  wanting wanted: UInt = 64, needing needed: UInt = 24, free: Int = 16
) -> Bool {
  var limit = rlimit()
  guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return true }
  if limit.rlim_cur < wanted {
    limit.rlim_cur = min(limit.rlim_max, max(256, wanted))
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
  }
  guard limit.rlim_cur >= needed else { return false }
  if hasUnusedDescriptors(free, below: min(limit.rlim_cur, 64)) { return true }
  // The parent process may have left many files open, so this tries to open some.
  var opened: [CInt] = []
  defer { for number in opened { close(number) } }
  while opened.count < free {
    let number = open("/", O_RDONLY | O_CLOEXEC)
    guard number >= 0 else { return false }
    opened.append(number)
  }
  return true
}

/// Whether at least `count` of the numbers below `end` are free.
///
/// C: `poll`
private func hasUnusedDescriptors(_ count: Int, below end: UInt) -> Bool {
  var numbers = (0..<Int32(end)).map { pollfd(fd: $0, events: 0, revents: 0) }
  guard poll(&numbers, nfds_t(end), 0) >= 0 else { return false }
  return numbers.lazy.filter { $0.revents & Int16(POLLNVAL) != 0 }.count >= count
}

/// Saves address space if it is limited. Without this call, each thread would reserve 64 MiB for its own memory, and
/// too little would be left for everything else. Call this before the first thread is started.
///
/// C: `getrlimit`, `mallopt`
func spareAddressSpace() {
  var space = rlimit()
  guard getrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &space) == 0,
    space.rlim_cur != rlim_t.max
  else { return }
  formstream_share_memory_between_threads()
}

/// Whether the limit for stacks is large enough for this program and its threads. A thread's stack is as large as the
/// first thread's stack may be.
///
/// C: `getrlimit`
func hasStack(of size: UInt) -> Bool {
  var stack = rlimit()
  return getrlimit(__rlimit_resource_t(RLIMIT_STACK.rawValue), &stack) != 0
    || stack.rlim_cur >= size
}

/// Whether the limit for address space leaves room for the stacks of some threads.
///
/// C: `getrlimit`
func hasAddressSpace(forThreads count: Int) -> Bool {
  var stack = rlimit()
  guard getrlimit(__rlimit_resource_t(RLIMIT_STACK.rawValue), &stack) == 0 else { return true }
  // A thread's stack has the size limit of the first thread's stack, or 2 MiB if there is no such limit.
  let size = stack.rlim_cur == rlim_t.max ? 2 << 20 : min(Int(clamping: stack.rlim_cur), 64 << 20)
  return hasAddressSpace(of: count * size)
}

/// Whether the limit for address space leaves room for so many bytes.
///
/// C: `getrlimit`, `mmap`
func hasAddressSpace(of size: Int) -> Bool {
  var space = rlimit()
  guard getrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &space) == 0, space.rlim_cur != rlim_t.max
  else { return true }
  guard
    let place = mmap(
      nil, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0),
    place != MAP_FAILED
  else { return false }
  munmap(place, size)
  return true
}

// MARK: Addresses

/// Whether text is an IP address; an IPv6 address may be in brackets.
///
/// C: `inet_pton`
func isAddress(_ text: some StringProtocol) -> Bool {
  var bytes = in6_addr()
  if text.hasPrefix("["), text.hasSuffix("]") {
    return inet_pton(AF_INET6, String(text.dropFirst().dropLast()), &bytes) == 1
  }
  return inet_pton(AF_INET, String(text), &bytes) == 1
    || inet_pton(AF_INET6, String(text), &bytes) == 1
}

/// The longest path that a socket can have.
let maximumSocketPath = MemoryLayout.size(ofValue: sockaddr_un().sun_path) - 1

// MARK: Input

/// Whether something is at a path.
///
/// C: `stat`
func exists(_ path: LocalPath) -> Bool {
  status(of: path) != nil
}

/// Whether a regular file is at a path.
///
/// C: `stat`
func isRegularFile(_ path: LocalPath) -> Bool {
  status(of: path)?.isRegularFile ?? false
}

/// Whether a directory is at a path.
///
/// C: `stat`
func isDirectory(_ path: LocalPath) -> Bool {
  status(of: path).map { $0.st_mode & S_IFMT == S_IFDIR } ?? false
}

/// The time as written in logs: `2026-11-23T01:02:03Z`.
func timeForLogs() -> String { text(ofTime: time(nil), as: "%Y-%m-%dT%H:%M:%SZ") }

/// A time for people, in UTC: `2026-11-23 01:02:03`.
func timeForPeople(nanosecondsSince1970 time: Int64) -> String {
  text(ofTime: Int(time / 1_000_000_000), as: "%Y-%m-%d %H:%M:%S")
}

/// C: `gmtime_r`, `strftime`
private func text(ofTime time: time_t, as format: String) -> String {
  var (time, parts) = (time, tm())
  var text = [CChar](repeating: 0, count: 32)
  guard gmtime_r(&time, &parts) != nil else { return "" }
  let count = strftime(&text, text.count, format, &parts)
  return String(decoding: text.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
}

/// The time where this machine is, with the difference from UTC: `2026-11-23T02:02:03+01:00`.
///
/// C: `time`, `localtime_r`, `strftime`
func localTimeForLogs() -> String {
  var (now, parts) = (time(nil), tm())
  var text = [CChar](repeating: 0, count: 32)
  guard localtime_r(&now, &parts) != nil else { return "" }
  let count = strftime(&text, text.count, "%Y-%m-%dT%H:%M:%S", &parts)
  let minutes = abs(parts.tm_gmtoff) / 60
  let difference = [minutes / 60, minutes % 60].map { $0 < 10 ? "0\($0)" : "\($0)" }
  return String(decoding: text.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
    + (parts.tm_gmtoff < 0 ? "-" : "+") + difference.joined(separator: ":")
}

/// Reads a file or a pipe to its end, or until there are more than `limit` bytes.
///
/// C: `open`, `read`
func contents(of path: LocalPath, upTo limit: Int) throws(SystemError) -> [UInt8] {
  let number = try retryingInterrupts { path.withCString { open($0, O_RDONLY | O_CLOEXEC) } }
  defer { close(number) }
  return try contents(of: number, upTo: limit)
}

/// Reads standard input to its end, or until there are more than `limit` bytes.
///
/// C: `read`
func contentsOfStandardInput(upTo limit: Int) throws(SystemError) -> [UInt8] {
  try contents(of: STDIN_FILENO, upTo: limit)
}

private func contents(of number: CInt, upTo limit: Int) throws(SystemError) -> [UInt8] {
  var contents: [UInt8] = []
  var buffer = [UInt8](repeating: 0, count: 16 * 1024)
  while contents.count <= limit {
    let count = try retryingInterrupts { read(number, &buffer, buffer.count) }
    if count == 0 { break }
    contents.append(contentsOf: buffer[..<count])
  }
  return contents
}

/// Whether a path is a regular file that users other than its owner may read.
///
/// C: `stat`
func isReadableByOthers(_ path: LocalPath) -> Bool {
  guard let status = status(of: path) else { return false }
  return status.isRegularFile && status.st_mode & (S_IRGRP | S_IROTH) != 0
}

/// How far standard input has been read, if it is a regular file that can be opened again; nil if it is anything
/// else.
///
/// C: `fstat`, `lseek`, `access`
func standardInputOffset() throws(SystemError) -> Int64? {
  if isStandardInputClosed { throw .closed }
  var status = stat()
  _ = try retryingInterrupts { fstat(STDIN_FILENO, &status) }
  if status.st_mode & S_IFMT == S_IFDIR { throw .isADirectory }
  guard status.isRegularFile, access("/dev/stdin", R_OK) == 0 else { return nil }
  return try Int64(retryingInterrupts { lseek(STDIN_FILENO, 0, SEEK_CUR) })
}

// MARK: Terminal and environment

/// One of the standard streams.
enum StandardStream: CInt {
  case input = 0
  case output = 1
  case error = 2
}

/// C: `isatty`
func isTerminal(_ stream: StandardStream) -> Bool {
  isatty(stream.rawValue) == 1
}

/// The size of the terminal on standard error; 80 by 24 if standard error is not a terminal or the size is unknown. Nil
/// if another job owns the terminal, as after Ctrl-Z and `bg`: a status would garble the text that people type there.
///
/// C: `ioctl(TIOCGWINSZ)`, `tcgetpgrp`
func sizeOfStandardError() -> TerminalSize? {
  let owner = tcgetpgrp(STDERR_FILENO)
  if owner > 0, owner != getpgrp() { return nil }
  var size = winsize()
  guard ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else {
    return TerminalSize(columns: 80)
  }
  return TerminalSize(
    columns: Int(size.ws_col), rows: size.ws_row > 0 ? Int(size.ws_row) : 24)
}

/// The name of the user that the process acts as; nil if the system has no name for the user.
///
/// C: `geteuid`, `getpwuid_r`
func userName() -> String? {
  withUnsafeTemporaryAllocation(of: CChar.self, capacity: 16 * 1024) { buffer in
    var entry = passwd()
    var found: UnsafeMutablePointer<passwd>?
    guard let start = buffer.baseAddress,
      getpwuid_r(geteuid(), &entry, start, buffer.count, &found) == 0, found != nil,
      let name = entry.pw_name
    else { return nil }
    return String(cString: name)
  }
}

// MARK: Output

/// An open descriptor that is written to. The descriptors that this process opened are closed with their owner.
final class OutputDescriptor: Sendable {
  private let number: CInt
  private let isOwned: Bool

  static let standardOutput = OutputDescriptor(StandardStream.output.rawValue, isOwned: false)
  static let standardError = OutputDescriptor(StandardStream.error.rawValue, isOwned: false)

  /// Opens something that exists and is not a regular file, such as a FIFO.
  ///
  /// C: `open`
  convenience init(opening path: LocalPath) throws(SystemError) {
    let flags = O_WRONLY | O_CLOEXEC | O_NOCTTY
    self.init(try retryingInterrupts { path.withCString { open($0, flags) } }, isOwned: true)
  }

  private init(_ number: CInt, isOwned: Bool) {
    self.number = number
    self.isOwned = isOwned
  }

  deinit { if isOwned { close(number) } }

  /// Writes all the bytes, waiting for a slow reader.
  ///
  /// C: `write`
  func write(_ bytes: UnsafeRawBufferPointer) throws(SystemError) {
    try writeAll(bytes, to: number)
  }

  /// Writes the bytes after the first `written`.
  ///
  /// - Parameter written: how many of the bytes are written, even if this throws.
  ///
  /// C: `write`
  func write(_ bytes: [UInt8], written: inout Int) throws(SystemError) {
    var (failure, count): (SystemError?, Int) = (nil, 0)
    bytes.dropFirst(written).withUnsafeBytes { bytes in
      do throws(SystemError) {
        try writeAll(bytes, to: number, written: &count)
      } catch {
        failure = error
      }
    }
    written += count
    if let failure { throw failure }
  }

  /// The closure throws nothing: a typed error in it crashes the compiler.
  func write(_ bytes: [UInt8]) throws(SystemError) {
    var failure: SystemError?
    bytes.withUnsafeBytes { bytes in
      do throws(SystemError) { try write(bytes) } catch { failure = error }
    }
    if let failure { throw failure }
  }

  /// C: `isatty`
  var isTerminal: Bool { isatty(number) == 1 }

  /// Whether a short line can be written without waiting.
  ///
  /// C: `poll`
  var isReady: Bool {
    var waited = pollfd(fd: number, events: Int16(POLLOUT), revents: 0)
    return poll(&waited, 1, 0) != 0
  }
}

/// What is at an output path.
enum OutputPlace {
  case nothing
  case deadLink
  /// A file that may be written, and its permissions without the set-user bits.
  case file(permissions: UInt32)
  /// The same file as standard output, by another name such as `/dev/stdout`.
  case standardOutput
  /// A FIFO or device.
  case special

  /// C: `stat`, `lstat`, `fstat`, `access`
  init(at path: LocalPath) throws(SystemError) {
    var status = stat()
    do throws(SystemError) {
      _ = try retryingInterrupts { path.withCString { stat($0, &status) } }
    } catch  where error == .notFound {
      self = path.withCString { lstat($0, &status) } == 0 ? .deadLink : .nothing
      return
    }
    if status.isStandardOutput {
      self = .standardOutput
      return
    }
    switch status.st_mode & S_IFMT {
    case S_IFREG:
      _ = try retryingInterrupts { path.withCString { access($0, W_OK) } }
      self = .file(permissions: status.st_mode & 0o777)
    case S_IFDIR: throw .isADirectory
    default: self = .special
    }
  }
}

/// Whether a path is the regular file that standard output goes to.
///
/// C: `stat`, `fstat`
func isOutputFile(_ path: LocalPath) -> Bool {
  guard let status = status(of: path) else { return false }
  return status.isRegularFile && status.isStandardOutput
}

/// The permissions that a new file gets.
///
/// C: `umask`
func permissionsOfNewFiles() -> UInt32 {
  let mask = umask(0o077)
  umask(mask)
  return 0o666 & ~mask
}

/// The identity of a regular file, whatever path names it, or of a file that will be made.
enum FileAtPath: Hashable {
  case existing(device: UInt64, inode: UInt64)
  case missing(LocalPath)

  /// Nil if the path leads to anything but a regular file, such as a directory or a device.
  ///
  /// C: `stat`, `realpath`
  init?(at path: LocalPath) {
    // Once --create-dirs has made the directory `new`, `new/../file` may lead to a file that exists already.
    guard let status = status(of: path) ?? status(of: canonical(path)) else {
      self = .missing(canonical(path))
      return
    }
    guard status.isRegularFile else { return nil }
    self = .existing(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
  }

  /// Different bytes for each file.
  var key: [UInt8] {
    switch self {
    case .existing(let device, let inode): Array("\(device) \(inode)".utf8)
    case .missing(let path): [UInt8(ascii: "/")] + path.bytes
    }
  }

  /// The regular files that the standard streams refer to; nil if a stream is something else.
  static var standardInput: FileAtPath? { FileAtPath(open: STDIN_FILENO) }
  static var standardOutput: FileAtPath? { FileAtPath(open: STDOUT_FILENO) }
  static var standardError: FileAtPath? { FileAtPath(open: STDERR_FILENO) }

  /// C: `fstat`
  private init?(open number: CInt) {
    var status = stat()
    guard fstat(number, &status) == 0, status.isRegularFile else { return nil }
    self = .existing(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
  }
}

/// The same path for all paths that lead to a file, even if the file does not exist yet.
///
/// C: `realpath`
func canonical(_ path: LocalPath) -> LocalPath {
  if let found = try? resolved(path) { return found }
  // No file has a path longer than `PATH_MAX`.
  guard path.bytes.count <= PATH_MAX else { return path }
  let slash = UInt8(ascii: "/")
  guard let end = path.bytes.lastIndex(of: slash) else {
    return path.bytes == [UInt8(ascii: ".")]
      ? path : LocalPath(bytes: canonical(".").bytes + [slash] + path.bytes)
  }
  let directory = path.bytes[..<end]
  if directory.isEmpty { return path }
  let (parent, name) = (canonical(LocalPath(bytes: Array(directory))), path.bytes[(end + 1)...])
  if name.isEmpty || name == [UInt8(ascii: ".")] { return parent }
  // A directory that does not exist yet will not be a link: `..` leads to the directory before it in the path.
  if name == [UInt8(ascii: "."), UInt8(ascii: ".")] {
    return canonical(LocalPath(bytes: parent.directory.bytes))
  }
  return LocalPath(bytes: parent.bytes + (parent.bytes == [slash] ? [] : [slash]) + name)
}

/// The file that a path leads to if its links are followed.
///
/// C: `realpath`
func resolved(_ path: LocalPath) throws(SystemError) -> LocalPath {
  guard let found = path.withCString({ realpath($0, nil) }) else {
    throw SystemError(number: errno)
  }
  defer { free(found) }
  return LocalPath(
    bytes: UnsafeBufferPointer(start: found, count: strlen(found)).map(UInt8.init(bitPattern:)))
}

/// Makes a directory, and the directories above it that don't exist.
///
/// C: `mkdir`
func makeDirectories(_ path: LocalPath) throws(SystemError) {
  let slash = UInt8(ascii: "/")
  var ends = path.bytes.indices.filter { path.bytes[$0] == slash && $0 > 0 }
  ends.append(path.bytes.count)
  for end in ends {
    do throws(SystemError) {
      _ = try retryingInterrupts {
        LocalPath(bytes: path.bytes[..<end]).withCString { mkdir($0, 0o777) }
      }
    } catch  where error == .alreadyExists {}
  }
}

// MARK: Status

/// C: `stat`
func status(of path: LocalPath) -> stat? {
  var status = stat()
  return path.withCString { stat($0, &status) } == 0 ? status : nil
}

extension stat {
  fileprivate var isRegularFile: Bool { st_mode & S_IFMT == S_IFREG }

  /// C: `fstat`
  fileprivate var isStandardOutput: Bool {
    var output = stat()
    return fstat(STDOUT_FILENO, &output) == 0
      && (output.st_dev, output.st_ino) == (st_dev, st_ino)
  }
}

// MARK: Times

/// When a file was last changed, in seconds since 1970; nil if there is no file.
///
/// C: `stat`
func modificationTime(of path: LocalPath) -> Int64? {
  status(of: path).map { Int64($0.st_mtim.tv_sec) }
}

/// Sets the times of a file, in seconds since 1970.
///
/// C: `utimensat`
func setModificationTime(of path: LocalPath, to seconds: Int64) throws(SystemError) {
  let time = timespec(tv_sec: Int(seconds), tv_nsec: 0)
  let status = path.withCString { utimensat(AT_FDCWD, $0, [time, time], 0) }
  guard status == 0 else { throw SystemError(number: errno) }
}
