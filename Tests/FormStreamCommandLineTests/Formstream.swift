import FormStreamTestSupport

/// Runs the command as a person would.
func formstream(
  _ arguments: String..., standardInput: [UInt8]? = nil, in directory: TemporaryDirectory? = nil
) throws -> Invocation {
  try run("formstream", arguments, standardInput: standardInput, in: directory)
}

/// Runs a line of shell, in which `$F` is the command.
func shell(_ line: String, in directory: TemporaryDirectory? = nil) throws -> Invocation {
  try run(
    program: "/bin/bash", ["-c", line], in: directory,
    environment: ["F": builtBinary("formstream")])
}
