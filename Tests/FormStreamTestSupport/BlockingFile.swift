public import FormStreamMultipart
import Glibc

/// A file of which one operation blocks until it is released. The program `blocking-files.py` is its file system, which
/// only root may mount, and not in every container.
public final class BlockingFile: Sendable {
  /// What blocks.
  public enum Operation: String, Sendable, CaseIterable {
    /// Reading its status.
    case status = "getattr"
    /// Opening it.
    case open
    /// Reading its second half.
    case read
    /// Closing it.
    case close = "flush"
  }

  /// Whether the file system can be mounted.
  public static let isAllowed = isSuperuser && (try? BlockingFile(size: 1, .read)) != nil

  /// The file, all bytes of which are 7.
  public let path: LocalPath
  private let program: RunningProgram
  private let place: TemporaryDirectory

  /// Mounts the file system.
  public init(size: Int, _ operation: Operation) throws {
    place = try TemporaryDirectory()
    let folder = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast()
    let script = (folder + ["blocking-files.py"]).joined(separator: "/")
    program = try RunningProgram(
      program: "/usr/bin/env",
      rawArguments: ["python3", script, place.path, "\(size)", operation.rawValue, "\(size / 2)"]
        .map { Array($0.utf8) })
    path = place.local("file")
    guard try program.line() == "mounted" else { throw TestError(1) }
  }

  deinit {
    // What still blocks fails when the program ends; the file system is removed when nobody uses it any more.
    _ = try? run(program: "/bin/umount", ["--lazy", place.path])
  }

  /// Waits until an operation blocks.
  public func waitUntilBlocked() throws {
    guard try program.line() == "blocked" else { throw TestError(1) }
  }

  /// Lets all operations go on.
  public func release() {
    program.signal(SIGUSR1)
  }
}
