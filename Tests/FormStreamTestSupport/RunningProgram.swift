import FormStreamPlatform
import Glibc

/// A program that runs during a test, such as a server. It ends with this object at the latest.
public final class RunningProgram: Sendable {
  /// Its process. Another may have the number after `wait()`.
  public let pid: Int32
  private let child: Guarded<ChildProcess?>
  private let place: TemporaryDirectory

  /// Starts a program by its absolute path.
  ///
  /// - Parameters:
  ///   - program: the path.
  ///   - arguments: the arguments after the name, which need not be UTF-8.
  ///   - directory: where it runs, or nil for a new directory.
  ///   - environment: variables added to the test runner's.
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
  /// - Throws: `CommandTimedOut` after 60 s, or if its output ends. The program is ended then.
  public func line() throws -> String {
    try child.withLock { child in
      guard let running = child else { throw CommandTimedOut(description: "it has ended") }
      do { return try running.nextLine(within: 60) } catch {
        child = nil
        throw error
      }
    }
  }

  /// Sends it a signal.
  public func signal(_ number: Int32) {
    child.withLock { $0?.signal(number) }
  }

  /// Waits for its end, and returns its output since ``line()``.
  ///
  /// - Throws: `CommandTimedOut` after 120 s. The program is ended then.
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
