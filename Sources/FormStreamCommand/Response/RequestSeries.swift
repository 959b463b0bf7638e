import FormStreamBatch
import FormStreamPlatform
import FormStreamMultipart

/// How several requests of a command end, one after another.
struct RequestSeries {
  /// How many requests the command has; nil if only the end of a list shows it.
  private let count: Int?
  private let printing: PlannedPrinting
  private var last = ResultReport.Ending(failure: nil, verdict: "Nothing was requested.")
  private var worst: ExitCode?
  private var ended = 0
  /// The paths of the files that have got a response, by the identity of the file on the disk. Before the first
  /// request, nothing may show that two names will belong to one file.
  ///
  /// There are at most ``maximumStored``, because a command with a list may have any number of requests; ``storedLater`` has the rest.
  private var stored: [FileAtPath: LocalPath] = [:]
  private static let maximumStored = 10_000
  private let storedLater = SeenKeys(in: LocalPath(bytes: temporaryDirectory))

  init(count: Int?, _ printing: PlannedPrinting) {
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
    let ending: ResultReport.Ending
    do throws(Failure) {
      try check(file)
      ending = try request()
    } catch {
      ending = ResultReport.Ending(error)
    }
    note(ending, storedIn: file)
  }

  /// Fails if the file of a request is one that has got a response.
  func check(_ file: LocalPath?) throws(Failure) {
    // The earlier path is checked again: if another program has replaced the earlier file, a different file may have
    // its inode.
    guard let file, let named = FileAtPath(at: file) else { return }
    if let earlier = stored[named],
      FileAtPath(at: earlier) == named
    {
      throw .usage(
        "The file \"\(file)\" is \"\(earlier)\", which has got the response to an earlier request of this command: choose another name for one of them."
      )
    }
    if try convertingErrors({ () throws(BatchError) in try storedLater.contains(named.key) }) {
      throw .usage(
        "The file \"\(file)\" has got the response to an earlier request of this command: choose another name for one of them.")
    }
  }

  /// Notes how a request has ended, and prints the note about its end, or its failure.
  mutating func note(_ ending: ResultReport.Ending, storedIn file: LocalPath?) {
    last = ending
    if let file = last.file ?? file, last.failure == nil, !last.isSkipped, !isOutputFile(file), let named = FileAtPath(at: file)
    {
      if stored.count < Self.maximumStored || stored[named] != nil {
        stored[named] = file
      } else {
        do throws(Failure) {
          _ = try convertingErrors { () throws(BatchError) in try storedLater.insert(named.key) }
        } catch {
          last.add(error)
        }
      }
    }
    ended += 1
    if let note = last.note { StandardError.note(note) }
    if count != 1, !printing.hidesFailures, let message = last.failure?.message {
      StandardError.note(message)
    }
    worst = ExitCode.worst(of: [worst, last.failure?.exit].compactMap(\.self))
  }

  /// Fails if a file that is written at the end has got a response. The plan could not detect this, because the server
  /// chose the name, or links on the disk lead to one file.
  func check(_ file: LocalPath?, of flag: String) throws(Failure) {
    guard let file, let named = FileAtPath(at: file) else { return }
    let isLater = try convertingErrors { () throws(BatchError) in try storedLater.contains(named.key) }
    guard isLater || stored[named] != nil else { return }
    throw Failure(
      .inputOutput,
      "The file \"\(file)\" has got a response, which \(flag) does not replace: choose another name for \(flag)."
    )
  }

  /// How all requests ended: the exit code is the worst of all, and the verdict is used if none has failed.
  var ending: ResultReport.Ending {
    guard count != 1 else { return last }
    let count = count ?? ended
    return ResultReport.Ending(
      failure: worst.map { Failure($0, "") },
      verdict:
        "The server accepted \(ended == count ? "all" : "\(ended) of") \(counted(count, "request", "requests"))."
    )
  }
}
