import FormStreamPlatform
import FormStreamMultipart

/// How several requests of a command end, one after another.
struct RequestSeries {
  private let count: Int
  private let printing: PlannedPrinting
  private var last = ResultReport.Ending(failure: nil, verdict: "Nothing was requested.")
  private var worst: ExitCode?
  private var ended = 0
  /// The paths of the files that have got a response, by the identity of the file on the disk. Before the first
  /// request, nothing may show that two names will belong to one file.
  private var stored: [FileAtPath: LocalPath] = [:]

  init(count: Int, _ printing: PlannedPrinting) {
    self.count = count
    self.printing = printing
  }

  /// Carries out one request, and prints the note about its end. If there are several requests, a failure is printed at
  /// once, and the other requests are carried out anyway.
  ///
  /// - Parameter file: the file that gets the response; nil if there is none, or if its name is not known before the
  ///   request.
  mutating func add(
    storedIn file: LocalPath?, _ request: () throws(Failure) -> ResultReport.Ending
  ) {
    do throws(Failure) {
      // The earlier path is checked again: if another program has replaced the earlier file, a different file may have
      // its inode.
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

  /// Fails if a file that is written at the end has got a response. The plan could not detect this, because the server
  /// chose the name, or links on the disk lead to one file.
  func check(_ file: LocalPath?, of flag: String) throws(Failure) {
    guard let file, let named = FileAtPath(at: file), stored[named] != nil else { return }
    throw Failure(
      .inputOutput,
      "The file \"\(file)\" has got a response, which \(flag) does not replace: choose another name for \(flag)."
    )
  }

  /// How all requests ended: the exit code is the worst of all, and the verdict is used if none has failed.
  var ending: ResultReport.Ending {
    guard count > 1 else { return last }
    return ResultReport.Ending(
      failure: worst.map { Failure($0, "") },
      verdict:
        "The server accepted \(ended == count ? "all" : "\(ended) of") \(counted(count, "request", "requests"))."
    )
  }
}
