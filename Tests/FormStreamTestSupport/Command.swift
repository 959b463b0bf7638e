import Glibc
import FormStreamMultipart

/// What a program did: how it ended, what it said, and how much memory it took.
public struct Invocation: Sendable {
  /// The exit code; nil where a signal ended the program.
  public var exit: Int32?
  /// The signal that ended the program; nil where it exited.
  public var signal: Int32?
  /// All that it wrote to standard output.
  public var stdout: [UInt8]
  /// All that it wrote to standard error, repaired where it is not UTF-8.
  public var stderr: String
  /// The most memory that it had resident, in KiB. `ru_maxrss` where that is over what the test runner
  /// itself had (a child inherits its parent's peak through `exec`); else `VmHWM`, last read up to 5 ms
  /// before the end, and 0 where the program was gone before the first look.
  public var peakResidentKiB: Int

  /// Standard output as text.
  public var output: String { String(decoding: stdout, as: UTF8.self) }
}

/// A program that did not end in time, and was killed.
public struct CommandTimedOut: Error, CustomStringConvertible {
  /// The program, the limit, and what it had said until then.
  public let description: String
}

/// Runs a binary of this package (such as `formstream`), found beside the test runner, and waits for it.
///
/// - Parameters:
///   - binary: its name.
///   - arguments: what follows the name.
///   - standardInput: what it reads from a pipe; `/dev/null` where nil.
///   - directory: where it runs; a fresh directory where nil.
///   - environment: added to the test runner's own.
/// - Throws: `CommandTimedOut` after 120 s; `SystemError` where it can't be started.
public func run(
  _ binary: String, _ arguments: [String], standardInput: [UInt8]? = nil,
  in directory: TemporaryDirectory? = nil, environment: [String: String] = [:]
) throws -> Invocation {
  try run(
    binary, rawArguments: arguments.map { Array($0.utf8) }, standardInput: standardInput,
    in: directory, environment: environment)
}

/// Runs a binary of this package with arguments that need not be UTF-8.
public func run(
  _ binary: String, rawArguments: [[UInt8]], standardInput: [UInt8]? = nil,
  in directory: TemporaryDirectory? = nil, environment: [String: String] = [:]
) throws -> Invocation {
  try run(
    program: builtBinary(binary), rawArguments: rawArguments, standardInput: standardInput,
    in: directory, environment: environment)
}

/// Runs any program by its absolute path, such as `/usr/bin/strace`.
public func run(
  program: String, _ arguments: [String], standardInput: [UInt8]? = nil,
  in directory: TemporaryDirectory? = nil, environment: [String: String] = [:]
) throws -> Invocation {
  try run(
    program: program, rawArguments: arguments.map { Array($0.utf8) },
    standardInput: standardInput, in: directory, environment: environment)
}

/// Runs any program by its absolute path with arguments that need not be UTF-8.
public func run(
  program: String, rawArguments: [[UInt8]], standardInput: [UInt8]? = nil,
  in directory: TemporaryDirectory? = nil, environment: [String: String] = [:]
) throws -> Invocation {
  let place = try directory ?? TemporaryDirectory()
  return try withExtendedLifetime(place) {
    let child = try ChildProcess(
      program: program, arguments: rawArguments, takesInput: standardInput != nil,
      directory: place.path, environment: environment)
    return try child.finish(feeding: standardInput ?? [], within: 120)
  }
}

/// The path of a binary of this package: it lies beside the program that runs the tests.
public func builtBinary(_ name: String) -> String {
  var buffer = [CChar](repeating: 0, count: 4096)
  let count = readlink("/proc/self/exe", &buffer, buffer.count)
  var own = String(
    decoding: buffer.prefix(max(count, 0)).map(UInt8.init(bitPattern:)), as: UTF8.self)
  // Some toolchains run the bundle through a helper of their own: then the bundle is an argument.
  if !own.hasSuffix(".xctest") {
    for argument in CommandLine.arguments where argument.hasSuffix(".xctest") { own = argument }
  }
  return (own.split(separator: "/", omittingEmptySubsequences: false).dropLast() + [name[...]])
    .joined(separator: "/")
}

/// The environment for a program that strace holds: in it, the address sanitizer's search for leaks
/// can't run, and would fail the program.
public let underStrace = ["ASAN_OPTIONS": "detect_leaks=0"]
