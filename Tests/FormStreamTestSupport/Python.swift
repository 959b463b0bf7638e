/// The lines that a Python program prints when it reads the given lines. Python is an independent reader of FormStream's
/// output.
public func python(_ program: String, _ lines: [UInt8]) throws -> [String] {
  let run = try run(
    program: "/usr/bin/env", ["python3", "-c", program], standardInput: lines,
    environment: ["PYTHONIOENCODING": "utf-8"])
  guard run.exit == 0 else { throw PythonFailed(description: run.stderr) }
  return run.output.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
    .map(String.init)
}

/// A Python program failed.
public struct PythonFailed: Error, CustomStringConvertible {
  /// Its standard error.
  public let description: String
}
