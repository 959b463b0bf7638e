import FormStreamDigest
import FormStreamMultipart
import FormStreamReceiver
import FormStreamRecords

/// Carries out `demo`: real files go out as a form, with `formstream post`, into a receiver of this process, and
/// are compared with what is on the disk then.
func demo() throws(Failure) {
  let ending = DemoEnding()
  // Ctrl-C ends what is sent; what was made is taken away all the same, also where that has to be at once.
  tellSignals(grace: 12, toldAgain: { ending.hurry() }) { ending.tell($0) }
  do {
    let scratch = try ScratchDirectory()
    defer { scratch.remove() }
    ending.removes(scratch)
    try show(in: scratch, until: ending)
    try ending.check()
  } catch {
    throw ending.failure ?? error as? Failure
      ?? Failure(.inputOutput, "The demo can't be shown. \(error) \(ScratchDirectory.remedy)")
  }
}

private func show(in scratch: ScratchDirectory, until ending: DemoEnding) throws {
  let files = try SampleFile.all.map { file in
    try make(file, in: scratch, until: ending)
  }
  let told = Guarded<ReceivedRequest?>(nil)
  let receiver = try Receiver.start(
    handler: try DirectoryHandler(scratch.path("received"))
  ) { request in told.withLock { $0 = request } }
  let total = files.reduce(0) { $0 + $1.file.size }
  StandardError.write(
    "Sending \(files.count) files, \(Quantity.size(total)), to \(receiver.url) ...")
  let sender = try runOurselves(
    ["post", "--progress", "bar"]
      + files.flatMap {
        ["--file", "\($0.file.field)=\(scratch.path($0.file.name))"]
      } + [receiver.url], signals: ending.sender)
  try waiting { () async throws(Failure) in await receiver.stop() }
  try ending.check()
  guard sender.code == 0, let request = told.withLock({ $0 }) else {
    let isFull = told.withLock { $0?.error?.code == "no-room" }
    throw Failure(
      ExitCode(rawValue: sender.code) ?? .failed,
      "What was to be sent did not arrive: see above.\(isFull ? " \(ScratchDirectory.remedy)" : "")"
    )
  }
  try report(on: files, in: request, scratch: scratch, sender: sender, until: ending)
}

private func make(
  _ file: SampleFile, in scratch: ScratchDirectory, until ending: DemoEnding
) throws(Failure) -> DemoFile {
  do throws(Failure) {
    return DemoFile(file: file, digest: try file.write(to: scratch.path(file.name), until: ending))
  } catch {
    guard error.exit == .inputOutput else { throw error }
    throw Failure(error.exit, "\(error.message) \(ScratchDirectory.remedy)")
  }
}

private struct DemoFile {
  let file: SampleFile
  let digest: SHA256.Digest
}

private func report(
  on files: [DemoFile], in request: ReceivedRequest, scratch: ScratchDirectory,
  sender: ProcessEnd, until ending: DemoEnding
) throws {
  var rows = [["part", "file", "type", "bytes", "digest"]]
  var isEqual = request.isComplete && request.parts.count == files.count
  for (sent, part) in zip(files, request.parts) {
    let stored = try part.storedAs.map {
      try digest(of: scratch.path("received/\($0)"), until: ending)
    }
    let isSame =
      stored == sent.digest && part.sha256 == sent.digest.description
      && part.size == sent.file.size && part.filename == sent.file.name
    isEqual = isEqual && isSame
    rows.append([
      part.name ?? "", part.storedAs ?? "", part.contentType ?? "", "\(part.size)",
      isSame ? "ok" : "DIFFERENT",
    ])
  }
  let seconds = max(request.duration / .seconds(1), 0.001)
  let rate = Int64(Double(request.bodyBytes) / seconds / 1_000_000)
  let output = try OutputFile(.standardOutput)
  try output.write(TextTable.text(of: rows.map { $0.map(visible) }, numeric: [3]))
  try output.write(
    """
    \(request.bodyBytes) bytes in \(Int64(seconds * 1000)) ms: \(rate) MB/s. Peak memory: \
    sender \(sender.peakMemory / 1_000_000) MB, receiver \(peakMemoryOfOurselves() / 1_000_000) MB.
    \(isEqual ? "All that arrived is what was sent." : "What arrived is not what was sent.")

    """)
  guard isEqual else {
    throw Failure(.failed, "What arrived is not what was sent: that is a bug, please report it.")
  }
}
