// What the command asks of the C library; signals and processes are in files of their own beside this one.

import Glibc
import FormStreamMultipart

extension SystemError {
  /// Whether it is the link or the file behind it that is meant can't be known.
  static let deadLink = SystemError(number: ELOOP)
}

// MARK: Descriptors

/// Makes sure that enough can be opened for what goes over the wire: where libdispatch can't have its
/// descriptors, it ends the program.
///
/// C: `getrlimit`, `setrlimit`, `open`
///
/// - Parameter wanted: how many would be best.
func canOpenEnough(wanting wanted: UInt = 64) -> Bool {
  var limit = rlimit()
  guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return true }
  if limit.rlim_cur < wanted {
    limit.rlim_cur = min(limit.rlim_max, max(256, wanted))
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
  }
  guard limit.rlim_cur >= 32 else { return false }
  // Others of ours may be open: whoever started the program may have left some.
  var opened: [CInt] = []
  defer { for number in opened { close(number) } }
  while opened.count < 16 {
    let number = open("/", O_RDONLY | O_CLOEXEC)
    guard number >= 0 else { return false }
    opened.append(number)
  }
  return true
}

// MARK: Addresses

/// Whether text is an IP address: of IPv6 also between brackets.
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

/// Whether something is at a path.
///
/// C: `stat`
func isThere(_ path: LocalPath) -> Bool {
  var status = stat()
  return path.withCString { stat($0, &status) } == 0
}

// MARK: Input

/// Reads a file up to its end, or until there are more than `limit` bytes. It may be a pipe.
///
/// C: `open`, `read`
func contents(of path: LocalPath, upTo limit: Int) throws(SystemError) -> [UInt8] {
  let number = try retryingInterrupts { path.withCString { open($0, O_RDONLY | O_CLOEXEC) } }
  defer { close(number) }
  return try contents(of: number, upTo: limit)
}

/// The same of standard input, from where it stands.
///
/// C: `read`
func contentsOfStandardInput(upTo limit: Int) throws(SystemError) -> [UInt8] {
  try contents(of: STDIN_FILENO, upTo: limit)
}

/// Whether a path names a regular file that others than its owner may read.
///
/// C: `stat`
func isReadableByOthers(_ path: LocalPath) -> Bool {
  var status = stat()
  return path.withCString { stat($0, &status) } == 0 && status.st_mode & S_IFMT == S_IFREG
    && status.st_mode & (S_IRGRP | S_IROTH) != 0
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

/// How far standard input has been read, where it is a regular file that can be opened again; nil
/// where it is anything else.
///
/// C: `fstat`, `lseek`, `access`
func standardInputOffset() throws(SystemError) -> Int64? {
  var status = stat()
  _ = try retryingInterrupts { fstat(STDIN_FILENO, &status) }
  if status.st_mode & S_IFMT == S_IFDIR { throw .isADirectory }
  guard status.st_mode & S_IFMT == S_IFREG, access("/dev/stdin", R_OK) == 0 else { return nil }
  return try Int64(retryingInterrupts { lseek(STDIN_FILENO, 0, SEEK_CUR) })
}

// MARK: Output

/// Which of the standard streams.
enum StandardStream: CInt {
  case output = 1
  case error = 2
}

/// C: `isatty`
func isTerminal(_ stream: StandardStream) -> Bool {
  isatty(stream.rawValue) == 1
}

/// The width of the terminal that standard error is; 80 where there is none, or it does not know. Nil where
/// the terminal is another job's by now, such as after Ctrl-Z and `bg`: drawing would go into what is
/// typed there.
///
/// C: `ioctl(TIOCGWINSZ)`, `tcgetpgrp`
func columnsOfStandardError() -> Int? {
  let owner = tcgetpgrp(STDERR_FILENO)
  if owner > 0, owner != getpgrp() { return nil }
  var size = winsize()
  guard ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
  return Int(size.ws_col)
}

/// The value of an environment variable.
///
/// C: `getenv`
func environmentVariable(_ name: String) -> String? {
  getenv(name).map { String(cString: $0) }
}

/// An open descriptor that is written to, and closed with its owner unless it was there before.
final class OutputDescriptor: Sendable {
  private let number: CInt
  private let isOurs: Bool

  static let standardOutput = OutputDescriptor(StandardStream.output.rawValue, isOurs: false)
  static let standardError = OutputDescriptor(StandardStream.error.rawValue, isOurs: false)

  /// Opens what is there already and is no regular file, such as a FIFO.
  ///
  /// C: `open`
  convenience init(opening path: LocalPath) throws(SystemError) {
    let flags = O_WRONLY | O_CLOEXEC | O_NOCTTY
    self.init(try retryingInterrupts { path.withCString { open($0, flags) } }, isOurs: true)
  }

  /// Makes a file that nobody else can read yet.
  ///
  /// C: `open(O_EXCL)`
  convenience init(making path: LocalPath) throws(SystemError) {
    let flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC
    self.init(try retryingInterrupts { path.withCString { open($0, flags, 0o600) } }, isOurs: true)
  }

  private init(_ number: CInt, isOurs: Bool) {
    self.number = number
    self.isOurs = isOurs
  }

  deinit { if isOurs { close(number) } }

  /// Writes all of it, waiting for a slow reader.
  ///
  /// C: `write`
  func write(_ bytes: UnsafeRawBufferPointer) throws(SystemError) {
    try writeAll(bytes, to: number)
  }

  /// Writes all of an array. Its closure throws nothing: a typed error there crashes the compiler.
  func write(_ bytes: [UInt8]) throws(SystemError) {
    var failure: SystemError?
    bytes.withUnsafeBytes { bytes in
      do throws(SystemError) { try write(bytes) } catch { failure = error }
    }
    if let failure { throw failure }
  }

  /// C: `isatty`
  var isTerminal: Bool { isatty(number) == 1 }

  /// C: `fchmod`
  func setPermissions(_ permissions: UInt32) throws(SystemError) {
    _ = try retryingInterrupts { fchmod(number, permissions) }
  }
}

/// Whether a path names the regular file that standard output goes to.
///
/// C: `stat`, `fstat`
func isOutputFile(_ path: LocalPath) -> Bool {
  var status = stat()
  return path.withCString { stat($0, &status) } == 0 && status.st_mode & S_IFMT == S_IFREG
    && isStandardOutput(status)
}

private func isStandardOutput(_ status: stat) -> Bool {
  var output = stat()
  return fstat(STDOUT_FILENO, &output) == 0
    && (output.st_dev, output.st_ino) == (status.st_dev, status.st_ino)
}

/// What an output path names.
enum OutputPlace {
  case nothing
  case deadLink
  /// A file that may be written, with its permissions (without the set-user bits).
  case file(permissions: UInt32)
  /// What standard output is, too, by another name such as `/dev/stdout`.
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
    if isStandardOutput(status) {
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

/// The permissions that a new file has.
///
/// C: `umask`
func permissionsOfNewFiles() -> UInt32 {
  let mask = umask(0o077)
  umask(mask)
  return 0o666 & ~mask
}

/// The file behind a path's links.
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

/// C: `rename`
func rename(_ old: LocalPath, to new: LocalPath) throws(SystemError) {
  _ = try retryingInterrupts { old.withCString { old in new.withCString { rename(old, $0) } } }
}

/// C: `unlink`
func remove(_ path: LocalPath) {
  _ = path.withCString { unlink($0) }
}
