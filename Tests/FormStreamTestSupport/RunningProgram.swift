import Glibc

/// A program that runs beside the test, such as a server. It ends with this object, if not before.
public final class RunningProgram: Sendable {
  /// Its process, which is its own until it was waited for.
  public let pid: Int32
  private let child: Guarded<ChildProcess?>
  private let place: TemporaryDirectory

  /// Starts any program by its absolute path.
  ///
  /// - Parameters:
  ///   - program: the path.
  ///   - arguments: what follows the name; they need not be UTF-8.
  ///   - directory: where it runs; a fresh directory where nil.
  ///   - environment: added to the test runner's own.
  public init(
    program: String, rawArguments arguments: [[UInt8]], in directory: TemporaryDirectory? = nil,
    environment: [String: String] = [:]
  ) throws {
    place = try directory ?? TemporaryDirectory()
    let child = try ChildProcess(
      program: program, arguments: arguments, takesInput: false, directory: place.path,
      environment: environment)
    pid = child.pid
    self.child = Guarded(child)
  }

  deinit { child.withLock { $0?.end() } }

  /// Waits for the next line of its standard output.
  ///
  /// - Throws: `CommandTimedOut` after 60 s, or where it says no more; it is ended then.
  public func line() throws -> String {
    try child.withLock { child in
      guard let running = child else { throw CommandTimedOut(description: "it has ended") }
      do { return try running.firstLine(within: 60) } catch {
        child = nil
        throw error
      }
    }
  }

  /// Sends it a signal.
  public func signal(_ number: Int32) {
    child.withLock { $0?.signal(number) }
  }

  /// Waits for its end, and returns what it has said since ``line()``.
  ///
  /// - Throws: `CommandTimedOut` after 120 s; it is ended then.
  public func wait() throws -> Invocation {
    let running = child.withLock { child in
      let running = child
      child = nil
      return running
    }
    guard let running else { throw CommandTimedOut(description: "it has ended") }
    return try running.finish(feeding: [], within: 120)
  }
}
