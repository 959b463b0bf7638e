import FormStreamCommand
import Glibc

// Reads the arguments as bytes: `CommandLine.arguments` replaces bytes that are not UTF-8, so a path would name another
// file.
let arguments = UnsafeBufferPointer(start: CommandLine.unsafeArgv, count: Int(CommandLine.argc))
  .dropFirst()
  .compactMap { $0.map { Argument(bytes: UnsafeBufferPointer(start: $0, count: strlen($0))) } }

endProcess(run(arguments))
