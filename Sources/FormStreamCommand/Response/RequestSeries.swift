import FormStreamPlatform
import FormStreamMultipart

/// How several requests of a command end, one after another.
struct RequestSeries {
  private let count: Int
  private let printing: PlannedPrinting
  private var last = ResultReport.Ending(failure: nil, verdict: "Nothing was requested.")
  private var worst: ExitCode?
  private var ended = 0
  /// The paths of the files that have got a response, by what is on the disk: before the first request, it may not be known
  /// that two names will be those of one file.
  private var stored: [FileAtPath: LocalPath] = [:]

  init(count: Int, _ printing: PlannedPrinting) {
    self.count = count
    self.printing = printing
  }

  /// Carries out one request, and prints the note on its end. Its failure is printed at once if there are several, and ends
  /// none of the others.
  ///
  /// - Parameter file: the file that gets the response; nil for none that has a name before.
  mutating func add(
    storedIn file: LocalPath?, _ request: () throws(Failure) -> ResultReport.Ending
  ) {
    do throws(Failure) {
      // If another program has replaced the earlier file, its inode may be used again.
      if let file, let named = FileAtPath(at: file), let earlier = stored[named],
        FileAtPath(at: earlier) == named
      {
        throw .usage(
          "The file \"\(file)\" is \"\(earlier)\", which has got the response to an earlier request of this command: choose another name for one of them."
        )
      }
      last = try request()
      if let file = last.file ?? file, last.failure == nil, !isOutputFile(file),
        let named = FileAtPath(at: file)
      {
        stored[named] = file
      }
    } catch {
      last = ResultReport.Ending(failure: error, verdict: error.message)
    }
    ended += 1
    if let note = last.note { StandardError.note(note) }
    if count > 1, !printing.hidesFailures, let message = last.failure?.message {
      StandardError.note(message)
    }
    worst = ExitCode.worst(of: [worst, last.failure?.exit].compactMap(\.self))
  }

  /// Fails if a file that is written at the end has got a response: only the server, or the disk, named it so.
  func check(_ file: LocalPath?, of flag: String) throws(Failure) {
    guard let file, let named = FileAtPath(at: file), stored[named] != nil else { return }
    throw Failure(
      .inputOutput,
      "The file \"\(file)\" has got a response, which \(flag) does not replace: choose another name for \(flag)."
    )
  }

  /// How all of them ended: the exit code is that of the worst, and the verdict is for the case that none has failed.
  var ending: ResultReport.Ending {
    guard count > 1 else { return last }
    return ResultReport.Ending(
      failure: worst.map { Failure($0, "") },
      verdict:
        "The server accepted \(ended == count ? "all" : "\(ended) of") \(counted(count, "request", "requests"))."
    )
  }
}
