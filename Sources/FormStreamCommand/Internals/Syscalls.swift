// The only file of the command that talks to the C library.

import Glibc
import Multipart

private func retryingInterrupts<Result: SignedInteger>(
  _ body: () -> Result
) throws(SystemError) -> Result {
  while true {
    let result = body()
    if result >= 0 { return result }
    let number = Glibc.errno
    if number != EINTR { throw SystemError(number: number) }
  }
}

extension SystemError {
  var isBrokenPipe: Bool { number == EPIPE }
  fileprivate var isNotFound: Bool { number == ENOENT }
}

extension LocalPath {
  fileprivate func withName<Result>(_ body: (UnsafePointer<CChar>) -> Result) -> Result {
    (bytes + [0]).withUnsafeBytes { raw in
      raw.withMemoryRebound(to: CChar.self) { body($0.baseAddress.unsafelyUnwrapped) }
    }
  }
}

// MARK: Input

/// Reads a file of which more than `limit` bytes would be a mistake. It may be a pipe: shells make one
/// for `<(command)`.
///
/// C: `open`, `read`
func readSmallFile(
  _ path: LocalPath, for flag: String, limit: Int
) throws(Failure) -> [UInt8] {
  do throws(SystemError) {
    guard !path.bytes.isEmpty, !path.bytes.contains(0) else { throw SystemError(number: ENOENT) }
    let number = try retryingInterrupts { path.withName { open($0, O_RDONLY | O_CLOEXEC) } }
    defer { close(number) }
    var contents: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 16 * 1024)
    while contents.count <= limit {
      let count = try retryingInterrupts { read(number, &buffer, buffer.count) }
      if count == 0 { return contents }
      contents.append(contentsOf: buffer[..<count])
    }
  } catch {
    throw Failure(
      .noInput, "The file \"\(path)\" of \(flag) can't be read: \(error). Check the path.")
  }
  throw .usage("The file \"\(path)\" of \(flag) has more than \(limit) bytes: name another.")
}

/// How far standard input has been read, where it is a regular file that can be opened again; nil
/// where it is anything else.
///
/// C: `fstat`, `lseek`, `access`
func standardInputOffset() throws(SystemError) -> Int64? {
  var status = stat()
  _ = try retryingInterrupts { fstat(STDIN_FILENO, &status) }
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

/// An open descriptor that is written to, and closed with its owner unless it was there before.
final class OutputDescriptor: Sendable {
  fileprivate let number: CInt
  private let isOurs: Bool

  static let standardOutput = OutputDescriptor(StandardStream.output.rawValue, isOurs: false)
  static let standardError = OutputDescriptor(StandardStream.error.rawValue, isOurs: false)

  /// Opens what is there already and is no regular file, such as `/dev/null`.
  ///
  /// C: `open`
  init(writing path: LocalPath) throws(SystemError) {
    number = try retryingInterrupts {
      path.withName { open($0, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY, 0o666) }
    }
    isOurs = true
  }

  fileprivate init(_ number: CInt, isOurs: Bool) {
    self.number = number
    self.isOurs = isOurs
  }

  deinit { if isOurs { close(number) } }

  /// Writes all of it.
  ///
  /// C: `write`
  func write(_ bytes: UnsafeRawBufferPointer) throws(SystemError) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let piece = UnsafeRawBufferPointer(rebasing: rest)
      let count = try retryingInterrupts { Glibc.write(number, piece.baseAddress, piece.count) }
      rest = rest.dropFirst(count)
    }
  }

  /// Writes all of a text, as UTF-8.
  func write(_ text: String) throws(SystemError) {
    var failure: SystemError?
    Array(text.utf8).withUnsafeBytes { bytes in
      do throws(SystemError) { try write(bytes) } catch { failure = error }
    }
    if let failure { throw failure }
  }
}

/// Whether a new file can take the path's place: a regular file is there that may be written, or
/// nothing is.
///
/// C: `stat`, `lstat`, `access`
func isReplaceable(_ path: LocalPath) throws(SystemError) -> Bool {
  var status = stat()
  do throws(SystemError) {
    _ = try retryingInterrupts { path.withName { stat($0, &status) } }
  } catch  where error.isNotFound {
    // A link that leads nowhere is written through, as everywhere.
    return path.withName { lstat($0, &status) } != 0
  }
  switch status.st_mode & S_IFMT {
  case S_IFREG:
    _ = try retryingInterrupts { path.withName { access($0, W_OK) } }
    return true
  case S_IFDIR: throw SystemError(number: EISDIR)
  default: return false
  }
}

/// A file in the making, beside the one whose place it will take. It goes when it is not committed,
/// also where a signal ends the program.
final class PendingFile {
  let descriptor: OutputDescriptor
  private let path: LocalPath
  private let target: LocalPath
  private var isCommitted = false

  /// C: `realpath`, `open(O_EXCL)`, `fchmod`
  init(for wanted: LocalPath) throws(SystemError) {
    // The file behind a link is replaced, not the link.
    let resolved = wanted.withName { name in
      realpath(name, nil).map { found in
        defer { free(found) }
        return LocalPath(String(cString: found))
      }
    }
    let target = resolved ?? wanted
    self.target = target
    let directory = target.bytes.lastIndex(of: UInt8(ascii: "/")).map { target.bytes[...$0] } ?? []
    let mark = String(UInt64.random(in: .min ... .max), radix: 36)
    path = LocalPath(bytes: directory + Array(".formstream-\(mark)".utf8))

    let number = try retryingInterrupts { [path] in
      path.withName { open($0, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666) }
    }
    descriptor = OutputDescriptor(number, isOurs: true)
    var status = stat()
    if target.withName({ stat($0, &status) }) == 0 { fchmod(number, status.st_mode & 0o7777) }
    removeOnSignal(path)
  }

  /// C: `rename`
  func commit() throws(SystemError) {
    _ = try retryingInterrupts { path.withName { old in target.withName { rename(old, $0) } } }
    isCommitted = true
    removeOnSignal(nil)
  }

  /// C: `unlink`
  deinit {
    guard !isCommitted else { return }
    _ = path.withName { unlink($0) }
    removeOnSignal(nil)
  }
}

// MARK: Signals

/// The file that a signal's handler removes. Written by the main thread only; a handler may read it
/// at any time, so it is one word, and what it points to is never freed.
nonisolated(unsafe) private var doomedName: UnsafeMutablePointer<CChar>?

/// Every name that a handler may have got hold of: kept, so that it is not lost either.
nonisolated(unsafe) private var keptNames: [UnsafeMutablePointer<CChar>] = []

private func removeOnSignal(_ path: LocalPath?) {
  doomedName = path?.withName { strdup($0) }
  if let doomedName { keptNames.append(doomedName) }
}

/// A reader that goes away must give an error, not kill; a person who presses Ctrl-C must find no
/// half-made file.
///
/// C: `signal`
func prepareSignals() {
  signal(SIGPIPE, SIG_IGN)
  for number in [SIGINT, SIGTERM, SIGHUP] {
    let inherited = signal(number) { number in
      if let doomedName { unlink(doomedName) }
      _exit(128 + number)
    }
    // What `nohup` or a shell's background job ignores stays ignored.
    if unsafeBitCast(inherited, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self) {
      signal(number, SIG_IGN)
    }
  }
}
