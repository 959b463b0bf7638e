import FormStreamMultipart
import FormStreamHTTP

/// What the requests of one command share: the session that sends them, and what is printed.
struct SeriesPlan {
  let session: TransferSession.Configuration
  /// Where the cookies go at the end; nil if they are not written.
  let cookieJar: LocalPath?
  let printing: PlannedPrinting
  /// Whether the directories of files for responses are made, if they don't exist.
  let makesDirectories: Bool
  /// Messages that are printed before the work starts.
  let notes: [String]
  let progress: ProgressMode

  var isQuiet: Bool { printing.isQuiet }
}

extension SeriesPlan {
  init(
    _ request: RequestArguments, _ downloading: DownloadArguments,
    in session: TransferSession.Configuration, printing: PlannedPrinting,
    progress: ProgressMode, notes: [String]
  ) {
    self.init(
      session: session, cookieJar: request.cookieJar?.path, printing: printing,
      makesDirectories: downloading.makesDirectories, notes: notes, progress: progress)
  }
}
