/// What a Python program makes of some lines: a reader of our output that we did not write.
public func python(_ program: String, _ lines: [UInt8]) throws -> [String] {
  let run = try run(
    program: "/usr/bin/env", ["python3", "-c", program], standardInput: lines,
    environment: ["PYTHONIOENCODING": "utf-8"])
  guard run.exit == 0 else { throw PythonFailed(description: run.stderr) }
  return run.output.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
    .map(String.init)
}

/// A Python program that failed, and what it said.
public struct PythonFailed: Error, CustomStringConvertible {
  /// What it wrote to standard error.
  public let description: String
}
