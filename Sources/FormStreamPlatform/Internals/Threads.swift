import Glibc

/// Starts a detached thread. Returns false if the system can't start one. Foundation's `Thread`
/// does not report this failure.
///
/// - Parameter name: the name that `top -H` shows. Linux cuts it after 15 bytes.
///
/// C: `pthread_create`
package func startThread(_ name: String, _ body: @escaping @Sendable () -> Void) -> Bool {
  let start = Unmanaged.passRetained(ThreadStart(name: name, body: body))
  let isStarted = withUnsafeTemporaryAllocation(of: pthread_attr_t.self, capacity: 1) {
    attributes in
    guard let attributes = attributes.baseAddress, pthread_attr_init(attributes) == 0 else {
      return false
    }
    defer { pthread_attr_destroy(attributes) }
    pthread_attr_setstacksize(attributes, 1024 * 1024)
    pthread_attr_setdetachstate(attributes, Int32(PTHREAD_CREATE_DETACHED))
    var thread = pthread_t()
    return pthread_create(
      &thread, attributes,
      { context in
        if let context { Unmanaged<ThreadStart>.fromOpaque(context).takeRetainedValue().run() }
        return nil
      }, start.toOpaque()) == 0
  }
  if !isStarted { start.release() }
  return isStarted
}

/// How many processors the system has online.
///
/// C: `sysconf(_SC_NPROCESSORS_ONLN)`
package let processorCount = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))

private final class ThreadStart {
  private let name: String
  private let body: @Sendable () -> Void

  init(name: String, body: @escaping @Sendable () -> Void) {
    self.name = name
    self.body = body
  }

  func run() {
    nameThisThread(name)
    body()
  }
}

/// Names this thread. Writing to a file in `/proc` would also name the thread. But the system would have to drop that
/// file when the thread ends, which takes longer than everything else that a thread costs.
///
/// C: `pthread_setname_np`
private func nameThisThread(_ name: String) {
  // A longer name is an error.
  var bytes = name.utf8.prefix(15).map { CChar(bitPattern: $0) }
  bytes.append(0)
  _ = setThreadName?(pthread_self(), bytes)
}

/// Blocks SIGPIPE on this thread: a write to a closed connection fails, and does not end the
/// process.
///
/// C: `pthread_sigmask`
package func ignoreBrokenPipesOnThisThread() {
  var signals = sigset_t()
  sigemptyset(&signals)
  sigaddset(&signals, SIGPIPE)
  pthread_sigmask(SIG_BLOCK, &signals, nil)
}
