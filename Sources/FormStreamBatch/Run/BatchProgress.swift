package import FormStreamHTTP
import FormStreamMultipart

/// The progress of a batch at a moment. Only the bytes of files are counted, not the other bytes of the forms.
public struct BatchProgress: Sendable {
  /// A request that is on its way.
  package struct Request: Sendable {
    /// A number that no other request has.
    package var id: Int
    /// The path of the request's file, or of its first file.
    package var path: String
    package var phase: TransferProgress.Phase
    /// How many bytes there are; nil if the server has not said it.
    package var size: Int64?
    package var handed: Int64

    package init(
      id: Int, path: String, phase: TransferProgress.Phase = .sending, size: Int64?, handed: Int64
    ) {
      (self.id, self.path, self.phase) = (id, path, phase)
      (self.size, self.handed) = (size, handed)
    }
  }

  /// What a batch is doing.
  public enum Stage: String, Sendable {
    /// Files are listed and compared with those of earlier rounds, or their URLs are compared, before any of them is sent.
    case comparing
    /// Files are sent.
    case sending
    /// The server is overloaded, and fewer requests are sent.
    case slowed
    /// No more files are started.
    case stopping
    /// The run has ended.
    case done
  }

  /// Whether files are received, and not sent: then all numbers of bytes are those of received bytes.
  package var isDownload = false
  /// What the run is doing.
  public package(set) var stage = Stage.sending
  /// What is done with files while the stage is ``Stage/comparing``.
  package private(set) var preparation = BatchPreparation.comparingURLs
  /// How many requests there may be at the same time.
  public package(set) var concurrency = 0
  /// How many files are listed so far.
  public package(set) var listed = 0
  /// Whether all files are listed.
  public package(set) var isListed = false
  /// How many files are done, with any outcome.
  public package(set) var done = 0
  /// How many of the files that are done were not sent because of an earlier run.
  public package(set) var skipped = 0
  /// How many of the files that are done have an outcome other than `ok` and `skipped`.
  public package(set) var failed = 0
  package var requests: [Request] = []
  /// How many bytes of files were read.
  public package(set) var read: Int64 = 0
  /// How many bytes of files were handed over to the kernel.
  public package(set) var handed: Int64 = 0
  /// How many of the bytes handed over were acknowledged, as far as that is known.
  public package(set) var acknowledged: Int64 = 0
  /// The size of all files that are sent, in bytes; nil while files are still being listed.
  public package(set) var total: Int64?
  /// How many bytes of the listed files are not handed over yet. Files that are done don't count.
  public package(set) var left: Int64 = 0

  package init() {}

  /// A snapshot before any file is sent.
  ///
  /// - Parameters:
  ///   - preparation: what is done with files.
  ///   - count: with how many files it was done.
  package init(_ preparation: BatchPreparation, of count: Int) {
    stage = .comparing
    self.preparation = preparation
    listed = count
  }
}

extension BatchProgress {
  /// - Parameter isDone: whether the run has ended.
  package init(_ run: BatchRun, isDone: Bool = false) {
    self.init()
    // The totals are read before the requests. A request that ends in between is then missing from both, but is never
    // counted twice.
    let totals = run.totals
    let inFlight = run.inFlight
    let earlier = totals.acceptedBytes.addingClamped(totals.unacceptedSentBytes)
    (read, handed, acknowledged) = (earlier, earlier, totals.acceptedBytes)
    for request in inFlight {
      let progress = request.task.progress.current
      let counts = FileCounts(request, total: progress.total)
      let sent = counts.files(progress.handedOver)
      requests.append(
        Request(
          id: request.task.id, path: request.path.description, phase: progress.phase,
          size: request.size, handed: sent - request.sentBefore))
      handed = handed.addingClamped(sent)
      read = read.addingClamped(counts.files(progress.read))
      acknowledged = acknowledged.addingClamped(counts.files(progress.acknowledged ?? 0))
    }
    stage = isDone ? .done : run.isStopped ? .stopping : run.isSlowed ? .slowed : .sending
    concurrency = run.concurrency
    (listed, isListed) = (totals.listed, totals.isListed)
    (done, skipped) = (totals.finished, totals[.skipped])
    failed = done - skipped - totals[.ok]
    let known = totals.listedBytes - totals.skippedBytes
    total = isListed ? known : nil
    // A manifest may state any size. The difference of two numbers that are not negative can't overflow.
    left = max(
      0, max(0, known - totals.unacceptedBytes) - (handed - totals.unacceptedSentBytes))
  }
}

/// Counts how many bytes of a request's body are bytes of files.
private struct FileCounts {
  private let request: BatchRun.InFlight
  /// How many bytes of the body belong to no file. They are counted as if they came first, so that the number of bytes
  /// of files is never too high.
  private let rest: Int64

  init(_ request: BatchRun.InFlight, total: Int64?) {
    self.request = request
    rest = max(0, (total ?? 0) - request.size)
  }

  /// The number of bytes of files, including the bytes that earlier requests have sent.
  ///
  /// - Parameter count: how many bytes of the body were sent.
  func files(_ count: Int64) -> Int64 {
    request.sentBefore + min(request.size, max(0, count - rest))
  }
}
