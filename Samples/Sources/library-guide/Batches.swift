import FormStreamBatch
import Foundation

func sendFolder(to url: String) async throws {
  var batch = try Batch([.path("photos")], to: url, as: "photo")
  batch.listing.includes = [try NamePattern("*.jpg")]
  batch.request.credentials = .bearer("token")
  batch.appendField("title", try FileTemplate("{stem}"))
  batch.journal = "photos.journal"
  batch.concurrency = 8

  let task = try await batch.start()
  for try await result in task.results where result.state != .ok {
    print(result.file.path, result.state, result.error?.description ?? "")
  }
  print(task.totals[.ok], "of", task.totals.listed)
}

func putFolder(to url: String) async throws -> BatchTotals {
  let batch = try Batch(putting: [.path("photos")], to: "\(url)/{relative}")
  return try await batch.start().end()
}

func watch(_ task: BatchTask) async {
  for await progress in task.progressUpdates {
    print(progress.done, "of", progress.listed, "files,", progress.acknowledged, "bytes")
  }
}

/// An outbox: a program puts files into it, and they are sent, whatever happens to the program.
func sendOutbox(to url: String) async throws {
  var outbox = try Batch([.path("outbox")], to: url)
  outbox.journal = "outbox.journal"
  outbox.sendsIdempotencyKeys = true
  outbox.includesAcceptedEarlier = true
  while !Task.isCancelled {
    let task = try await outbox.start()
    for try await result in task.results {
      if result.isAccepted {
        try result.removeFile()
      } else if result.state == .failed {
        print(result.file.path, result.error?.description ?? "")
        let file = URL(fileURLWithPath: result.file.path.description)
        try FileManager.default.moveItem(at: file, to: URL(fileURLWithPath: "refused/\(file.lastPathComponent)"))
      }
    }
    try await Task.sleep(for: .seconds(60))
  }
}
