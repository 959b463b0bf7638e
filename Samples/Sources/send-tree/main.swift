import FormStreamBatch
import Glibc

// Sends all files below a directory, each in a form. It may be killed at any time: the next run goes on. When all are sent,
// the next run sends what is new or has changed.
let arguments = CommandLine.arguments
guard arguments.count == 4 else {
  print("Usage: send-tree DIRECTORY URL JOURNAL")
  exit(64)
}

var batch = try Batch([.path(LocalPath(arguments[1]))], to: arguments[2], as: "photo")
batch.journal = LocalPath(arguments[3])

let task = try await batch.start()
for try await result in task.results where result.state != .ok && result.state != .skipped {
  print("\(result.file.path): \(result.state), \(result.error?.description ?? "")")
}
let totals = task.totals
print("Round \(task.round?.number ?? 1): \(totals[.ok]) sent, \(totals.unaccepted) not accepted")
