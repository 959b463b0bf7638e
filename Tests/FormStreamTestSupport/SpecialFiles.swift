import Glibc
public import FormStreamMultipart

/// Creates a FIFO.
public func makeFIFO(_ path: LocalPath) throws {
  guard withCPath(path.bytes, { mkfifo($0, 0o600) }) == 0 else { throw SystemError(number: errno) }
}

/// Creates a symbolic link at `path` to `target`.
public func makeSymlink(_ path: LocalPath, to target: LocalPath) throws {
  let result = withCPath(path.bytes) { path in
    withCPath(target.bytes) { target in symlink(target, path) }
  }
  guard result == 0 else { throw SystemError(number: errno) }
}

/// Creates a directory.
public func makeDirectory(_ path: LocalPath) throws {
  guard withCPath(path.bytes, { mkdir($0, 0o700) }) == 0 else { throw SystemError(number: errno) }
}

/// Creates a socket in the file system on which nothing is listening.
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

/// Runs `work` on a new detached thread.
public func runDetached(_ work: @escaping @Sendable () -> Void) {
  pthread_detach(startJoinableThread(work))
}

/// Runs `work` on several threads at once, each with its number, and waits until all have ended.
public func onThreads(_ count: Int, _ work: @escaping @Sendable (Int) -> Void) {
  let threads = (0..<count).map { number in startJoinableThread { work(number) } }
  for thread in threads { pthread_join(thread, nil) }
}

/// Runs `work` on a new thread, which must be joined. Its stack is small, because there may be many.
///
/// - Parameter name: the thread's name in the system, up to 15 bytes.
func startJoinableThread(named name: String? = nil, _ work: @escaping @Sendable () -> Void)
  -> pthread_t
{
  let job = Job {
    // Swift's Glibc has no `pthread_setname_np`.
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
  precondition(failure == 0, "a thread can't be started: \(failure)")
  return thread
}

private final class Job: Sendable {
  let work: @Sendable () -> Void
  init(_ work: @escaping @Sendable () -> Void) { self.work = work }
}

/// Whether this process is exempt from file permissions.
public var isSuperuser: Bool { geteuid() == 0 }

/// Sets a file's permissions.
public func setPermissions(_ path: LocalPath, _ mode: UInt32) {
  _ = withCPath(path.bytes) { chmod($0, mode) }
}
