import FormStreamTestSupport

/// Runs the command.
func formstream(
  _ arguments: String..., standardInput: [UInt8]? = nil, in directory: TemporaryDirectory? = nil
) throws -> Invocation {
  try run("formstream", arguments, standardInput: standardInput, in: directory)
}

let generalFlags = ["config", "generate", "help", "version"]

/// The long names of the flags in a command's help, without the general ones.
func flags(inHelpOf verb: String) throws -> Set<String> {
  let lines = try lines(inHelpOf: verb)
    .filter { $0.hasPrefix("  -") || $0.hasPrefix("      --") }
  return Set(
    lines.compactMap { line in
      // A value that may be left out follows without a blank: --resumable[=PROTOCOL].
      line.split { $0 == " " || $0 == "[" }.first { $0.hasPrefix("--") }.map { String($0.dropFirst(2)) }
    }
  ).subtracting(generalFlags)
}

/// The lines of a command's help. A command line that goes on in the next one is one line.
func lines(inHelpOf verb: String) throws -> [String] {
  try formstream(verb, "--help").output.replacing(#/ \\\n +/#, with: " ")
    .split(separator: "\n").map(String.init)
}

/// A command of the shell that succeeds if a process is writing a file in this directory that is not complete: it has no
/// name, or a temporary one.
let hasBegunFile = #"ls -l /proc/[0-9]*/fd 2> /dev/null | grep -q "$PWD/[#.]""#

/// Runs a line of shell, in which `$F` is the command.
func shell(_ line: String, in directory: TemporaryDirectory? = nil) throws -> Invocation {
  try run(
    program: "/bin/bash", ["-c", line], in: directory,
    environment: ["F": builtBinary("formstream")])
}
