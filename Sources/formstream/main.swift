import FormStreamCommand
import Glibc

// Arguments as bytes: Swift's own list repairs what is not UTF-8, and then no longer names the file.
let arguments = UnsafeBufferPointer(start: CommandLine.unsafeArgv, count: Int(CommandLine.argc))
  .dropFirst()
  .compactMap { $0.map { Argument(bytes: UnsafeBufferPointer(start: $0, count: strlen($0))) } }

exit(run(arguments).rawValue)
