import FormStreamBatch
import FormStreamPlatform
import FormStreamJSON
import FormStreamHTTP

/// The progress of a batch, as it is shown.
struct BatchView: ProgressView {
  /// How many requests in progress have a line on a terminal, at most.
  private static let maximumLines = 4

  let progress: BatchProgress
  /// Bytes a second; nil if it is too early for a rate.
  let rate: Double?
  let left: Duration?
  /// The requests that have been in progress for long enough that people can read their lines.
  let shownRequests: [BatchProgress.Request]

  /// How many files have ended, and how many there are.
  private var files: String {
    if progress.stage == .comparing {
      let count = counted(progress.listed, "file", "files")
      return switch progress.preparation {
      case .reading, .summingUp: "\(count) of earlier rounds"
      // Files that are gone are compared, too.
      case .comparing(let all): "\(progress.listed) of about \(counted(all, "file", "files"))"
      case .listing, .comparingURLs: count
      }
    }
    // "0 of 0+" says nothing.
    if progress.listed == 0, !progress.isListed { return "0 files" }
    return "\(progress.done) of \(progress.listed)\(progress.isListed ? "" : "+") files"
  }

  /// What is done with files before any of them is sent.
  private var preparation: String {
    switch progress.preparation {
    case .reading: "reading"
    case .summingUp: "summing up"
    case .listing: "listing"
    case .comparing: "comparing"
    case .comparingURLs: "comparing their URLs"
    }
  }

  private var isListing: Bool {
    !progress.isListed && [.sending, .slowed].contains(progress.stage)
  }

  private var errors: String? {
    progress.failed > 0 ? "\(progress.failed) with errors" : nil
  }

  // MARK: On a terminal

  func status(_ size: TerminalSize, isColored: Bool) -> [String] {
    let requests = shownRequests.prefix(max(min(Self.maximumLines, size.rows - 2), 0))
    // The end of a path says more than its start.
    let limit = ProgressLine.labelWidth(columns: size.columns - 2)
    let names = requests.map { visible(endOf: $0.path, upTo: limit) }
    let width = names.map { columns(of: $0) }.max() ?? 0
    return [pieces.fitting(size.columns - 1).line]
      + zip(requests, names).map { request, name in
        let padding = String(repeating: " ", count: width - columns(of: name))
        return "  "
          + ProgressLine.line(
            ShownProgress(
              phase: request.phase, item: .init(name: name + padding), isDownload: progress.isDownload,
              handed: request.handed,
              total: request.size), columns: size.columns - 2, isColored: isColored,
            keepsName: true)
      }
  }

  private var pieces: [LinePiece] {
    var pieces = [LinePiece(text: files, rank: 10)]
    switch progress.stage {
    case .slowed:
      pieces.append(LinePiece(text: "server overloaded", rank: 9))
      pieces.append(LinePiece(text: ", slowed down", rank: 4, gap: 0))
    case .stopping: pieces.append(LinePiece(text: "stopping", rank: 9))
    case .comparing: return pieces + [LinePiece(text: "\(preparation)…", rank: 9)]
    case .sending, .done: break
    }
    if isListing { pieces.append(LinePiece(text: "listing…", rank: 8)) }
    if let errors { pieces.append(LinePiece(text: errors, rank: 7)) }
    pieces.append(.number(HumanReadable.size(progress.handed), width: 8, rank: 5))
    if let total = progress.total, progress.handed < total {
      pieces.append(LinePiece(text: "of \(HumanReadable.size(total))", rank: 2, gap: 1))
    }
    if let rate { pieces.append(.number(HumanReadable.rate(rate), width: 10, rank: 3)) }
    if let left { pieces.append(LinePiece(text: "\(HumanReadable.time(left)) left", rank: 6)) }
    if progress.concurrency > 1 {
      pieces.append(LinePiece(text: "\(progress.concurrency) at a time", rank: 1))
    }
    return pieces
  }

  // MARK: In a log

  var heartbeat: String {
    if progress.stage == .comparing { return "\(files), \(preparation)" }
    let whole = ShownProgress(
      phase: .sending, isDownload: progress.isDownload, handed: progress.handed, total: progress.total,
      rate: rate)
    let state: String? =
      switch progress.stage {
      case .slowed: "the server is overloaded"
      case .stopping: "stopping"
      case .comparing, .sending, .done: nil
      }
    let words = [
      files, isListing ? "listing" : nil, errors, whole.sent, state,
      rate.map(HumanReadable.rate), left.map { "\(HumanReadable.time($0)) left" },
    ]
    return words.compactMap(\.self).joined(separator: ", ")
  }

  var record: JSONValue {
    let (isDownload, bytes, total) = (progress.isDownload, progress.handed, progress.total)
    return progressRecord(
      phase: isDownload && progress.stage == .sending
        ? TransferProgress.Phase.receiving.rawValue : progress.stage.rawValue, read: progress.read,
      handed: isDownload ? 0 : bytes,
      acknowledged: isDownload ? nil : progress.acknowledged, total: isDownload ? nil : total,
      received: isDownload ? bytes : 0, responseTotal: isDownload ? total : nil,
      parts: progress.requests.prefix(ProgressDisplay.maximumParts).map {
        ($0.path, $0.handed, $0.size)
      },
      filesDone: progress.done, filesTotal: progress.isListed ? progress.listed : nil,
      rate: rate, left: left)
  }
}
