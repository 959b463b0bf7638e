import FormStreamDigest
import FormStreamMultipart
import FormStreamPlatform
import FormStreamReceiver
import FormStreamJSON

/// Runs `demo`: makes some files, sends them with `formstream post` to a receiver in this process, and compares the
/// stored files with the originals.
func demo() throws(Failure) {
  try checkDescriptors()
  let interruption = Interruption(gracePeriod: 12, cleanup: 1)
  let sender = ProcessSignals()
  interruption.onSignal { sender.send($0) }
  do {
    let scratch = try ScratchDirectory()
    defer { scratch.remove() }
    interruption.onGracePeriodEnd {
      sender.kill()
      scratch.remove()
    }
    try Demo(scratch: scratch, sender: sender, interruption: interruption).run()
    try interruption.check()
  } catch {
    throw interruption.failure ?? error as? Failure
      ?? Failure(.inputOutput, "The demo can't run. \(error) \(ScratchDirectory.remedy)")
  }
}

private struct Demo {
  private struct SentFile {
    let file: SampleFile
    let digest: SHA256.Digest
  }

  let scratch: ScratchDirectory
  let sender: ProcessSignals
  let interruption: Interruption

  func run() throws {
    let files = try SampleFile.all.map { SentFile(file: $0, digest: try make($0)) }
    let received = Guarded<ReceivedRequest?>(nil)
    let receiver = try Receiver.start(
      handler: try DirectoryHandler(scratch.path("received"))
    ) { request in received.withLock { $0 = request } }
    let total = files.reduce(0) { $0 + $1.file.size }
    StandardError.write(
      "Sending \(counted(files.count, "file", "files")), \(HumanReadable.size(total)), to \(receiver.url) ..."
    )
    let sent = Result { () throws(Failure) in try send(files, to: receiver.url) }
    try runBlocking { () async throws(Failure) in await receiver.stop() }
    let ended = try sent.get()
    try interruption.check()
    guard ended.code == 0, let request = received.withLock({ $0 }) else {
      let isFull = received.withLock { $0?.error?.code == "no-room" }
      throw Failure(
        ExitCode(rawValue: ended.code) ?? .failed,
        "The files did not arrive: see above.\(isFull ? " \(ScratchDirectory.remedy)" : "")")
    }
    try report(files, in: request, sender: ended)
  }

  private func send(_ files: [SentFile], to url: String) throws(Failure) -> ProcessExit {
    do throws(SystemError) {
      return try runThisProgram(
        ["post", "--progress", "bar"]
          + files.flatMap { ["--file", "\($0.file.field)=\(scratch.path($0.file.name))"] } + [url],
        signals: sender)
    } catch {
      throw Failure(
        .inputOutput,
        "The demo can't start this program a second time, to send the files: \(error). It is found by /proc/self/exe: "
          + "check that /proc is mounted.")
    }
  }

  private func make(_ file: SampleFile) throws(Failure) -> SHA256.Digest {
    do throws(Failure) {
      return try file.write(to: scratch.path(file.name), checking: interruption)
    } catch {
      guard error.exit == .inputOutput else { throw error }
      throw Failure(error.exit, "\(error.message) \(ScratchDirectory.remedy)")
    }
  }

  private func report(
    _ files: [SentFile], in request: ReceivedRequest, sender: ProcessExit
  ) throws {
    var rows = [["part", "file", "type", "bytes", "digest"]]
    var isEqual = request.isComplete && request.parts.count == files.count
    for (sent, part) in zip(files, request.parts) {
      let stored = try part.storedAs.map {
        try digest(of: scratch.path("received/\($0)"), checking: interruption)
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
    try output.write(TextTable.text(of: rows.map { $0.map { visible($0) } }, numeric: [3]))
    try output.write(
      """
      \(counted(request.bodyBytes, "byte", "bytes")) in \(Int64(seconds * 1000)) ms: \(rate) MB/s. Peak memory: \
      sender \(sender.peakMemory / 1_000_000) MB, receiver \(peakMemoryOfThisProcess() / 1_000_000) MB.
      \(isEqual ? "The received files are equal to the files that were sent." : "The received files differ from the files that were sent.")

      """)
    guard isEqual else {
      throw Failure(
        .failed,
        "The received files differ from the files that were sent: this is a bug, please report it.")
    }
  }
}

extension Interruption {
  /// What the demo ends with if a signal has arrived.
  fileprivate var failure: Failure? {
    signal.map { signal in
      Failure(
        ExitCode(signal: signal),
        "Ended by a signal; the demo's files are removed.")
    }
  }

  /// Ends the demo if a signal has arrived.
  func check() throws(Failure) {
    if let failure { throw failure }
  }
}
