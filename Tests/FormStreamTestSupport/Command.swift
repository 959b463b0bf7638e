import Glibc
import FormStreamPlatform

/// How a program ended, its output, and its memory.
public struct Invocation: Sendable {
  /// The exit code, or nil if a signal ended the program.
  public var exit: Int32?
  /// The signal that ended the program, or nil if it exited.
  public var signal: Int32?
  /// Its standard output.
  public var stdout: [UInt8]
  /// Its standard error as text; what was not UTF-8 is repaired.
  public var stderr: String
  /// Its peak resident memory in KiB: `ru_maxrss` if that is more than the test runner had, because a child inherits
  /// its parent's peak. Otherwise the last value of `VmHWM`, read up to 5 ms before the end, or 0 if the program
  /// ended before the first reading.
  public var peakResidentKiB: Int

  /// Standard output as text.
  public var output: String { String(decoding: stdout, as: UTF8.self) }
}

/// A program that did not end in time and was killed.
public struct CommandTimedOut: Error, CustomStringConvertible {
  /// The program, the limit, and its output until then.
  public let description: String
}

/// Runs a program of this package, such as `formstream`, and waits for it.
///
/// - Parameters:
///   - binary: its name.
///   - arguments: the arguments after the name.
///   - standardInput: the bytes of its standard input, a pipe, or nil for `/dev/null`.
///   - directory: where it runs, or nil for a new directory.
///   - environment: variables added to the test runner's.
/// - Throws: `CommandTimedOut` after 120 s, `SystemError` if it can't be started.
public func run(
  _ binary: String, _ arguments: [String], standardInput: [UInt8]? = nil,
  in directory: TemporaryDirectory? = nil, environment: [String: String] = [:]
) throws -> Invocation {
  try run(
    binary, rawArguments: arguments.map { Array($0.utf8) }, standardInput: standardInput,
    in: directory, environment: environment)
}

/// Runs a program of this package with arguments that need not be UTF-8.
public func run(
  _ binary: String, rawArguments: [[UInt8]], standardInput: [UInt8]? = nil,
  in directory: TemporaryDirectory? = nil, environment: [String: String] = [:]
) throws -> Invocation {
  try run(
    program: builtBinary(binary), rawArguments: rawArguments, standardInput: standardInput,
    in: directory, environment: environment)
}

/// Runs a program by its absolute path, such as `/usr/bin/strace`.
public func run(
  program: String, _ arguments: [String], standardInput: [UInt8]? = nil,
  in directory: TemporaryDirectory? = nil, environment: [String: String] = [:]
) throws -> Invocation {
  try run(
    program: program, rawArguments: arguments.map { Array($0.utf8) },
    standardInput: standardInput, in: directory, environment: environment)
}

/// Runs a program by its absolute path with arguments that need not be UTF-8.
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

/// The path of a program of this package: it is in the same directory as the test runner.
public func builtBinary(_ name: String) -> String {
  var buffer = [CChar](repeating: 0, count: 4096)
  let count = readlink("/proc/self/exe", &buffer, buffer.count)
  var own = String(
    decoding: buffer.prefix(max(count, 0)).map(UInt8.init(bitPattern:)), as: UTF8.self)
  // Some toolchains run the test bundle with a helper program. Then the bundle is an argument.
  if !own.hasSuffix(".xctest") {
    for argument in CommandLine.arguments where argument.hasSuffix(".xctest") { own = argument }
  }
  return (own.split(separator: "/", omittingEmptySubsequences: false).dropLast() + [name[...]])
    .joined(separator: "/")
}

/// The environment for a program that strace traces: the address sanitizer's leak search can't run in it, and would
/// fail the program.
public let underStrace = ["ASAN_OPTIONS": "detect_leaks=0"]
