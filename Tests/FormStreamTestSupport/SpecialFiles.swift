import Glibc
public import FormStreamMultipart
import Synchronization

/// Makes a FIFO.
public func makeFIFO(_ path: LocalPath) throws {
  guard withCPath(path.bytes, { mkfifo($0, 0o600) }) == 0 else { throw SystemError(number: errno) }
}

/// Makes a symbolic link at `path` that says `target`.
public func makeSymlink(_ path: LocalPath, to target: LocalPath) throws {
  let result = withCPath(path.bytes) { path in
    withCPath(target.bytes) { target in symlink(target, path) }
  }
  guard result == 0 else { throw SystemError(number: errno) }
}

/// Makes a directory.
public func makeDirectory(_ path: LocalPath) throws {
  guard withCPath(path.bytes, { mkdir($0, 0o700) }) == 0 else { throw SystemError(number: errno) }
}

/// Makes a socket in the file system, to which nobody listens.
public func makeSocket(_ path: LocalPath) throws {
  let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
  guard descriptor >= 0 else { throw SystemError(number: errno) }
  defer { close(descriptor) }
  var address = sockaddr_un()
  address.sun_family = sa_family_t(AF_UNIX)
  withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.bytes) }
  let result = withUnsafePointer(to: &address) {
    $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
      bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
    }
  }
  guard result == 0 else { throw SystemError(number: errno) }
}

/// Runs `work` on a thread of its own, which ends with it.
public func runDetached(_ work: @escaping @Sendable () -> Void) {
  pthread_detach(startJoinableThread(work))
}

/// Runs `work` on so many threads at once, each with its number, and waits until all have ended.
public func onThreads(_ count: Int, _ work: @escaping @Sendable (Int) -> Void) {
  let threads = (0..<count).map { number in startJoinableThread { work(number) } }
  for thread in threads { pthread_join(thread, nil) }
}

/// Runs `work` on a thread of its own, which has to be joined. Its stack is small: there may be many.
///
/// - Parameter name: what the system shows for it, up to 15 bytes.
func startJoinableThread(named name: String? = nil, _ work: @escaping @Sendable () -> Void)
  -> pthread_t
{
  let job = Job {
    // `pthread_setname_np` is not in the headers that Swift sees.
    if let name { try? _ = writeFile("/proc/thread-self/comm", Array(name.utf8)) }
    work()
  }
  let box = Unmanaged.passRetained(job)
  var attributes = pthread_attr_t()
  pthread_attr_init(&attributes)
  pthread_attr_setstacksize(&attributes, 1 << 20)
  defer { pthread_attr_destroy(&attributes) }
  var thread = pthread_t()
  let failure = pthread_create(
    &thread, &attributes,
    { pointer in
      if let pointer { Unmanaged<Job>.fromOpaque(pointer).takeRetainedValue().work() }
      return nil
    }, box.toOpaque())
  precondition(failure == 0, "no thread can be started: \(failure)")
  return thread
}

private final class Job: Sendable {
  let work: @Sendable () -> Void
  init(_ work: @escaping @Sendable () -> Void) { self.work = work }
}

/// Whether this process may do what permissions forbid.
public var isSuperuser: Bool { geteuid() == 0 }

/// Sets a file's permissions.
public func setPermissions(_ path: LocalPath, _ mode: UInt32) {
  _ = withCPath(path.bytes) { chmod($0, mode) }
}
